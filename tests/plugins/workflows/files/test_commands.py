"""``porch workflows import`` and ``porch workflows export``, as commands of a real portal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from gateway.contract import CommandContext, ContentScrub
from gateway.services.database.service import open_database
from gateway.services.objects import open_objects
from plugins.workflows.commands import EXPORT, IMPORT
from plugins.workflows.config import WorkflowsConfig
from plugins.workflows.files.starter import STARTER
from tests.plugins.workflows.files.desk import tree, write


class Desk:
    """The commands over a portal's data, and what they print."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.printed: list[Any] = []

    @asynccontextmanager
    async def host(self) -> AsyncGenerator[Any]:
        """The services that the commands use."""
        service = open_database("sqlite", self.data)
        objects = open_objects("embedded", self.data).scoped("workflows")
        yield SimpleNamespace(
            database=service.for_owner("workflows"),
            objects=objects,
            embedder=None,
            log=structlog.get_logger(),
            scrub=ContentScrub("workflows"),
        )
        await service.close()

    def context(self, as_json: bool) -> CommandContext:
        self.printed.clear()
        take = self.printed.append
        return CommandContext(WorkflowsConfig(), take, take, as_json, self.host)

    async def import_(self, *paths: Path, json: bool = False, **more: bool) -> int:
        args = IMPORT.args.model_validate({"paths": paths, **more})
        return await IMPORT.run(args, self.context(json))

    async def export(self, directory: Path, json: bool = False, **more: Any) -> int:
        args = EXPORT.args.model_validate({"directory": directory, **more})
        return await EXPORT.run(args, self.context(json))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "data")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A playbook with one workflow in order, one that is broken, and one that leads nowhere."""
    book = tmp_path / "book"
    write(book, "prompts/look.md", "Look.")
    write(book, "workflows/good.yaml", "name: Good\nstages: [{name: A, items: [{prompt: look}]}]\n")
    write(book, "workflows/lost.yaml", "name: L\nstages:\n- name: A\n  items:\n  - prompt: gone\n")
    write(book, "workflows/bad.yaml", "nam: Bad\n")
    return book


async def test_the_starter_playbook_goes_in_and_comes_out(desk: Desk, tmp_path: Path) -> None:
    assert (await desk.import_(STARTER), desk.printed) == (0, ["37 added."])
    assert (await desk.import_(STARTER), desk.printed) == (0, ["37 unchanged."])
    out = tmp_path / "out"
    assert (await desk.export(out), desk.printed) == (0, [f"{out}: 38 written."])
    assert tree(out) == tree(STARTER)
    write(out, "workflows/fix-a-bug.yaml", "name: Mine\n")
    assert (await desk.export(out), desk.printed) == (
        1,
        [
            f"{out / 'workflows/fix-a-bug.yaml'}: not of an export, or changed since",
            "Nothing was written. Move these files away, or use --force.",
        ],
    )
    assert await desk.export(out, force=True) == 0
    assert desk.printed == [f"{out}: 1 written, 37 unchanged."]


async def test_problems_and_dangling_references_are_named_and_the_rest_is_imported(
    desk: Desk, book: Path
) -> None:
    assert await desk.import_(book) == 1
    assert desk.printed == [
        f"{book}/workflows/bad.yaml:1: name is missing or empty; write `name: ...`",
        f"{book}/workflows/bad.yaml:1: there is no field 'nam'; did you mean name?",
        f"{book}/workflows/lost.yaml:5: warning: there is no prompt 'gone'; the step is kept, "
        "unseen",
        "",
        "3 added, 2 problems, 1 dangling reference.",
    ]
    (book / "workflows/bad.yaml").unlink()
    assert await desk.import_(book) == 0


async def test_json_says_the_same(desk: Desk, book: Path, tmp_path: Path) -> None:
    assert await desk.import_(book, json=True) == 1
    [report] = desk.printed
    assert report["added"] == ["prompts/look", "workflows/good", "workflows/lost"]
    assert report["dangling"][0]["line"] == 5
    assert {each["line"] for each in report["problems"]} == {1}
    assert json.dumps(report)
    assert await desk.export(tmp_path / "out", json=True) == 0
    assert len(desk.printed[0]["written"]) == 3


async def test_a_check_reads_and_writes_nothing(desk: Desk, book: Path) -> None:
    assert await desk.import_(book, check=True) == 1
    assert desk.printed[-1] == "3 in order, 2 problems, 1 dangling reference."
    assert desk.printed[2].endswith(
        "lost.yaml:5: warning: there is no prompt 'gone' in these files; an import takes the "
        "portal's, if it has one"
    )
    assert not desk.data.exists()


async def test_what_is_not_there_is_said(desk: Desk, tmp_path: Path) -> None:
    assert await desk.import_(tmp_path / "none") == 1
    assert "there is no such file" in desk.printed[0]
    assert await desk.export(tmp_path / "out", owner="github:1") == 0
    assert desk.printed == ["There is nothing of github:1."]
    assert await desk.export(Path("/dev/null/x")) == 1
    assert desk.printed[0].startswith("The export cannot be written")


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_the_command_line_has_them_with_a_bar_for_many_files(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "portal.yaml").write_text("services: {embedding: none}\n", "utf-8")
    places = ["--config", str(config), "--data", str(tmp_path / "data")]
    words = [sys.executable, "-m", "gateway.cli", "workflows", "import", str(STARTER), *places]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    ) as process:
        os.close(theirs)
        shown = b"".join(iter(partial(read_from, ours), b""))
        assert process.stdout is not None
        assert process.stdout.read() == b"37 added.\n"
    os.close(ours)
    assert b"Importing" in shown
    assert b"37/37" in shown


def read_from(terminal: int) -> bytes:
    """What has come; nothing once the other end is closed."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""
