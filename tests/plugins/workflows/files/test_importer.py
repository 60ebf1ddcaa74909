"""Files become the portal's own items, once, and what they refer to is looked for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

import pytest

from plugins.workflows.files.exporter import export
from plugins.workflows.files.importer import Report, import_paths
from plugins.workflows.ids import portal_id
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL, TargetType, Visibility, Workflow
from plugins.workflows.playbook import Playbook
from tests.gateway.scrubbing.fakes import made
from tests.plugins.workflows.conftest import prompt, skill, stage, workflow
from tests.plugins.workflows.files.desk import OPERATOR, write

pytestmark = pytest.mark.one_database

TOKEN = made("ghp_{alnum:36}", Random(41))
PROMPT, SKILL, WORKFLOW = TargetType.MINI_PROMPT, TargetType.SKILL, TargetType.WORKFLOW


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A small playbook on disk."""
    book = tmp_path / "book"
    write(book, "prompts/look.md", "---\nname: Look\n---\nLook around.")
    write(book, "skills/card.md", "---\nname: Card\nauthor: Ann\n---\nKnow it.")
    write(book, "skills/card/list.csv", "a,b")
    garden = """
        name: Garden
        author: Ben
        tags: [green]
        stages:
          - name: First
            order: [card, multi-agent-chat, look]
            items:
              - prompt: look
                extra: {minutes: 5}
              - skill: card
    """
    write(book, "workflows/garden.yaml", garden)
    return book


async def got(playbook: Playbook, key: str = "garden") -> Workflow:
    return await playbook.workflow(portal_id(WORKFLOW, key), None)


def reasons(report: Report) -> list[str]:
    return [f"{Path(each.path).name}:{each.line}: {each.reason}" for each in report.dangling]


async def test_files_become_the_portals_own_items(playbook: Playbook, book: Path) -> None:
    report = await import_paths(playbook, OPERATOR, [book])
    assert report.added == ["prompts/look", "skills/card", "workflows/garden"]
    assert report.problems == report.dangling == []
    garden = await got(playbook)
    assert (garden.owner, garden.author, garden.visibility) == (PORTAL, "Ben", Visibility.PUBLIC)
    assert (garden.key, garden.tags) == ("garden", ("green",))
    [first] = garden.stages
    look, card = first.items
    assert (look.item.name, look.item.author, look.extra) == ("Look", None, {"minutes": 5})
    assert (card.item.name, card.item.author) == ("Card", "Ann")
    assert first.item_order == (card.item.id, "multi-agent-chat", look.item.id)
    attachment, data = await playbook.attachment(card.item.id, "list.csv", None)
    assert (attachment.mime_type, data) == ("text/csv", b"a,b")


async def test_a_second_import_changes_only_what_has_changed(
    playbook: Playbook, book: Path
) -> None:
    await import_paths(playbook, OPERATOR, [book])
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.added, report.updated, len(report.unchanged)) == ([], [], 3)
    assert (await got(playbook)).version == 1
    write(book, "skills/card/list.csv", "a,c")
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.updated, len(report.unchanged)) == (["skills/card"], 2)
    assert (await got(playbook)).version == 2


async def test_another_author_is_a_change(playbook: Playbook, book: Path) -> None:
    await import_paths(playbook, OPERATOR, [book])
    write(book, "prompts/look.md", "---\nname: Look\nauthor: Eve\n---\nLook around.")
    card = book / "skills/card.md"
    card.write_text(card.read_text("utf-8").replace("Ann", "Eve"), "utf-8")
    garden = book / "workflows/garden.yaml"
    garden.write_text(garden.read_text("utf-8").replace("Ben", "Eve"), "utf-8")
    report = await import_paths(playbook, OPERATOR, [book])
    assert report.updated == ["prompts/look", "skills/card", "workflows/garden"]
    found = await got(playbook)
    items = found.stages[0].items
    assert {found.author, *(each.item.author for each in items)} == {"Eve"}


async def test_what_was_deleted_comes_back_with_its_id(playbook: Playbook, book: Path) -> None:
    await import_paths(playbook, OPERATOR, [book])
    before = await got(playbook)
    await playbook.delete_workflow(OPERATOR, before.id, before.version)
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.added, len(report.unchanged)) == (["workflows/garden"], 2)
    after = await got(playbook)
    assert (after.id, after.stages[0].name) == (before.id, "First")
    assert after.version > before.version


