"""What is found by whom: by id, by key, in lists."""

from __future__ import annotations

import pytest
from sqlalchemy import event, insert

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.ids import new_id
from plugins.workflows.inputs import PromptDraft, Writer
from plugins.workflows.model import AutoPrompt, Complexity, TargetType, Visibility
from plugins.workflows.playbook import Filters, Playbook
from plugins.workflows.store.tables import library
from tests.plugins.workflows.conftest import NOON, prompt, skill, stage, workflow

FLOW, CARD, PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT
PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE


async def keep(database: OwnedDatabase, person: str, type: TargetType, target: str) -> None:
    """Put an item into somebody's library."""
    row = {"person": person, "type": type, "target": target, "added": NOON}
    async with database.begin() as connection:
        await connection.execute(insert(library).values(row))


async def test_a_private_item_asked_for_by_id_is_denied_and_by_key_is_not_there(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    for viewer in (bob.person, None):
        for read in (playbook.workflow, playbook.whole_workflow, playbook.workflow_version):
            with pytest.raises(ToolFailed, match=r"^Access denied: workflow is private$"):
                await read(made.id, viewer)
            with pytest.raises(ToolFailed, match=r"^Workflow not found$"):
                await read(made.key, viewer)
    card = await playbook.add_skill(alice, skill())
    with pytest.raises(ToolFailed, match=r"^Access denied: skill is private$"):
        await playbook.skill(card.id, bob.person)
    with pytest.raises(ToolFailed, match=r"^Access denied: mini-prompt is private$"):
        await playbook.mini_prompt(made.stages[0].items[0].item.id, bob.person)


async def test_a_key_is_the_viewers_own_first_then_the_portals_and_nobody_elses(
    playbook: Playbook, alice: Writer, bob: Writer, portal: Writer
) -> None:
    of_portal = await playbook.add_workflow(portal, workflow(visibility=PUBLIC))
    of_alice = await playbook.add_workflow(alice, workflow(visibility=PUBLIC))
    assert of_portal.key == of_alice.key == "code-review"
    assert await playbook.workflow_version("code-review", alice.person) == (of_alice.id, 1)
    assert await playbook.workflow_version("code-review", bob.person) == (of_portal.id, 1)
    assert await playbook.workflow_version("code-review", None) == (of_portal.id, 1)
    assert await playbook.workflow_version(of_alice.id, None) == (of_alice.id, 1)


async def test_what_is_no_id_is_not_found(playbook: Playbook) -> None:
    for ref in ("", "nothing", "\0", "\ud800", "a b", "%", "x" * 10_000, "' --"):
        for read in (playbook.workflow, playbook.workflow_version):
            with pytest.raises(ToolFailed, match=r"^Workflow not found$"):
                await read(ref, "person:alice")
        with pytest.raises(ToolFailed, match=r"^Skill not found$"):
            await playbook.attachment(ref, ref, None)
        assert await playbook.summaries(FLOW, [ref], None) == {}
        assert await playbook.page(FLOW, None, ref, 10) == []


async def test_an_items_key_is_never_taken_for_anothers_id(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    theirs = await playbook.add_workflow(alice, workflow(visibility=PUBLIC))
    mine = await playbook.add_workflow(bob, workflow(key=theirs.id))
    assert (await playbook.workflow(theirs.id, bob.person)).id == theirs.id
    assert (await playbook.workflow(mine.id, bob.person)).id == mine.id


async def test_lists_hold_what_each_viewer_sees(
    playbook: Playbook, database: OwnedDatabase, alice: Writer, bob: Writer, portal: Writer
) -> None:
    shown = await playbook.add_workflow(alice, workflow(name="Shown", visibility=PUBLIC))
    hidden = await playbook.add_workflow(alice, workflow(name="Hidden"))
    starter = await playbook.add_workflow(portal, workflow(name="Starter", visibility=PUBLIC))
    own = await playbook.add_workflow(bob, workflow(name="Own"))
    await keep(database, bob.person, FLOW, shown.id)
    await keep(database, bob.person, FLOW, hidden.id)
    everyones = {shown.id, starter.id}
    seen = {
        (None, "all"): everyones,
        (None, "mine"): set(),
        (None, "library"): set(),
        (bob.person, "all"): everyones | {own.id},
        (bob.person, "mine"): {own.id},
        (bob.person, "library"): {shown.id},
        (alice.person, "all"): everyones | {hidden.id},
    }
    ids = [shown.id, hidden.id, starter.id, own.id, "unknown"]
    for (viewer, scope), wanted in seen.items():
        assert set(await playbook.matching(FLOW, viewer, Filters(scope=scope))) == wanted  # type: ignore[arg-type]
        found = await playbook.summaries(FLOW, ids, viewer, Filters(scope=scope))  # type: ignore[arg-type]
        assert found.keys() == wanted
        page = await playbook.page(FLOW, viewer, None, 100, scope=scope)  # type: ignore[arg-type]
        assert {each.id for each in page} == wanted
    page = await playbook.page(FLOW, bob.person, None, 100, portal=True)
    assert [each.id for each in page] == [starter.id]


async def test_filters_narrow_what_is_found(playbook: Playbook, alice: Writer) -> None:
    both = await playbook.add_workflow(
        alice, workflow(tags=("Code", "review"), complexity=Complexity.S)
    )
    one = await playbook.add_workflow(alice, workflow(tags=("code",), complexity=Complexity.XL))
    card = await playbook.add_skill(alice, skill(tags=("code",)))
    me = alice.person
    assert set(await playbook.matching(FLOW, me, Filters(tags=["code"]))) == {both.id, one.id}
    assert await playbook.matching(FLOW, me, Filters(tags=["REVIEW ", "code", "code"])) == [both.id]
    assert await playbook.matching(FLOW, me, Filters(tags=["code", "other"])) == []
    assert await playbook.matching(FLOW, me, Filters(complexity=Complexity.XL)) == [one.id]
    assert await playbook.matching(FLOW, me, Filters(tags=["code"], complexity=Complexity.S)) == [
        both.id
    ]
    assert await playbook.matching(CARD, me, Filters(tags=["code"])) == [card.id]
    assert await playbook.matching(CARD, me, Filters(complexity=Complexity.S)) == []
    found = await playbook.summaries(FLOW, [both.id, one.id], me, Filters(tags=["review"]))
    assert {id: each.tags for id, each in found.items()} == {both.id: ("code", "review")}
    assert found[both.id].complexity is Complexity.S


async def test_pages_follow_each_other_by_name_and_then_by_id(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    for name in ("Banana", "Apple", "Cherry", "Apple", "Apple", "Banana"):
        await playbook.add_workflow(alice, workflow(name=name))
        await playbook.add_workflow(bob, workflow(name=name))
    found = []
    after = None
    while page := await playbook.page(FLOW, alice.person, after, 2):
        assert len(page) <= 2
        found += page
        after = page[-1].id
    assert [each.name for each in found] == ["Apple"] * 3 + ["Banana"] * 2 + ["Cherry"]
    assert [(each.name, each.id) for each in found] == sorted(
        (each.name, each.id) for each in found
    )
    assert {each.owner for each in found} == {alice.person}


async def test_names_are_sorted_alike_by_every_database(playbook: Playbook, alice: Writer) -> None:
    names = sorted(["a b", "a-c", "aB", "Ab", "ä", "b", "B", "Z"])
    for name in reversed(names):
        await playbook.add_skill(alice, skill(name))
    page = await playbook.page(TargetType.SKILL, alice.person, None, 4)
    rest = await playbook.page(TargetType.SKILL, alice.person, page[-1].id, 10)
    assert [each.name for each in [*page, *rest]] == names
    ids = [each.id for each in rest]
    found = await playbook.summaries(TargetType.SKILL, ids, alice.person)
    assert list(found) == ids


async def test_a_list_takes_one_query(
    playbook: Playbook, database: OwnedDatabase, alice: Writer
) -> None:
    made = [await playbook.add_workflow(alice, workflow(tags=(str(n),))) for n in range(5)]
    asked: list[str] = []

    @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("SELECT"):
            asked.append(statement)

    await playbook.page(FLOW, alice.person, None, 100)
    await playbook.summaries(FLOW, [each.id for each in made], alice.person)
    assert len(asked) == 2
    await playbook.workflow_version(made[0].id, alice.person)
    await playbook.matching(FLOW, alice.person, Filters(tags=["1", "2"]))
    assert len(asked) == 4
    await playbook.workflow(made[0].id, alice.person)
    assert len(asked) <= 4 + 8


async def test_mini_prompts_are_listed_too(playbook: Playbook, alice: Writer) -> None:
    made = await playbook.add_workflow(alice, workflow())
    ids = [each.item.id for each in made.stages[0].items]
    assert (await playbook.summaries(PROMPT, ids, alice.person)).keys() == set(ids)
    assert await playbook.summaries(PROMPT, ids, None) == {}


async def test_the_automatic_prompts_are_the_portals(playbook: Playbook, portal: Writer) -> None:
    assert await playbook.automatic() == {}
    draft = PromptDraft(
        name="Board", content="Write.", key="board", automatic=AutoPrompt.MEMORY_BOARD
    )
    await playbook.put_prompt(portal, draft)
    found = await playbook.automatic()
    assert {kind: each.content for kind, each in found.items()} == {
        AutoPrompt.MEMORY_BOARD: "Write."
    }
    assert found[AutoPrompt.MEMORY_BOARD].visibility is PUBLIC


async def test_a_workflow_is_read_with_what_the_viewer_sees_in_it(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    from plugins.workflows.inputs import Reference, StageItemDraft

    card = await playbook.add_skill(alice, skill(visibility=PUBLIC))
    held = StageItemDraft(Reference(CARD, card.id), {"note": 1})
    order = (card.id, "memory-board", "unknown")
    made = await playbook.add_workflow(
        bob, workflow(stage(prompt("Own"), held, item_order=order), visibility=PUBLIC)
    )
    assert [each.item.name for each in made.stages[0].items] == ["Own", "Naming"]
    taken_back = await playbook.edit_skill(alice, card.id, 1, {"visibility": PRIVATE})
    for viewer in (None, bob.person):
        read = await playbook.workflow(made.id, viewer)
        assert [each.item.name for each in read.stages[0].items] == ["Own"]
        assert read.stages[0].item_order == ("memory-board", "unknown")
    read = await playbook.workflow(made.id, alice.person)
    assert read.stages[0].items[1].item == taken_back
    assert read.stages[0].items[1].extra == {"note": 1}
    whole = await playbook.whole_workflow(made.id, None)
    assert whole == read
    await playbook.delete_skill(alice, card.id, taken_back.version)
    whole = await playbook.whole_workflow(made.id, alice.person)
    assert [each.item.name for each in whole.stages[0].items] == ["Own"]
    assert whole.version == 3


async def test_a_library_shows_no_more_than_its_owner_sees(
    playbook: Playbook, database: OwnedDatabase, alice: Writer, bob: Writer
) -> None:
    card = await playbook.add_skill(alice, skill(visibility=PUBLIC))
    await keep(database, bob.person, CARD, card.id)
    await keep(database, bob.person, CARD, new_id())
    assert await playbook.matching(CARD, bob.person, Filters(scope="library")) == [card.id]
    card = await playbook.edit_skill(alice, card.id, 1, {"visibility": PRIVATE})
    assert await playbook.matching(CARD, bob.person, Filters(scope="library")) == []
    card = await playbook.edit_skill(alice, card.id, 2, {"visibility": PUBLIC})
    await playbook.delete_skill(alice, card.id, 3)
    assert await playbook.matching(CARD, bob.person, Filters(scope="library")) == []
