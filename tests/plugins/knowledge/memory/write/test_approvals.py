"""Writes that wait for a person: who sees them, who decides, and that each is done once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from gateway.contract import ANONYMOUS, Caller, Tier
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.store.tables import metadata
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, World

pytestmark = pytest.mark.anyio
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}
EVE = Caller("person:eve", Tier.MEMBERS, groups=frozenset({"garden"}), name="Eve")
WAITS = {"require_approval": True}


async def asked(
    world: World, who: Caller, content: str, policy: Any = "organization", **governance: bool
) -> tuple[str, str]:
    """Ask for an entry: the request's id, and the entry's."""
    named = {"policy": policy} if isinstance(policy, str) else policy
    request = {
        "entry": {"content": content},
        "options": {"access_policy": named},
        "governance": governance or WAITS,
    }
    made = await world.memory.governed.create(CreateRequest.model_validate(request), who)
    assert made.status == "pending_approval"
    assert made.approval_required is not None
    return made.approval_required.request_id, made.entry.id


async def seen(world: World, who: Caller) -> list[str]:
    return [each.id for each in await world.memory.approvals.visible_to(who)]


async def decide(world: World, id: str, who: Caller, approve: bool = True) -> str:
    return (await world.memory.approvals.decide(id, who, approve=approve, note="looked at")).state


async def test_what_waits_is_not_there_until_it_is_approved(world: World) -> None:
    request, entry = await asked(world, ANA, "The shed is open on Sundays.")
    assert await world.found(ANA, "shed sundays") == await world.found(CY, "shed sundays") == []
    assert await seen(world, CY) == [request]
    assert await decide(world, request, CY) == "approved"
    assert await world.found(CY, "shed sundays") == ["The shed is open on Sundays."]
    assert (await world.memory.reader.entry(entry, ANA)).owner == "person:ana"
    assert await seen(world, CY) == []
    (own,) = await world.memory.approvals.visible_to(ANA)
    assert (own.state, own.decided_by, own.note) == ("approved", "person:cy", "looked at")
    audit_records = [
        (d.person, d.operation, d.outcome) for d in await world.memory.entries.audit.of(entry)
    ]
    assert audit_records == [
        ("person:ana", "create", "done"),
        ("person:cy", "approve", "done"),
        ("person:ana", "create", "pending"),
    ]


async def test_two_who_approve_at_once_do_it_once(world: World) -> None:
    request, _ = await asked(world, ANA, "Twice is once.")
    both = [decide(world, request, who) for who in (CY, EVE)]
    told = await asyncio.gather(*both, return_exceptions=True)
    assert len([each for each in told if each == "approved"]) == 1
    (refused,) = [each for each in told if isinstance(each, MemoryFailed)]
    assert refused.number is ErrorCode.CONFLICT
    assert await world.found(ANA, "twice once") == ["Twice is once."]
    async with world.host.database.read() as connection:
        rows = sa.select(sa.func.count()).select_from(metadata.tables["memory_versions"])
        assert await connection.scalar(rows) == 1


async def test_what_breaks_off_while_it_is_carried_out_still_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, _ = await asked(world, ANA, "Halfway.")

    async def breaks(*_: Any, **__: Any) -> Any:
        raise ConnectionError("the database is gone")

    with monkeypatch.context() as broken:
        broken.setattr("plugins.knowledge.memory.store.writes._insert_events", breaks)
        with pytest.raises(ConnectionError):
            await decide(world, request, CY)
    assert await world.found(CY, "halfway") == []
    assert await seen(world, CY) == [request]
    assert await decide(world, request, CY) == "approved"
    assert await world.found(CY, "halfway") == ["Halfway."]


async def test_nobody_approves_their_own_request_but_an_admin(world: World) -> None:
    request, _ = await asked(world, ANA, "My own.")
    with pytest.raises(MemoryFailed) as refused:
        await decide(world, request, ANA)
    assert refused.value.number is ErrorCode.GOVERNANCE_DENIED
    assert await decide(world, request, replace(ANA, admin=True)) == "approved"


async def test_what_an_admin_asked_for_with_their_right_takes_an_admin_to_approve(
    world: World,
) -> None:
    entry = await world.remember(BEN, "Of Ben.", "organization")
    options = {"governance": {"require_approval": True}}
    removal = DeleteRequest.model_validate({"id": entry.id, "options": options})
    gone = await world.memory.governed.delete(removal, replace(ANA, admin=True))
    assert gone.approval_required is not None
    id = gone.approval_required.request_id
    with pytest.raises(MemoryFailed, match="takes an admin") as refused:
        await decide(world, id, CY)
    assert refused.value.number is ErrorCode.GOVERNANCE_DENIED
    assert await seen(world, CY) == [id]
    assert await decide(world, id, replace(CY, admin=True)) == "approved"
    assert await world.found(BEN, "ben") == []


async def test_who_asked_takes_it_back(world: World) -> None:
    request, _ = await asked(world, BEN, "Never mind.", SHARED)
    assert await decide(world, request, BEN, approve=False) == "rejected"
    with pytest.raises(MemoryFailed, match="decided already"):
        await decide(world, request, BEN, approve=False)


@pytest.mark.parametrize("who", [CY, BEN, DEE, ANONYMOUS])
async def test_a_request_is_as_if_it_were_not_there_for_who_may_not_decide_it(
    world: World, who: Caller
) -> None:
    """Cy may not read the entry; Ben could, and is no member; Dee is neither."""
    request, _ = await asked(world, ANA, "For gardeners.", SHARED)
    for approve in (True, False):
        told = []
        for id in (request, "appr_none"):
            with pytest.raises(MemoryFailed) as refused:
                await decide(world, id, who, approve)
            told.append(str(refused.value))
        assert told[0] == told[1]
    if who is not ANONYMOUS:
        assert await seen(world, who) == []
    assert await seen(world, EVE) == [request]


async def test_a_rejected_request_keeps_none_of_its_content(world: World) -> None:
    request, _ = await asked(world, ANA, "Quincunx.")
    assert await decide(world, request, CY, approve=False) == "rejected"
    async with world.host.database.read() as connection:
        for table in metadata.sorted_tables:
            rows = [str(row) for row in await connection.execute(sa.select(table))]
            assert not [row for row in rows if "Quincunx" in row], table.name


async def test_a_change_waits_and_the_version_that_is_there_stands(world: World) -> None:
    entry = await world.remember(ANA, "Open at nine.", "organization")
    changed = {"entry": {"content": "Open at ten."}, "governance": WAITS}
    request = UpdateRequest.model_validate(changed)
    made = await world.memory.governed.update(entry.id, request, ANA)
    assert made.approval_required is not None
    assert await world.found(CY, "open nine ten") == ["Open at nine."]
    await decide(world, made.approval_required.request_id, CY)
    assert await world.found(CY, "open nine ten") == ["Open at ten."]


@pytest.mark.parametrize("hard", [False, True])
async def test_a_removal_waits_with_its_reason(world: World, hard: bool) -> None:
    entry = await world.remember(ANA, "Old rule.", "organization")
    governance = {"require_approval": True, "reason": "out of date"}
    options = {"hard_delete": hard, "governance": governance}
    request = DeleteRequest.model_validate({"id": entry.id, "options": options})
    gone = await world.memory.governed.delete(request, ANA)
    assert not gone.deleted
    assert gone.approval_required is not None
    (waiting,) = await world.memory.approvals.visible_to(CY)
    assert (waiting.operation, waiting.reason) == ("erase" if hard else "delete", "out of date")
    assert await decide(world, waiting.id, CY) == "approved"
    assert await world.found(ANA, "old rule") == []


async def test_rights_count_as_they_are_when_it_is_approved(world: World) -> None:
    entry = await world.remember(ANA, "Gate.", {**SHARED, "allowed_teams": ["garden", "gate"]})
    changed = {"entry": {"content": "The gate."}, "governance": WAITS}
    made = await world.memory.governed.update(entry.id, UpdateRequest.model_validate(changed), BEN)
    assert made.approval_required is not None
    later = {"policy": "organization"}
    await world.keep(
        entry.id,
        UpdateRequest.model_validate(
            {"entry": {"content": "Gate."}, "options": {"access_policy": later}}
        ),
        ANA,
    )
    with pytest.raises(MemoryFailed):
        await decide(world, made.approval_required.request_id, EVE)
    (own,) = await world.memory.approvals.visible_to(BEN)
    assert own.state == "failed"
    assert await world.found(ANA, "gate") == ["Gate."]


async def test_what_is_to_be_verified_is_its_owners_alone_until_somebody_else_has(
    world: World,
) -> None:
    request, entry = await asked(world, ANA, "Wells are safe.", verification_required=True)
    assert await world.found(ANA, "wells") == ["Wells are safe."]
    assert await world.found(CY, "wells") == []
    assert await decide(world, request, CY) == "approved"
    for mode in ("keyword", "semantic"):
        assert await world.found(CY, "wells", mode=mode) == ["Wells are safe."]
    assert (await world.memory.reader.entry(entry, CY)).version == 2


async def test_what_was_changed_since_is_not_verified(world: World) -> None:
    request, entry = await asked(world, ANA, "Wells are safe.", verification_required=True)
    await world.change(ANA, entry, "Wells are not safe.")
    (own,) = await world.memory.approvals.visible_to(ANA)
    assert own.state == "failed"
    with pytest.raises(MemoryFailed):
        await decide(world, request, CY)
    assert await world.found(CY, "wells") == []


async def test_requests_leave_with_who_made_them(world: World) -> None:
    await asked(world, ANA, "Of Ana.")
    request, _ = await asked(world, CY, "Of Cy.")
    await decide(world, request, ANA)
    assert "person:ana" in await world.memory.personal_data.people()
    files = [file.path async for file in world.memory.personal_data.export("person:ana")]
    assert [path for path in files if path.startswith("memory/requests/")]
    await world.memory.personal_data.erase("person:ana")
    assert "person:ana" not in await world.memory.personal_data.people()
    assert await world.found(CY, "cy") == ["Of Cy."]


async def test_working_memory_waits_for_nobody(world: World) -> None:
    request = {
        "entry": {"content": "x"},
        "options": {"layer": {"type": "working"}},
        "governance": WAITS,
    }
    with pytest.raises(MemoryFailed, match="Working memory"):
        await world.memory.governed.create(CreateRequest.model_validate(request), ANA)


async def test_what_waits_is_seen_behind_many_that_are_decided(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.knowledge.memory.store.approvals.MAX_LISTED", 3)
    for n in range(4):
        request, _ = await asked(world, ANA, f"Gate {n}.")
        await decide(world, request, ANA, approve=False)
    waiting, _ = await asked(world, ANA, "The shed.")
    last, _ = await asked(world, ANA, "The gate.")
    await decide(world, last, ANA, approve=False)
    found = await world.memory.approvals.visible_to(ANA, "pending")
    assert [each.id for each in found] == [waiting]
    assert (await seen(world, ANA))[:2] == [waiting, last]
    assert (await world.memory.approvals.one(request, ANA)).state == "rejected"


async def test_what_somebody_may_decide_is_seen_behind_many_that_they_may_not(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.knowledge.memory.store.approvals.MAX_LISTED", 3)
    mine, _ = await asked(world, ANA, "For all members.")
    for n in range(4):
        await asked(world, ANA, f"For gardeners: tier:members {n}.", SHARED)
    assert await seen(world, CY) == [mine]


async def test_who_asks_for_the_same_again_has_their_first_request(world: World) -> None:
    first = await asked(world, ANA, "Meetings are on Tuesdays.")
    assert await asked(world, ANA, "Meetings are on Tuesdays.") == first
    assert await seen(world, CY) == [first[0]]
    assert await asked(world, CY, "Meetings are on Tuesdays.") != first
    assert await asked(world, ANA, "Meetings are on Tuesdays.", "public") != first
    await decide(world, first[0], CY)
    assert await asked(world, ANA, "Meetings are on Tuesdays.") != first


async def test_a_request_for_what_is_there_by_then_names_the_entry_that_stands(
    world: World,
) -> None:
    _, entry = first = await asked(world, ANA, "Meetings are on Tuesdays.")
    tagged = {
        "entry": {"content": "Meetings are on Tuesdays.", "metadata": {"tags": ["club"]}},
        "options": {"access_policy": {"policy": "organization"}},
    }
    made = await world.memory.governed.create(CreateRequest.model_validate(tagged), ANA)
    assert made.approval_required is not None
    assert made.entry.id != entry
    await decide(world, first[0], CY)
    done = await world.memory.approvals.decide(made.approval_required.request_id, CY, approve=True)
    assert (done.state, done.entry) == ("approved", entry)
    assert (await world.memory.reader.entry(entry, CY)).metadata.tags == ("club",)


async def test_who_asked_is_told_why_their_request_failed(world: World) -> None:
    old = await world.remember(BEN, "The fee is 40 euros.", SHARED)
    sent = {
        "entry": {
            "content": "The fee is 60 euros.",
            "relations": [{"kind": "supersedes", "target": old.id}],
        },
        "options": {"access_policy": SHARED},
    }
    made = await world.memory.governed.create(CreateRequest.model_validate(sent), ANA)
    assert made.approval_required is not None
    await world.memory.entries.delete(DeleteRequest(id=old.id), BEN)
    with pytest.raises(MemoryFailed, match="cannot be done any more") as refused:
        await decide(world, made.approval_required.request_id, EVE)
    assert refused.value.number is ErrorCode.GOVERNANCE_DENIED
    (own,) = await world.memory.approvals.visible_to(ANA)
    assert own.state == "failed"
    assert own.note == (
        f"It cannot be done any more. There is no entry {old.id}, or you may not read it. looked at"
    )
