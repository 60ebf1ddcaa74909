"""Who decides how entries go together, and who is asked."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import RelationDraft, UpdateRequest
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.rights.approval_rules import Agreement
from plugins.knowledge.memory.tools.pending import pending_requests
from tests.plugins.knowledge.memory.conftest import ANA, World
from tests.plugins.knowledge.memory.query.test_standing import SHARED, relate, standings, write

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
BO = Caller("person:bo", Tier.MEMBERS, groups=frozenset({"garden"}), name="Bo")
"""A member, of Ana's group."""


async def end(world: World, later: KnowledgeEntry, earlier: KnowledgeEntry) -> None:
    """Ana says that an entry supersedes another one, with a person's yes."""
    record = await world.memory.entries.found(later.id, ANA)
    draft = RelationDraft(kind=Relation.SUPERSEDES, target=earlier.id)
    await world.memory.entries.relate(record, draft, ANA, Agreement(record.readers))


async def told_of(world: World, entry: KnowledgeEntry, who: Caller = ANA) -> str:
    """What who asks for an entry is told of whether it holds."""
    return standings(await world.ask(who, entry.content))[entry.content]


@pytest.mark.parametrize("kind", ["apart", "both_hold", "contests"])
async def test_an_end_is_taken_back_by_who_may_change_what_ended(world: World, kind: str) -> None:
    old = await world.remember(ANA, "The meeting point is the car park.", "organization")
    new = await world.remember(ANA, "The meeting point is the field.", SHARED)
    await end(world, new, old)
    with pytest.raises(MemoryFailed, match="not say that it holds again") as failed:
        await relate(world, new, kind, old, BO)
    assert failed.value.number is ErrorCode.FORBIDDEN
    for who in (ANA, BO):
        assert f"superseded by {new.id}" in await told_of(world, old, who)


@pytest.mark.parametrize("kind", ["apart", "both_hold", "contests"])
async def test_an_end_that_others_see_is_taken_back_with_a_yes(world: World, kind: str) -> None:
    old = await world.remember(ANA, "The tool desk shuts at five.", SHARED)
    new = await world.remember(ANA, "The tool desk shuts at six.", SHARED)
    await end(world, new, old)
    asked = await relate(world, new, kind, old, BO)
    assert asked.status == "pending_approval"
    assert f"superseded by {new.id}" in await told_of(world, old)
    (waiting,) = await pending_requests(world.memory).of(ANA)
    assert waiting.shown["beside"] == [{"id": old.id, "content": old.content}]
    await world.memory.approvals.decide(asked.approval_required.request_id, ANA, approve=True)
    assert await told_of(world, old) == (f"contested with {new.id}" if kind == "contests" else "")


async def test_an_end_of_ones_own_is_taken_back_at_once(world: World) -> None:
    old = await world.remember(ANA, "The tool desk shuts at five.", SHARED)
    new = await world.remember(ANA, "The tool desk shuts at six.")
    await end(world, new, old)
    assert (await relate(world, new, "apart", old)).status == "done"
    assert await told_of(world, old) == ""


async def test_who_says_the_same_again_takes_no_end_back(world: World) -> None:
    old = (await write(world, "The tool desk shuts at five.")).entry
    new = (await write(world, "The tool desk shuts at six.")).entry
    await end(world, new, old)
    again: dict[str, Any] = {"relations": [{"kind": "apart", "target": old.id}]}
    with pytest.raises(MemoryFailed, match=f"settle_memory.id={new.id}") as failed:
        await write(world, new.content, **again)
    assert failed.value.number is ErrorCode.CONFLICT
    assert f"superseded by {new.id}" in await told_of(world, old)


async def test_a_group_that_learns_that_what_all_read_is_over_is_asked(world: World) -> None:
    old = await world.remember(ANA, "The muster roll is in the blue folder.", "organization")
    new = await world.remember(ANA, "The muster roll is in the red folder.", SHARED)
    asked = await relate(world, new, "supersedes", old)
    assert asked.status == "pending_approval"
    assert "superseded" not in await told_of(world, old, BO)
    await world.memory.approvals.decide(asked.approval_required.request_id, BO, approve=True)
    assert f"superseded by {new.id}" in await told_of(world, old, BO)


