"""A request shows nothing that was taken away from those who look, and all that it would do."""

from typing import Any

import pytest
import sqlalchemy as sa

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.store.tables import approvals
from plugins.knowledge.memory.tools.pending import pending_requests
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, World
from tests.plugins.knowledge.memory.query.test_standing import SHARED, relate

pytestmark = pytest.mark.anyio
EVE = Caller("person:eve", Tier.MEMBERS, groups=frozenset({"garden"}), name="Eve")
SALARY = "Ana's salary idea is 4200 euros."


async def page(world: World, who: Caller) -> list[Any]:
    """What the page /approvals shows somebody."""
    return [each.shown for each in await pending_requests(world.memory).of(who)]


async def notes(world: World, who: Caller) -> list[tuple[str, str | None]]:
    return [(each.state, each.note) for each in await world.memory.approvals.visible_to(who)]


async def kept(world: World) -> str:
    async with world.host.database.read() as connection:
        return str((await connection.execute(sa.select(approvals))).all())


async def forget(world: World, id: str, *, hard: bool = False) -> None:
    request = DeleteRequest.model_validate({"id": id, "options": {"hard_delete": hard}})
    await world.memory.governed.delete(request, ANA)


async def opened(world: World, entry: KnowledgeEntry, policy: Any = "organization") -> str:
    """Ask for an entry of Ana's to be opened: the request's id."""
    named = {"policy": policy} if isinstance(policy, str) else policy
    sent = {"entry": {"content": entry.content}, "options": {"access_policy": named}}
    request = UpdateRequest.model_validate(sent)
    made = await world.memory.governed.update(entry.id, request, ANA)
    assert made.approval_required is not None
    return made.approval_required.request_id


async def to_end_the_salary(world: World) -> KnowledgeEntry:
    """Ben asks for an entry of Ana's to hold no more."""
    old = await world.remember(ANA, SALARY, SHARED)
    new = await world.remember(BEN, "The pay question is closed.", SHARED)
    assert (await relate(world, new, "supersedes", old, BEN)).status == "pending_approval"
    (shown,) = await page(world, EVE)
    assert shown["content"] == new.content
    assert shown["ends"] == [{"id": old.id, "content": SALARY}]
    return old


@pytest.mark.parametrize("hard", [False, True])
async def test_what_is_forgotten_is_in_no_request_that_would_end_it(
    world: World, hard: bool
) -> None:
    old = await to_end_the_salary(world)
    await forget(world, old.id, hard=hard)
    assert await page(world, EVE) == []
    assert "4200" not in await kept(world)
    assert await notes(world, BEN) == [
        ("failed", "An entry that it is about was removed meanwhile.")
    ]


async def test_what_is_private_now_is_in_no_request_that_would_end_it(world: World) -> None:
    old = await to_end_the_salary(world)
    await world.open(ANA, old.id, SALARY, {"policy": "private"})
    assert await page(world, EVE) == []
    assert "4200" not in str(await page(world, BEN))
    assert "4200" not in await kept(world)
    ((state, _),) = await notes(world, BEN)
    assert state == "failed"


async def test_what_goes_with_its_person_is_in_no_request_that_would_end_it(world: World) -> None:
    await to_end_the_salary(world)
    await world.memory.personal_data.erase("person:ana")
    assert await page(world, EVE) == []
    assert "4200" not in await kept(world)


@pytest.mark.parametrize("hard", [False, True])
async def test_what_is_forgotten_is_not_shown_to_those_it_was_to_be_opened_to(
    world: World, hard: bool
) -> None:
    draft = await world.remember(ANA, SALARY)
    await opened(world, draft)
    assert [each["content"] for each in await page(world, CY)] == [SALARY]
    await forget(world, draft.id, hard=hard)
    assert await page(world, CY) == []
    assert "4200" not in await kept(world)


