"""What is exported and imported again is the same: the rows, and the files."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.files.exporter import export
from plugins.workflows.files.importer import import_parsed, import_paths
from plugins.workflows.files.parsed import (
    ParsedPrompt,
    ParsedSkill,
    ParsedStage,
    ParsedStep,
    ParsedWorkflow,
)
from plugins.workflows.files.reader import ParsedFiles
from plugins.workflows.inputs import (
    AttachmentDraft,
    PromptDraft,
    SkillDraft,
    StageDraft,
    WorkflowDraft,
    Writer,
)
from plugins.workflows.model import PORTAL, AutoPrompt, Complexity, TargetType, Visibility
from plugins.workflows.playbook import Playbook
from tests.examples import examples
from tests.plugins.workflows.conftest import prompt, skill, stage, workflow
from tests.plugins.workflows.files.desk import (
    EXTRAS,
    KEYS,
    NAMES,
    OPERATOR,
    TEXTS,
    emptied,
    rows,
    tree,
    write,
)

pytestmark = pytest.mark.one_database

CONTENT = TEXTS.filter(bool)
AUTHORS = st.none() | NAMES
PROMPT, SKILL = TargetType.MINI_PROMPT, TargetType.SKILL
AUTOMATIC = {each.value for each in AutoPrompt}


def keys(count: int) -> st.SearchStrategy[list[str]]:
    usable = KEYS.filter(lambda key: key not in AUTOMATIC)
    return st.lists(usable, max_size=count, unique=True)


def said(draw: Any, key: str) -> dict[str, Any]:
    description = draw(st.none() | CONTENT)
    return {"key": key, "name": draw(NAMES), "description": description}


@st.composite
def books(draw: Any) -> ParsedFiles:
    """A playbook of nasty texts, some of whose steps lead nowhere."""
    book = ParsedFiles()
    for key in draw(keys(3)):
        is_hidden = draw(st.booleans())
        made = PromptDraft(**said(draw, key), content=draw(CONTENT))
        visibility = Visibility.PRIVATE if is_hidden else Visibility.PUBLIC
        author = None if is_hidden else draw(AUTHORS)
        book.prompts[key] = ParsedPrompt(f"prompts/{key}", author, made, visibility)
    for each in draw(st.sets(st.sampled_from(AutoPrompt))):
        made = PromptDraft(**said(draw, each.value), content=draw(CONTENT), automatic=each)
        book.prompts[each.value] = ParsedPrompt(each.value, draw(AUTHORS), made)
    for key in draw(keys(2)):
        book.skills[key] = ParsedSkill(f"skills/{key}", draw(AUTHORS), card(draw, key))
    for key in draw(keys(3)):
        book.workflows[key] = flow(draw, key, book)
    return book


def card(draw: Any, key: str) -> SkillDraft:
    names = draw(st.lists(NAMES.map(plain_name), max_size=2, unique_by=str.casefold))
    types = st.sampled_from(["text/plain", "text/plain; charset=x", "application/x-y"])
    files = [AttachmentDraft(each, draw(types), draw(st.binary(max_size=9))) for each in names]
    return SkillDraft(
        **said(draw, key),
        content=draw(CONTENT),
        visibility=Visibility.PUBLIC,
        tags=draw(tags()),
        attachments=tuple(files),
    )


def plain_name(name: str) -> str:
    return "f" + "".join(each for each in name[:20] if each not in "/\\").strip()


def tags() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(NAMES, max_size=3).map(tuple)


def flow(draw: Any, key: str, book: ParsedFiles) -> ParsedWorkflow:
    draft = WorkflowDraft(
        **said(draw, key),
        complexity=draw(st.none() | st.sampled_from(Complexity)),
        include_multi_agent_chat=draw(st.booleans()),
        visibility=draw(st.sampled_from(Visibility)),
        tags=draw(tags()),
        extra=draw(EXTRAS),
    )
    count = draw(st.integers(0, 3))
    stages = tuple(stage_of(draw, book) for _ in range(count))
    return ParsedWorkflow(f"workflows/{key}", draw(AUTHORS), draft, stages)


def stage_of(draw: Any, book: ParsedFiles) -> ParsedStage:
    known = [(PROMPT, key) for key in book.prompts] + [(SKILL, key) for key in book.skills]
    gone = [(PROMPT, "gone"), (SKILL, "gone"), (PROMPT, "old/path"), (PROMPT, "No key!")]
    chosen = draw(st.lists(st.sampled_from([*known, *gone]), max_size=4))
    steps = [
        ParsedStep(type_, name, None if "!" in name else name.replace("/", "-"), 1, draw(EXTRAS))
        for type_, name in chosen
    ]
    entries = [
        f"{'skills' if type_ is SKILL else 'prompts'}/{name}"
        for type_, name in chosen
        if name.isidentifier()
    ]
    entries += [*AUTOMATIC, "memory-board-2", "something else"]
    order = draw(st.none() | st.lists(st.sampled_from(entries), max_size=5))
    draft = StageDraft(
        name=draw(NAMES),
        description=draw(st.none() | CONTENT),
        color=draw(st.none() | st.sampled_from(["#fff", "red", "no"])),
        with_review=draw(st.booleans()),
        include_multi_agent_chat=draw(st.none() | st.booleans()),
        extra=draw(EXTRAS),
    )
    lines = None if order is None else tuple((each, 1) for each in order)
    return ParsedStage(draft, tuple(steps), lines)


@pytest.mark.heavy
@pytest.mark.timeout(900)
@given(book=books())
@settings(max_examples=examples(60), suppress_health_check=[*HealthCheck])
async def test_rows_and_files_come_back_exactly(
    playbook: Playbook, database: OwnedDatabase, book: ParsedFiles
) -> None:
    await emptied(database)
    report = await import_parsed(playbook, OPERATOR, book)
    assert report.problems == []
    first = await rows(database)
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder, "one"), Path(folder, "two")
        assert (await export(playbook, one, PORTAL)).refused == []
        again = await import_paths(playbook, OPERATOR, [one])
        assert (again.problems, again.added, again.updated) == ([], [], [])
        assert await rows(database) == first
        await emptied(database)
        report = await import_paths(playbook, OPERATOR, [one])
        assert report.problems == []
        assert await rows(database) == first
        await export(playbook, two, PORTAL)
        assert tree(two) == tree(one)


async def test_a_members_items_become_the_portals_with_their_words(
    playbook: Playbook, database: OwnedDatabase, alice: Writer, bob: Writer, tmp_path: Path
) -> None:
    bobs = await playbook.add_skill(bob, skill("Bob's", visibility=Visibility.PUBLIC))
    own = await playbook.add_skill(
        alice, skill("Own", attachments=(AttachmentDraft("a b.txt", "text/plain", b"x"),))
    )
    made = stage(prompt("Look"), name="One", item_order=("Look", "memory-board", own.id))
    made = StageDraft(
        name="One",
        items=(*made.items, *(item(each.id) for each in (own, bobs))),
        item_order=("Look", own.id, bobs.id),
    )
    await playbook.add_workflow(alice, workflow(made, name="Hers"))
    done = await export(playbook, tmp_path / "out", alice.person)
    first, *others = sorted(done.written)
    assert re.fullmatch(r"prompts/look-[a-z2-7]{8}\.md", first)
    assert others == [
        "skills/own.md",
        "skills/own/a b.txt",
        "workflows/hers.yaml",
    ]
    text = (tmp_path / "out/workflows/hers.yaml").read_text("utf-8")
    quoted = rf"'?{bobs.id}'?"  # YAML quotes the ids that could be numbers, as 6e41 could
    assert re.search(rf"- skill:\n          id: {quoted}\n", text)
    assert "visibility: PRIVATE\n" in text
    assert "author: Alice\n" in text
    await import_paths(playbook, OPERATOR, [tmp_path / "out"])
    await export(playbook, tmp_path / "again", PORTAL)
    assert tree(tmp_path / "again") == tree(tmp_path / "out")


def item(id_: str) -> Any:
    from plugins.workflows.inputs import Reference, StageItemDraft

    return StageItemDraft(Reference(SKILL, id_))


async def test_files_written_by_hand_take_their_canonical_form_and_keep_it(
    playbook: Playbook, database: OwnedDatabase, tmp_path: Path
) -> None:
    by_hand = """
        # A comment
        name:   Hand
        tags: b, a
        multi_agent_chat: yes
        stages: [{name: One, review: on, items: [{prompt: {name: In, content: "a\\r\\nb"}}]}]
    """
    write(tmp_path / "in", "workflows/hand.yaml", by_hand)
    await import_paths(playbook, OPERATOR, [tmp_path / "in"])
    await export(playbook, tmp_path / "one", PORTAL)
    assert (tmp_path / "one/workflows/hand.yaml").read_text("utf-8") == (
        "name: Hand\nvisibility: PUBLIC\nmulti_agent_chat: true\ntags:\n  - a\n  - b\nstages:\n"
        "  - name: One\n    review: true\n    items:\n      - prompt: hand-in\n"
    )
    assert (tmp_path / "one/prompts/hand-in.md").read_text(
        "utf-8"
    ) == "---\nname: In\n---\n\na\nb\n"
    report = await import_paths(playbook, OPERATOR, [tmp_path / "one"])
    assert (report.added, report.updated) == ([], [])
    await export(playbook, tmp_path / "two", PORTAL)
    assert tree(tmp_path / "two") == tree(tmp_path / "one")


async def test_an_edited_playbook_comes_back_too(
    playbook: Playbook, database: OwnedDatabase, tmp_path: Path
) -> None:
    write(tmp_path / "in", "prompts/p.md", "One")
    garden = write(tmp_path / "in", "workflows/w.yaml", "name: W\nstages: [{name: A}, {name: B}]\n")
    await import_paths(playbook, OPERATOR, [tmp_path / "in"])
    garden.write_text("name: V\nstages: [{name: A}, {name: C, items: [{prompt: p}]}]\n", "utf-8")
    write(tmp_path / "in", "prompts/p.md", "Two")
    await import_paths(playbook, OPERATOR, [tmp_path / "in"])
    await export(playbook, tmp_path / "out", PORTAL)
    edited = await rows(database, history=False)
    await emptied(database)
    await import_paths(playbook, OPERATOR, [tmp_path / "out"])
    assert without_stage_ids(await rows(database, history=False)) == without_stage_ids(edited)


def without_stage_ids(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """A stage that replaced another one has an id of its own."""
    stages = {"playbook_stages", "playbook_stage_mini_prompts", "playbook_stage_skills"}
    return {
        name: sorted(each.split(",", 1)[1] for each in lines) if name in stages else lines
        for name, lines in found.items()
    }
