"""Chains of what ends what: circles count as far as one sees them, and no gap revives an entry."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from gateway.contract import Caller
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import readers
from plugins.knowledge.memory.model.requests import DeleteRequest, RelationDraft
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.rights.approval_rules import Agreement
from plugins.knowledge.memory.upkeep.purge import FORGOTTEN_RETENTION
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World

pytestmark = pytest.mark.anyio
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}


async def ends(
    world: World, later: KnowledgeEntry, earlier: KnowledgeEntry, who: Caller = ANA, **draft: Any
) -> None:
    """Say that one entry ends another; of what others see as well, a person has said yes."""
    related = RelationDraft(kind=Relation(draft.get("kind", "supersedes")), target=earlier.id)
    record = await world.memory.entries.found(later.id, who)
    agreed = Agreement(readers(record.owner, record.access), record.version)
    await world.memory.entries.relate(record, related, who, agreed)


async def successors(world: World, who: Caller = ANA) -> dict[str, list[str]]:
    """What answers say that each entry is superseded by."""
    answer = await world.ask(who, "bed plan", options={"limit": 50})
    names = {each.entry.id: each.entry.content.split()[-1] for each in answer.results}
    return {
        names[each.entry.id]: sorted(names[id] for id in each.standing.superseded_by)
        for each in answer.results
        if each.standing is not None and each.standing.superseded_by
    }


async def plans(world: World, *names: str, policy: Any = "private") -> list[KnowledgeEntry]:
    return [await world.remember(ANA, f"The bed plan is {each}", policy) for each in names]


async def forget(world: World, entry: KnowledgeEntry, who: Caller = ANA, **options: Any) -> None:
    request = DeleteRequest.model_validate({"id": entry.id, "options": options})
    await world.memory.entries.delete(request, who)


async def hidden_link(world: World) -> list[KnowledgeEntry]:
    """Two entries that Ana and Ben read, and between them one of Ben's own."""
    one, two = await plans(world, "one", "two", policy=SHARED)
    own = await world.remember(BEN, "The bed plan is hidden")
    await ends(world, own, one, BEN)
    await ends(world, two, own, BEN)
    return [one, two, own]


async def test_what_somebody_else_keeps_to_themselves_hinders_nobody_and_is_not_told(
    world: World,
) -> None:
    one, two, _ = await hidden_link(world)
    (mine,) = await plans(world, "mine")
    await ends(world, mine, two)
    await ends(world, one, mine)
    assert await successors(world) == {"two": ["mine"], "mine": ["one"]}


async def test_a_circle_of_what_several_people_said_is_read_to_its_end(world: World) -> None:
    one, two, own = await hidden_link(world)
    await ends(world, one, two)
    marks = {"one": ["hidden"], "two": ["one"], "hidden": ["two"]}
    assert await successors(world, BEN) == marks
    assert await successors(world) == {"two": ["one"]}
    with pytest.raises(MemoryFailed, match="in a circle"):
        await ends(world, own, one, BEN, kind="corrects")
    await ends(world, own, one, BEN, kind="contests")
    assert await successors(world, BEN) == {"two": ["one"], "hidden": ["two"]}


async def test_what_was_superseded_stays_so_when_the_middle_of_the_chain_is_forgotten(
    world: World,
) -> None:
    abel, boris, clara = await plans(world, "Abel", "Boris", "Clara")
    await ends(world, boris, abel)
    await ends(world, clara, boris)
    await forget(world, boris)
    assert await successors(world) == {"Abel": ["Clara"]}
    with pytest.raises(MemoryFailed, match="in a circle") as refused:
        await ends(world, abel, clara)
    assert refused.value.number is ErrorCode.CONFLICT


async def test_a_chain_is_closed_for_good(world: World) -> None:
    abel, boris, clara = await plans(world, "Abel", "Boris", "Clara")
    await ends(world, boris, abel)
    await ends(world, clara, boris)
    await forget(world, boris)
    world.clock.time += FORGOTTEN_RETENTION + timedelta(days=1)
    await world.memory.upkeep.once()
    assert await successors(world) == {"Abel": ["Clara"]}
    exported = [each async for each in world.memory.personal_data.export(ANA.person or "")]
    assert len([each for each in exported if each.path.startswith("memory/")]) == 2


async def test_several_in_the_middle_go_at_once_and_for_good(world: World) -> None:
    first, *middle, last = await plans(world, "a", "b", "c", "d", "e")
    chain = [first, *middle, last]
    for earlier, later in pairwise(chain):
        await ends(world, later, earlier, kind="corrects" if earlier is first else "supersedes")
    await world.memory.entries.writes.erase([each.id for each in middle])
    answer = await world.ask(ANA, "bed plan")
    standing = {each.entry.id: each.standing for each in answer.results}
    assert standing[last.id] is None
    assert (corrected := standing[first.id]) is not None
    assert corrected.corrected_by == [last.id]


async def test_what_is_forgotten_at_the_end_of_a_chain_lets_the_one_before_hold_again(
    world: World,
) -> None:
    abel, boris, clara = await plans(world, "Abel", "Boris", "Clara")
    await ends(world, boris, abel)
    await ends(world, clara, boris)
    await forget(world, clara)
    assert await successors(world) == {"Abel": ["Boris"]}
    await forget(world, boris)
    assert await successors(world) == {}
    (again,) = await plans(world, "again")
    await ends(world, again, abel)
    assert await successors(world) == {"Abel": ["again"]}


async def test_what_somebody_decided_of_both_ends_stays(world: World) -> None:
    abel, boris, clara = await plans(world, "Abel", "Boris", "Clara")
    await ends(world, boris, abel)
    await ends(world, clara, boris)
    await ends(world, abel, clara, kind="apart")
    await forget(world, boris)
    assert await successors(world) == {}


async def test_no_gap_tells_who_did_not_see_the_middle_that_there_was_one(world: World) -> None:
    one, two, own = await hidden_link(world)
    await forget(world, own, BEN)
    assert await successors(world) == await successors(world, BEN) == {}
    await ends(world, one, two)
    assert await successors(world) == {"two": ["one"]}


async def test_a_circle_is_not_closed_up_against_what_was_said(world: World) -> None:
    one, two, own = await hidden_link(world)
    await ends(world, one, two)
    await forget(world, one)
    assert await successors(world, BEN) == {"hidden": ["two"]}
    await forget(world, own, BEN)
    assert await successors(world, BEN) == {}
