"""An import that was killed is finished by another one, with the rows of one clean import."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import event

from gateway.services.database.service import OwnedDatabase
from gateway.services.objects import open_objects
from plugins.workflows.files.exporter import export
from plugins.workflows.files.importer import import_paths
from plugins.workflows.files.starter import STARTER
from plugins.workflows.model import PORTAL
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.embedding import make_embed
from tests.examples import times
from tests.plugins.workflows.conftest import MIGRATIONS
from tests.plugins.workflows.files.desk import OPERATOR, rows, tree, write

MOMENTS = times(thorough=8, ordinary=3)


# A process that is killed holds no locks of SQLite's, and PostgreSQL rolls back for it.
pytestmark = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


async def killed(data: Path, directory: Path, statement: int) -> None:
    """Import until the statement, in a process that dies there."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("crash.py")),
        str(data),
        str(directory),
        str(statement),
        env={"PYTHONPATH": str(Path(__file__).parents[4])},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said = await process.communicate()
    assert process.returncode == -signal.SIGKILL, said


@pytest.mark.heavy
@pytest.mark.timeout(900)
async def test_the_rows_are_those_of_one_clean_import(
    open_another: Callable[[], OwnedDatabase],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("kills", MOMENTS)
    old, new = tmp_path / "old", Path(shutil.copytree(STARTER, tmp_path / "new"))
    older = "name: Code review\nstages:\n- name: Understand\n  items: [{prompt: look}]\n"
    write(old, "workflows/code-review.yaml", older)
    write(old, "prompts/look.md", "Look.")
    write(old, "prompts/understand-the-change.md", "Other words.")
    write(new, "workflows/lost.yaml", "name: L\nstages: [{name: A, items: [{prompt: gone}]}]\n")
    database = open_another()
    await database.migrate(MIGRATIONS)
    objects = open_objects("embedded", tmp_path).scoped("workflows")
    playbook = Playbook(database, objects, make_embed(None), lambda: datetime.now(UTC))
    await import_paths(playbook, OPERATOR, [old])
    await database.engine.dispose()

    statements = 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1

    before = Path(shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}-before"))
    event.listen(database.engine.sync_engine, "before_cursor_execute", count)
    event.listen(database.engine.sync_engine, "commit", count)
    await import_paths(playbook, OPERATOR, [new])
    total = statements
    assert total > 300
    clean = await rows(database)
    await export(playbook, tmp_path / "clean", PORTAL)

    for moment in sorted(random.sample(range(10, total), MOMENTS)):
        data = Path(shutil.copytree(before, tmp_path / f"killed-{moment}"))
        await killed(data, new, moment)
        again = await _finished(data, new)
        assert again == clean, f"killed at statement {moment} of {total}"


async def _finished(data: Path, directory: Path) -> dict[str, list[str]]:
    """The rows after another import, by this process."""
    from gateway.services.database.service import open_database

    service = open_database("sqlite", data)
    database = service.for_owner("workflows")
    objects = open_objects("embedded", data).scoped("workflows")
    playbook = Playbook(database, objects, make_embed(None), lambda: datetime.now(UTC))
    report = await import_paths(playbook, OPERATOR, [directory])
    assert report.problems == []
    found = await rows(database)
    await export(playbook, data / "out", PORTAL)
    assert tree(data / "out") == tree(data.parent / "clean")
    await service.close()
    return found