async def test_a_file_brings_what_it_refers_to_and_nothing_else(
    playbook: Playbook, book: Path
) -> None:
    write(book, "prompts/other.md", "Not asked for.")
    report = await import_paths(playbook, OPERATOR, [book / "workflows/garden.yaml"])
    assert report.added == ["prompts/look", "skills/card", "workflows/garden"]
    report = await import_paths(playbook, OPERATOR, [book / "prompts/other.md", book])
    assert (report.added, len(report.unchanged)) == (["prompts/other"], 3)


async def test_what_cannot_be_read_keeps_nothing_else_out(playbook: Playbook, book: Path) -> None:
    write(book, "workflows/broken.yaml", "name: [")
    write(book, "prompts/bad.md", "---\nname: x\n")
    report = await import_paths(playbook, OPERATOR, [book])
    assert len(report.added) == 3
    assert [Path(each.path).name for each in report.problems] == ["bad.md", "broken.yaml"]


async def test_what_the_playbook_refuses_is_a_problem_of_its_file(
    playbook: Playbook, book: Path
) -> None:
    write(book, "skills/card.md", "---\nvisibility: PRIVATE\n---\nKnow it.")
    report = await import_paths(playbook, OPERATOR, [book])
    assert report.added == ["prompts/look", "skills/card"]
    [problem] = report.problems
    assert (Path(problem.path).name, "Publish first" in problem.reason) == ("garden.yaml", True)


async def test_a_step_that_is_not_there_is_named_and_kept_until_it_is(
    playbook: Playbook, book: Path
) -> None:
    (book / "prompts/look.md").unlink()
    (book / "skills/card.md").rename(book.parent / "card.md")
    shutil.rmtree(book / "skills")
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.added, report.problems) == (["workflows/garden"], [])
    assert reasons(report) == [
        "garden.yaml:8: there is no prompt 'look'; the step is kept, unseen",
        "garden.yaml:10: there is no skill 'card'; the step is kept, unseen",
        "garden.yaml:6: the order names 'card', which is no item of this stage that is there",
        "garden.yaml:6: the order names 'look', which is no item of this stage that is there",
    ]
    [first] = (await got(playbook)).stages
    assert first.items == ()
    assert first.extra["unresolved"] == [
        {"prompt": "look", "extra": {"minutes": 5}, "at": 0},
        {"skill": "card", "at": 1},
    ]
    write(book, "prompts/look.md", "Look.")
    report = await import_paths(playbook, OPERATOR, [book])
    assert (report.added, report.updated) == (["prompts/look"], ["workflows/garden"])
    [first] = (await got(playbook)).stages
    assert [(each.item.key, each.extra) for each in first.items] == [("look", {"minutes": 5})]
    assert first.item_order == ("card", "multi-agent-chat", portal_id(PROMPT, "look"))
    assert first.extra == {"unresolved": [{"skill": "card", "at": 1}]}


async def test_a_step_may_name_what_the_portal_has_already(playbook: Playbook, book: Path) -> None:
    await import_paths(playbook, OPERATOR, [book])
    alone = write(book.parent / "alone", "workflows/second.yaml", "name: Second\n")
    alone.write_text("name: Second\nstages:\n- name: s\n  items:\n  - prompt: look\n", "utf-8")
    report = await import_paths(playbook, OPERATOR, [alone])
    assert (report.added, report.dangling) == (["workflows/second"], [])
    [item] = (await got(playbook, "second")).stages[0].items
    assert item.item.id == portal_id(PROMPT, "look")


async def test_a_step_may_name_a_members_published_item_by_its_id(
    playbook: Playbook, book: Path, alice: Writer
) -> None:
    theirs = await playbook.add_skill(alice, skill("Hers", visibility=Visibility.PUBLIC))
    hidden = await playbook.add_skill(alice, skill("Hidden"))
    items = "".join(f"  - skill: {{id: {each.id}}}\n" for each in (theirs, hidden))
    write(book, "workflows/w.yaml", f"name: W\nstages:\n- name: s\n  items:\n{items}")
    report = await import_paths(playbook, OPERATOR, [book / "workflows/w.yaml"])
    assert reasons(report) == [
        f"w.yaml:6: there is no skill {hidden.id!r}; the step is kept, unseen"
    ]
    [item] = (await got(playbook, "w")).stages[0].items
    assert (item.item.id, item.item.owner) == (theirs.id, alice.person)


