"""Imports write by key: twice the same, and it is there once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.ids import portal_id
from plugins.workflows.inputs import (
    AttachmentDraft,
    PromptDraft,
    Reference,
    StageItemDraft,
    Writer,
)
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.tables import metadata
from tests.plugins.workflows.conftest import MODEL, prompt, skill, stage, workflow
from tests.plugins.workflows.store.test_workflows import prompts_in

PUBLIC = Visibility.PUBLIC
FLOW, CARD, PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT
FILE = AttachmentDraft("a.txt", "text/plain", b"A")
CARD_DRAFT = skill(key="naming", visibility=PUBLIC, attachments=(FILE,), tags=("t",))
PROMPT_DRAFT = PromptDraft(name="Look", content="Look.", key="look")
FLOW_DRAFT = workflow(
    stage(
        prompt("Begin"),
        prompt("Begin", content="Another."),
        StageItemDraft(Reference(PROMPT, "look")),
        StageItemDraft(Reference(CARD, "naming")),
        item_order=("naming", "Begin"),
    ),
    key="review",
    visibility=PUBLIC,
)


async def take_in(playbook: Playbook, writer: Writer) -> list[str]:
    return [
        await playbook.put_prompt(writer, PROMPT_DRAFT),
        await playbook.put_skill(writer, CARD_DRAFT),
        await playbook.put_workflow(writer, FLOW_DRAFT),
    ]


async def rows(database: OwnedDatabase) -> dict[str, list[Any]]:
    """All rows of all tables, without times and stamps."""
    found = {}
    async with database.engine.connect() as connection:
        for table in metadata.sorted_tables:
            skipped = ("created", "updated", "at", "stamp", "value")
            columns = [each for each in table.c if each.name not in skipped]
            read = await connection.execute(select(*columns))
            found[table.name] = sorted(repr(tuple(row)) for row in read)
    return found


async def test_a_second_import_writes_nothing(
    playbook: Playbook, database: OwnedDatabase, portal: Writer, alice: Writer
) -> None:
    for writer in (portal, alice):
        assert await take_in(playbook, writer) == ["added"] * 3
        before = await rows(database)
        assert await take_in(playbook, writer) == ["unchanged"] * 3
        assert await rows(database) == before
    made = await playbook.workflow("review", None)
    assert made.id == portal_id(FLOW, "review")
    assert [each.item.id for each in made.stages[0].items][2:] == [
        portal_id(PROMPT, "look"),
        portal_id(CARD, "naming"),
    ]
    assert [each.item.key for each in made.stages[0].items][:2] == [
        "review-begin",
        "review-begin-2",
    ]
    assert (await playbook.workflow("review", alice.person)).owner == alice.person


async def test_an_import_that_was_cut_off_ends_as_one_that_was_not(
    playbook: Playbook, database: OwnedDatabase, portal: Writer
) -> None:
    await playbook.put_prompt(portal, PROMPT_DRAFT)
    await playbook.put_skill(portal, CARD_DRAFT)
    assert await take_in(playbook, portal) == ["unchanged", "unchanged", "added"]
    cut_off = await rows(database)
    async with database.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            await connection.execute(table.delete())
    await take_in(playbook, portal)
    assert await rows(database) == cut_off


async def test_an_import_updates_what_has_changed(playbook: Playbook, portal: Writer) -> None:
    await take_in(playbook, portal)
    made = await playbook.workflow("review", None)
    first = replace(FLOW_DRAFT.stages[0].items[0], what=PromptDraft(name="Begin", content="New."))
    stages = (replace(FLOW_DRAFT.stages[0], items=(first, *FLOW_DRAFT.stages[0].items[1:])),)
    assert await playbook.put_workflow(portal, replace(FLOW_DRAFT, stages=stages)) == "updated"
    edited = await playbook.workflow("review", None)
    assert edited.version == 2
    assert prompts_in(edited)[0].content == "New."
    assert [each.id for each in prompts_in(edited)] == [each.id for each in prompts_in(made)]
    assert edited.stages[0].id == made.stages[0].id
    assert await playbook.put_prompt(portal, replace(PROMPT_DRAFT, content="New.")) == "updated"
    assert await playbook.put_skill(portal, replace(CARD_DRAFT, attachments=())) == "updated"
    assert (await playbook.workflow_version("review", None))[1] == 4
    named = Writer(portal.person, "Somebody", may_publish=True)
    assert await playbook.put_skill(named, replace(CARD_DRAFT, attachments=())) == "updated"
    assert (await playbook.skill("naming", None)).author == "Somebody"


async def test_what_the_portal_deleted_comes_back_as_the_same_item(
    playbook: Playbook, portal: Writer, alice: Writer
) -> None:
    await take_in(playbook, portal)
    held = stage(*(StageItemDraft(Reference(CARD, each)) for each in ("naming",)))
    using = await playbook.add_workflow(alice, workflow(held))
    before = await playbook.workflow("review", None)
    await playbook.delete_workflow(portal, "review", 1)
    await playbook.delete_skill(portal, "naming", 1)
    assert (await playbook.workflow(using.id, alice.person)).stages[0].items == ()
    assert await take_in(playbook, portal) == ["unchanged", "added", "added"]
    after = await playbook.workflow("review", None)
    assert (after.id, after.version) == (before.id, 3)
    assert [each.id for each in prompts_in(after)] == [each.id for each in prompts_in(before)]
    read = await playbook.workflow(using.id, alice.person)
    assert [each.item.key for each in read.stages[0].items] == ["naming"]
    assert read.version == 3
    _, data = await playbook.attachment("naming", "a.txt", None)
    assert data == b"A"


async def test_the_portals_own_mini_prompts_are_published(
    playbook: Playbook, portal: Writer, alice: Writer
) -> None:
    await playbook.put_prompt(portal, PROMPT_DRAFT)
    await playbook.put_prompt(alice, PROMPT_DRAFT)
    own = await playbook.mini_prompt("look", alice.person)
    assert (own.owner, own.visibility) == (alice.person, Visibility.PRIVATE)
    assert (await playbook.mini_prompt("look", None)).visibility is PUBLIC
    made = await playbook.add_workflow(
        portal, workflow(stage(StageItemDraft(Reference(PROMPT, "look"))), visibility=PUBLIC)
    )
    await playbook.delete_workflow(portal, made.id, 1)
    assert (await playbook.mini_prompt("look", None)).visibility is PUBLIC


async def texts(database: OwnedDatabase) -> dict[str, tuple[str, str | None, int]]:
    """What search reads: by id the text, the model and the stamp."""
    found = {}
    async with database.engine.connect() as connection:
        for name, of in (("workflow", "workflow"), ("skill", "skill")):
            table = metadata.tables[f"playbook_{name}_embeddings"]
            for row in await connection.execute(select(table)):
                found[getattr(row, of)] = (row.text, row.model, row.stamp)
    return found


async def test_what_search_reads_is_written_with_the_item(
    playbook: Playbook, plain_playbook: Playbook, database: OwnedDatabase, alice: Writer
) -> None:
    card = await playbook.add_skill(alice, skill("Tidy"))
    held = stage(prompt("Look"), StageItemDraft(Reference(CARD, card.id)))
    made = await playbook.add_workflow(alice, workflow(held))
    plain = await plain_playbook.add_workflow(alice, workflow(name="Plain"))
    found = await texts(database)
    assert found.keys() == {card.id, made.id, plain.id}
    assert "Look" in found[made.id][0]
    assert "Tidy" in found[made.id][0]
    assert [found[each][1] for each in (card.id, made.id, plain.id)] == [MODEL, MODEL, None]
    stamps = [found[each][2] for each in (card.id, made.id, plain.id)]
    assert stamps == sorted(set(stamps))
    # A new name of a card is a new text of the workflows that use it.
    await playbook.edit_skill(alice, card.id, 1, {"name": "Neat"})
    renamed = await texts(database)
    assert "Neat" in renamed[made.id][0]
    assert renamed[made.id][2] > found[plain.id][2]
    assert renamed[plain.id] == found[plain.id]
    await playbook.edit_skill(alice, card.id, 2, {"content": "New."})
    assert (await texts(database))[made.id] == renamed[made.id]


async def test_publishing_and_deleting_give_a_new_stamp(
    playbook: Playbook, database: OwnedDatabase, alice: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    added = (await texts(database))[made.id]
    await playbook.edit_workflow(alice, made.id, 1, {"visibility": PUBLIC})
    published = (await texts(database))[made.id]
    await playbook.delete_workflow(alice, made.id, 2)
    deleted = (await texts(database))[made.id]
    assert added[2] < published[2] < deleted[2]
    assert added[:2] == published[:2] == deleted[:2]


async def test_nobody_finds_a_workflow_by_the_name_of_a_card_that_is_hidden_from_them(
    playbook: Playbook, database: OwnedDatabase, alice: Writer, bob: Writer
) -> None:
    card = await playbook.add_skill(alice, skill("Zebra", visibility=PUBLIC))
    held = stage(StageItemDraft(Reference(CARD, card.id)))
    made = await playbook.add_workflow(bob, workflow(held, visibility=PUBLIC))
    assert "Zebra" in (await texts(database))[made.id][0]
    await playbook.edit_skill(alice, card.id, 1, {"visibility": Visibility.PRIVATE})
    assert "Zebra" not in (await texts(database))[made.id][0]


@pytest.mark.parametrize("name", ["Größe", "代码", "x" * 255])
async def test_a_key_follows_from_any_name(playbook: Playbook, portal: Writer, name: str) -> None:
    assert await playbook.put_workflow(portal, workflow(stage(prompt(name)), name=name)) == "added"
    assert (
        await playbook.put_workflow(portal, workflow(stage(prompt(name)), name=name)) == "unchanged"
    )
