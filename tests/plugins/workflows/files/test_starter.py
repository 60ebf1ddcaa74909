"""What Porch brings is there when the plugin opens, and what an operator wants stays theirs."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.contract import Objects, ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.files.exporter import export
from plugins.workflows.files.importer import check_paths, import_paths
from plugins.workflows.files.reader import read
from plugins.workflows.files.starter import NOTE_NAME, STARTER, import_starter
from plugins.workflows.ids import portal_id
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL, AutoPrompt, TargetType
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.search import Search
from plugins.workflows.store.notes import Notes
from plugins.workflows.store.queries import Filters
from tests.plugins.workflows.conftest import Clock, embed_nothing, workflow
from tests.plugins.workflows.files.desk import OPERATOR, emptied, rows, tree, write

pytestmark = pytest.mark.one_database

WORKFLOW, SKILL = TargetType.WORKFLOW, TargetType.SKILL


@pytest.fixture
def notes(database: OwnedDatabase) -> Notes:
    return Notes(database)


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    """A copy, to be changed as a newer Porch would."""
    return Path(shutil.copytree(STARTER, tmp_path / "starter"))


async def listed(playbook: Playbook, type_: TargetType = WORKFLOW) -> list[str]:
    return [each.key for each in await playbook.page(type_, None, None, 100)]


async def name_of(playbook: Playbook, key: str) -> str:
    return (await playbook.workflow(portal_id(WORKFLOW, key), None)).name


async def test_it_holds_the_automatic_prompts_and_workflows_with_cards() -> None:
    report = await check_paths([STARTER])
    assert (report.problems, report.dangling) == ([], [])
    written = read([STARTER])
    assert len(written.workflows) == 6
    assert len(written.skills) == 3
    automatic = {each.draft.automatic for each in written.prompts.values()}
    assert automatic == {None, *AutoPrompt}
    used = {s.key for w in written.workflows.values() for stage in w.stages for s in stage.steps}
    assert used | {each.value for each in AutoPrompt} == {*written.prompts, *written.skills}
    for draft in (each.draft for each in written.workflows.values()):
        assert draft.description
        assert draft.tags
        assert draft.complexity


async def test_its_files_are_what_an_export_of_them_writes(
    playbook: Playbook, notes: Notes, tmp_path: Path
) -> None:
    assert await import_starter(playbook, notes)
    await export(playbook, tmp_path / "out", PORTAL)
    assert tree(tmp_path / "out") == tree(STARTER)


@pytest.mark.parametrize(
    ("task", "key"),
    [
        ("code review workflow", "code-review"),
        ("fix a bug", "fix-a-bug"),
        ("plan a new feature", "build-a-feature"),
        ("write a blog article", "write-an-article"),
        ("community meeting", "community-meeting"),
        ("onboard a new member", "onboard-a-member"),
    ],
)
async def test_what_one_asks_for_is_found_first(
    playbook: Playbook, notes: Notes, database: OwnedDatabase, task: str, key: str
) -> None:
    await import_starter(playbook, notes)
    found = await Search(database, playbook, None).workflows(task, None, Filters(), 5)
    assert found.hits[0].summary.key == key


async def test_a_second_opening_asks_one_thing_and_writes_nothing(
    playbook: Playbook, notes: Notes, database: OwnedDatabase
) -> None:
    assert await import_starter(playbook, notes)
    before = await rows(database)
    assert not await import_starter(playbook, notes)
    assert await rows(database) == before
    nothing: Playbook = None  # type: ignore[assignment]  # not even read
    assert not await import_starter(nothing, notes)


async def test_a_newer_porch_brings_changes_and_takes_away_what_it_no_longer_brings(
    playbook: Playbook, notes: Notes, starter: Path
) -> None:
    await import_starter(playbook, notes, directory=starter)
    path = starter / "workflows/fix-a-bug.yaml"
    path.write_text(path.read_text("utf-8").replace("name: Fix a bug", "name: Mend a bug"), "utf-8")
    (starter / "workflows/write-an-article.yaml").unlink()
    (starter / "skills/plain-english.md").unlink()
    assert await import_starter(playbook, notes, directory=starter)
    assert await name_of(playbook, "fix-a-bug") == "Mend a bug"
    assert "write-an-article" not in await listed(playbook)
    assert await listed(playbook, SKILL) == ["code-review-checklist", "decide-by-consent"]
    assert not await import_starter(playbook, notes, directory=starter)


async def test_what_an_operator_changed_is_left_as_they_want_it(
    playbook: Playbook, notes: Notes, starter: Path, tmp_path: Path
) -> None:
    await import_starter(playbook, notes, directory=starter)
    write(tmp_path / "own", "workflows/fix-a-bug.yaml", "name: Our way\n")
    write(tmp_path / "own", "workflows/onboard-a-member.yaml", "name: Our welcome\n")
    write(tmp_path / "own", "prompts/memory-board.md", "---\nautomatic: memory-board\n---\nOurs.")
    await import_paths(playbook, OPERATOR, [tmp_path / "own"])
    for path in (starter / "workflows").iterdir():
        path.write_text(path.read_text("utf-8").replace("name: ", "name: New ", 1), "utf-8")
    (starter / "workflows/onboard-a-member.yaml").unlink()
    board = starter / "prompts/memory-board.md"
    board.write_text(board.read_text("utf-8") + "\nNew.\n", "utf-8")
    for _ in range(2):
        await import_starter(playbook, notes, directory=starter)
        assert await name_of(playbook, "fix-a-bug") == "Our way"
        assert await name_of(playbook, "onboard-a-member") == "Our welcome"
        assert await name_of(playbook, "code-review") == "New Code review"
        assert (await playbook.automatic())[AutoPrompt.MEMORY_BOARD].content == "Ours."
        write(starter, "prompts/one-more.md", "So that there is something new.")
    await import_starter(playbook, notes, wanted=False, directory=starter)
    assert sorted(await listed(playbook)) == ["fix-a-bug", "onboard-a-member"]


async def test_an_opening_that_was_cut_off_is_finished_by_the_next(
    playbook: Playbook, notes: Notes, starter: Path, database: OwnedDatabase
) -> None:
    await import_starter(playbook, notes, directory=starter)
    noted = await notes.get(NOTE_NAME)
    path = starter / "workflows/fix-a-bug.yaml"
    path.write_text(path.read_text("utf-8").replace("name: Fix a bug", "name: Mend a bug"), "utf-8")
    await import_paths(playbook, OPERATOR, [path])  # as it was written before the note of it
    assert noted == await notes.get(NOTE_NAME)
    await import_starter(playbook, notes, directory=starter)
    path.write_text(path.read_text("utf-8").replace("name: Mend", "name: Repair"), "utf-8")
    await import_starter(playbook, notes, directory=starter)
    assert await name_of(playbook, "fix-a-bug") == "Repair a bug"


async def test_without_it_the_automatic_prompts_remain_and_members_items_too(
    playbook: Playbook, notes: Notes, alice: Writer
) -> None:
    await import_starter(playbook, notes)
    await playbook.add_workflow(alice, workflow())
    assert await import_starter(playbook, notes, wanted=False)
    assert await listed(playbook) == await listed(playbook, SKILL) == []
    assert set(await playbook.automatic()) == set(AutoPrompt)
    with pytest.raises(ToolFailed, match="not found"):
        await playbook.workflow(portal_id(WORKFLOW, "code-review"), PORTAL)
    assert len(await playbook.page(WORKFLOW, alice.person, None, 9)) == 1
    assert not await import_starter(playbook, notes, wanted=False)
    assert await import_starter(playbook, notes)
    assert len(await listed(playbook)) == 6
    assert len(await listed(playbook, SKILL)) == 3


async def test_where_it_was_never_wanted_only_the_automatic_prompts_come(
    playbook: Playbook, notes: Notes
) -> None:
    assert await import_starter(playbook, notes, wanted=False)
    assert set(await playbook.automatic()) == set(AutoPrompt)
    assert len(await playbook.page(TargetType.MINI_PROMPT, PORTAL, None, 9)) == 2


async def test_replicas_that_open_at_once_bring_it_once(
    open_another: Callable[[], OwnedDatabase],
    database: OwnedDatabase,
    objects: Objects,
    clock: Clock,
    playbook: Playbook,
    notes: Notes,
) -> None:
    await import_starter(playbook, notes)
    alone = await rows(database)
    await emptied(database)
    replicas = [open_another() for _ in range(3)]
    playbooks = [Playbook(each, objects, embed_nothing, clock) for each in replicas]
    opening = (import_starter(p, Notes(d)) for p, d in zip(playbooks, replicas, strict=True))
    await asyncio.gather(*opening)
    together = await rows(database)
    for table in ("playbook_counters", "playbook_workflow_embeddings", "playbook_skill_embeddings"):
        assert len(together.pop(table)) == len(alone.pop(table))
    assert together == alone


async def test_a_starter_file_that_cannot_be_read_is_said(
    playbook: Playbook, notes: Notes, starter: Path
) -> None:
    write(starter, "workflows/broken.yaml", "name: [")
    with pytest.raises(RuntimeError, match=r"broken\.yaml:\d"):
        await import_starter(playbook, notes, directory=starter)
    assert await notes.get(NOTE_NAME) is None