async def test_what_is_rewritten_is_not_shown_to_those_it_was_to_be_opened_to(
    world: World,
) -> None:
    draft = await world.remember(ANA, SALARY)
    await opened(world, draft)
    await world.change(ANA, draft.id, "(removed)")
    assert await page(world, CY) == []
    assert "4200" not in await kept(world)
    ((state, note),) = await notes(world, ANA)
    assert state == "failed"
    assert "Ask again" in str(note)


async def test_what_fewer_may_read_is_in_no_request_of_who_lost_it(world: World) -> None:
    old = await world.remember(ANA, SALARY, SHARED)
    tagged = {"entry": {"content": SALARY, "metadata": {"tags": ["pay"]}}}
    sent = UpdateRequest.model_validate({**tagged, "governance": {"require_approval": True}})
    await world.memory.governed.update(old.id, sent, BEN)
    assert "4200" in str(await page(world, BEN))
    await world.open(ANA, old.id, SALARY, {"policy": "private"})
    assert await page(world, BEN) == []
    assert "4200" not in await kept(world)


async def test_a_change_that_still_fits_waits_on(world: World) -> None:
    entry = await world.remember(ANA, "Open at nine.", "organization")
    sent = {"entry": {"content": "Open at ten."}, "governance": {"require_approval": True}}
    await world.memory.governed.update(entry.id, UpdateRequest.model_validate(sent), ANA)
    await world.change(ANA, entry.id, "Open at nine.", metadata={"tags": ["hours"]})
    assert [each["content"] for each in await page(world, CY)] == ["Open at ten."]


async def test_who_approves_a_new_entry_sees_which_it_ends_as_far_as_they_may(
    world: World,
) -> None:
    old = await world.remember(ANA, "Seed orders go to Meier.", SHARED)
    own = await world.remember(ANA, "Ask Meier about the discount.")
    ended = [{"kind": "supersedes", "target": each.id} for each in (old, own)]
    sent = {
        "entry": {"content": "The orders for bulbs are placed in spring.", "relations": ended},
        "options": {"access_policy": SHARED},
    }
    made = await world.memory.governed.create(CreateRequest.model_validate(sent), ANA)
    assert made.status == "pending_approval"
    (shown,) = await page(world, EVE)
    assert shown["ends"] == [{"id": old.id, "content": old.content}]


async def test_who_approves_that_an_entry_is_opened_sees_which_it_ends(world: World) -> None:
    old = await world.remember(ANA, "Compost is turned weekly.", SHARED)
    new = await world.remember(ANA, "Compost needs no turning.")
    assert (await relate(world, new, "supersedes", old)).status == "done"
    await opened(world, new, SHARED)
    (shown,) = await page(world, EVE)
    assert shown["content"] == new.content
    assert shown["ends"] == [{"id": old.id, "content": old.content}]


@pytest.mark.parametrize("operation", ["delete", "erase"])
async def test_who_approves_a_removal_sees_what_is_removed(world: World, operation: str) -> None:
    old = await world.remember(ANA, "Compost is turned weekly.", "organization")
    options = {"hard_delete": operation == "erase", "governance": {"require_approval": True}}
    request = DeleteRequest.model_validate({"id": old.id, "options": options})
    await world.memory.governed.delete(request, ANA)
    (shown,) = await page(world, CY)
    assert shown["content"] == old.content


async def test_who_can_no_longer_read_what_would_be_ended_decides_nothing(world: World) -> None:
    old = await world.remember(ANA, "The muster roll is in the blue folder.", "organization")
    new = await world.remember(ANA, "The muster roll is in the red folder.", "organization")
    asked = await relate(world, new, "supersedes", old)
    assert len(await page(world, CY)) == 1
    await world.open(ANA, old.id, old.content, SHARED)
    assert await page(world, CY) == []
    with pytest.raises(MemoryFailed, match="no such request"):
        await world.memory.approvals.decide(asked.approval_required.request_id, CY, approve=True)
    assert len(await page(world, EVE)) == 1