async def test_opening_an_end_of_what_all_read_to_a_group_takes_a_yes(world: World) -> None:
    old = await world.remember(ANA, "The muster roll is in the blue folder.", "organization")
    new = await world.remember(ANA, "The muster roll is in the red folder.")
    assert (await relate(world, new, "supersedes", old)).status == "done"
    request = UpdateRequest.model_validate(
        {"entry": {"content": new.content}, "options": {"access_policy": SHARED}}
    )
    opened = await world.memory.governed.update(new.id, request, ANA)
    assert opened.status == "pending_approval"
    assert await told_of(world, old, BO) == ""


@pytest.mark.parametrize("kind", ["apart", "both_hold"])
async def test_of_two_that_both_hold_neither_ends_the_other(world: World, kind: str) -> None:
    one = (await write(world, "The gate of the depot is number 3.")).entry
    two = (await write(world, "The gate of the depot is number 5.")).entry
    await relate(world, one, "supersedes", two)
    assert (await relate(world, two, kind, one)).status == "done"
    assert (await told_of(world, one), await told_of(world, two)) == ("", "")
    await relate(world, one, "contests", two)
    await relate(world, two, kind, one)
    assert (await told_of(world, one), await told_of(world, two)) == ("", "")


async def test_an_end_the_other_way_round_is_taken_back_with_a_yes(world: World) -> None:
    one = await world.remember(ANA, "The gate of the depot is number 3.", SHARED)
    two = await world.remember(ANA, "The gate of the depot is number 5.", SHARED)
    await end(world, one, two)
    assert (await relate(world, two, "apart", one, BO)).status == "pending_approval"
    assert f"superseded by {one.id}" in await told_of(world, two)


async def test_a_circle_is_refused_with_what_takes_the_first_end_back(world: World) -> None:
    one = (await write(world, "The gate of the depot is number 3.")).entry
    two = (await write(world, "The gate of the depot is number 5.")).entry
    await relate(world, one, "supersedes", two)
    undone = f"settle_memory.id={one.id}, target={two.id}, decision=apart."
    with pytest.raises(MemoryFailed, match=undone):
        await relate(world, two, "supersedes", one)
    await relate(world, one, "apart", two)
    await relate(world, two, "supersedes", one)
    assert f"superseded by {two.id}" in await told_of(world, one)


@pytest.mark.parametrize("kind", ["supersedes", "corrects", "contests", "both_hold", "apart"])
async def test_the_owner_of_the_earlier_entry_decides_what_anothers_makes_of_it(
    world: World, kind: str
) -> None:
    old = await world.remember(ANA, "The yearly fee is 40 euros.", "organization")
    new = await world.remember(BO, "The yearly fee is 60 euros.", "organization")
    await relate(world, new, "contests", old, BO)
    (pair,) = (await world.memory.review(ANA)).pairs
    assert (pair.newer.id, pair.older.id) == (new.id, old.id)
    settled = await relate(world, new, kind, old)
    if kind in {"supersedes", "corrects"}:
        assert settled.status == "pending_approval"
        await world.memory.approvals.decide(settled.approval_required.request_id, BO, approve=True)
    told = await told_of(world, old)
    word = {"supersedes": "superseded by", "corrects": "corrected by", "contests": "contested with"}
    assert told.startswith(word[kind]) if kind in word else told == ""


@pytest.mark.parametrize("kind", ["contests", "both_hold", "apart"])
async def test_who_may_read_both_of_two_and_change_neither_settles_nothing(
    world: World, kind: str
) -> None:
    old = await world.remember(ANA, "The yearly fee is 40 euros.", "organization")
    new = await world.remember(ANA, "The yearly fee is 60 euros.", "organization")
    with pytest.raises(MemoryFailed, match="not say how they go together") as failed:
        await relate(world, new, kind, old, BO)
    assert failed.value.number is ErrorCode.FORBIDDEN


@pytest.mark.parametrize("kind", ["both_hold", "apart"])
async def test_the_owner_of_what_ends_another_does_not_say_that_it_holds_again(
    world: World, kind: str
) -> None:
    ended = await world.remember(BO, "The depot has gate 3.", "organization")
    ending = await world.remember(ANA, "The depot has gate 5.", "organization")
    record = await world.memory.entries.found(ending.id, BO)
    draft = RelationDraft(kind=Relation.SUPERSEDES, target=ended.id)
    await world.memory.entries.relate(record, draft, BO, Agreement(record.readers))
    with pytest.raises(MemoryFailed, match="not say that it holds again"):
        await relate(world, ended, kind, ending)
    assert f"superseded by {ending.id}" in await told_of(world, ended)