async def test_a_members_items_of_the_same_key_are_left_alone(
    playbook: Playbook, book: Path, alice: Writer
) -> None:
    hers = await playbook.add_workflow(
        alice, workflow(stage(prompt("Hers")), name="Garden", key="garden")
    )
    await import_paths(playbook, OPERATOR, [book])
    assert (await playbook.workflow(hers.id, alice.person)).stages[0].items[0].item.name == "Hers"
    assert (await got(playbook)).id != hers.id


async def test_prompts_of_a_private_workflow_are_as_hidden_as_it_is(
    playbook: Playbook, book: Path
) -> None:
    private = """
        name: Private
        visibility: PRIVATE
        stages:
          - name: s
            order: [own, private-inner]
            items:
              - prompt: {name: Inner, content: x}
              - prompt: own
              - prompt: shared
    """
    write(book, "workflows/private.yaml", private)
    write(book, "prompts/own.md", "---\nvisibility: PRIVATE\n---\nx")
    write(book, "prompts/shared.md", "---\nvisibility: PRIVATE\n---\nx")
    write(book, "prompts/unused.md", "---\nvisibility: PRIVATE\n---\nx")
    write(
        book, "workflows/public.yaml", "name: P\nstages:\n- name: s\n  items: [{prompt: shared}]\n"
    )
    report = await import_paths(playbook, OPERATOR, [book])
    assert report.problems == []
    assert reasons(report) == [
        "unused.md:1: it is PRIVATE, and in no workflow here; it was left out"
    ]
    found = await playbook.workflow(portal_id(WORKFLOW, "private"), PORTAL)
    [first] = found.stages
    assert [(each.item.key, str(each.item.visibility)) for each in first.items] == [
        ("private-inner", "PRIVATE"),
        ("own", "PRIVATE"),
        ("shared", "PUBLIC"),
    ]
    assert first.item_order == (portal_id(PROMPT, "own"), portal_id(PROMPT, "private-inner"))
    again = await import_paths(playbook, OPERATOR, [book])
    assert (again.added, again.updated) == ([], [])


async def test_a_prompt_and_a_card_of_one_key_are_told_apart(
    playbook: Playbook, book: Path
) -> None:
    write(book, "prompts/card.md", "x")
    both = "items: [{prompt: card}, {skill: card}]\n  order: [skills/card, prompts/card]\n"
    write(book, "workflows/both.yaml", f"name: B\nstages:\n- name: s\n  {both}")
    report = await import_paths(playbook, OPERATOR, [book])
    assert report.dangling == []
    [first] = (await got(playbook, "both")).stages
    assert first.item_order == (portal_id(SKILL, "card"), portal_id(PROMPT, "card"))


async def test_progress_is_told_for_every_item(playbook: Playbook, book: Path) -> None:
    told: list[tuple[int, int]] = []
    await import_paths(playbook, OPERATOR, [book], lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


async def test_no_secret_of_a_file_is_taken_in_and_each_is_named(
    playbook: Playbook, book: Path
) -> None:
    write(book, "prompts/look.md", f"---\nname: Look at {TOKEN}\n---\nUse {TOKEN}.")
    write(book, "skills/card.md", f"---\nname: Card\ndescription: {TOKEN}\n---\nThe {TOKEN}")
    write(book, "skills/card/list.csv", f"a,{TOKEN}")
    write(book, "workflows/one.yaml", f"name: One {TOKEN}\ndescription: {TOKEN}\ntags: [{TOKEN}]\n")
    write(book, "workflows/two.json", json.dumps({"name": "Two", "description": f"the {TOKEN}"}))
    report = await import_paths(playbook, OPERATOR, [book])
    assert report.problems == []
    kind = "GitHub personal access token (classic): taken out; have it replaced"
    named = {(Path(each.path).name, each.line, each.reason) for each in report.taken_out}
    places = {("look.md", 2), ("look.md", 4), ("card.md", 3), ("card.md", 5), ("list.csv", 1)}
    places |= {("one.yaml", 1), ("one.yaml", 2), ("one.yaml", 3), ("two.json", 1)}
    assert named == {(*place, kind) for place in places}
    assert (await got(playbook, "one")).name == "One REDACTED"
    done = await export(playbook, book.parent / "out", PORTAL)
    texts = {each: (book.parent / "out" / each).read_text() for each in done.written}
    assert {"prompts/look.md", "skills/card/list.csv", "workflows/one.yaml"} <= texts.keys()
    assert not [each for each, text in texts.items() if TOKEN in text]
    again = await import_paths(playbook, OPERATOR, [book])
    assert (again.added, again.updated) == ([], [])
