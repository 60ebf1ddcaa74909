"""A preview shows what the edit then writes, and writes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import StageDraft, Writer
from plugins.workflows.model import Visibility, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.previews import difference, preview, preview_new
from plugins.workflows.store.folders import Place
from plugins.workflows.store.tables import metadata
from plugins.workflows.store.version_contents import workflow_content
from tests.examples import examples
from tests.plugins.workflows.conftest import prompt, stage, workflow

WORDS = st.text("ab \n", min_size=1, max_size=12).filter(str.strip)
NAMES = st.text("abc", min_size=1, max_size=6)


def stages() -> st.SearchStrategy[tuple[StageDraft, ...]]:
    items = st.lists(st.builds(lambda n, c: prompt(n, content=c), NAMES, WORDS), max_size=3)
    one = st.builds(
        lambda held, name, review: stage(*held, name=name, with_review=review),
        items,
        NAMES,
        st.booleans(),
    )
    return st.lists(one, max_size=3).map(tuple)


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "description": st.one_of(st.none(), WORDS),
        "tags": st.lists(NAMES, max_size=3, unique=True).map(lambda tags: tuple(sorted(tags))),
        "include_multi_agent_chat": st.booleans(),
        "stages": stages(),
    },
)


async def dump(database: OwnedDatabase) -> str:
    lines = []
    async with database.engine.connect() as connection:
        for table in metadata.sorted_tables:
            rows = await connection.execute(text(f"SELECT * FROM {table.name}"))
            lines += sorted(f"{table.name} {tuple(row)}" for row in rows)
    return "\n".join(lines)


def shown(flow: Workflow) -> tuple[Any, ...]:
    """What a preview shows of a workflow, but for ids."""
    held = [
        (part.name, [(each.item.name, each.item.content) for each in part.items])
        for part in flow.stages
    ]
    return flow.name, flow.description, flow.tags, held, flow.version


@settings(max_examples=examples(25), suppress_health_check=[*HealthCheck])
@given(CHANGES, st.booleans())
async def test_what_was_previewed_is_what_is_saved(
    playbook: Playbook, database: OwnedDatabase, alice: Writer, changes: dict[str, Any], keep: bool
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    removed = () if keep else None
    before = await dump(database)
    seen = await preview(playbook, alice, made.id, 1, changes, removed)
    assert await dump(database) == before
    saved = await playbook.edit_workflow(alice, made.id, 1, changes, removed)
    assert shown(seen) == shown(saved)
    old = workflow_content(made)
    told = difference(old, workflow_content(seen))
    assert told == difference(old, workflow_content(saved))
    if saved.version == 1:
        assert told == ""
    assert made.id not in told, "no ids are shown"


async def test_a_preview_refuses_what_the_edit_would(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow(visibility=Visibility.PUBLIC))
    for who, version, changes, why in (
        (bob, 1, {"name": "Mine"}, "not yours"),
        (alice, 2, {"name": "Other"}, "has no version 2"),
        (alice, 1, {"name": "a\x00b"}, "name"),
        (Writer(alice.person, "Alice"), 1, {"name": "Other"}, "Publishing needs"),
    ):
        with pytest.raises(ToolFailed, match=why):
            await preview(playbook, who, made.id, version, changes, ())
    assert await playbook.workflow(made.id, alice.person) == made


async def test_a_preview_of_a_new_workflow_shows_what_is_written_then_and_writes_nothing(
    playbook: Playbook, database: OwnedDatabase, alice: Writer
) -> None:
    draft = workflow(stage(prompt("One"), name="A"), stage(prompt("Two"), name="B"), tags=("x",))
    before = await dump(database)
    preview = await preview_new(playbook, alice, draft, Place(None, "Garden"))
    assert await dump(database) == before
    written = await playbook.add_workflow(alice, draft, Place(None, "Garden"))
    assert shown(preview) == shown(written)
    with pytest.raises(ToolFailed):
        await preview_new(playbook, alice, draft, Place("nowhere", None))
