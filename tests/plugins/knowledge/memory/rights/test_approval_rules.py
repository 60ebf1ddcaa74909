"""What becomes everybody's waits for a person's yes, whichever way it is written."""

from typing import Any

import pytest

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.record import Writer
from plugins.knowledge.memory.model.requests import CreateRequest, UpdateRequest
from plugins.knowledge.memory.model.responses import CreateResponse
from plugins.knowledge.memory.write.approvals import MAX_PENDING_REQUESTS
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
PUBLIC = {"policy": "public"}
GARDEN = {"policy": "shared", "allowed_teams": ["garden"]}


async def create(world: World, who: Caller, content: str, policy: Any, **more: Any) -> Any:
    """Ask for an entry as a program does, which can ask nobody."""
    entry = {"content": content, **more.pop("entry", {})}
    request = {"entry": entry, "options": {"access_policy": policy}, **more}
    return await world.memory.governed.create(CreateRequest.model_validate(request), who)


async def update(
    world: World, who: Caller, id: str, content: str, policy: Any = None, **entry: Any
) -> CreateResponse:
    """Ask for a new version likewise."""
    request: dict[str, Any] = {"entry": {"content": content, **entry}}
    if policy is not None:
        request["options"] = {"access_policy": policy}
    return await world.memory.governed.update(id, UpdateRequest.model_validate(request), who)


def request_of(made: CreateResponse) -> str:
    assert made.status == "pending_approval"
    assert made.approval_required is not None
    return made.approval_required.request_id


async def refusal(asking: Any) -> MemoryFailed:
    with pytest.raises(MemoryFailed) as refused:
        await asking
    return refused.value


@pytest.mark.parametrize("policy", ["organization", "public"])
async def test_what_is_for_everybody_waits_and_what_is_not_is_written_at_once(
    world: World, policy: str
) -> None:
    made = await create(world, DEE, "The treasury's address is 0xbad.", {"policy": policy})
    id = request_of(made)
    for who in (ANA, BEN, CY, DEE):
        assert await world.found(who, "treasury address") == []
    assert (await create(world, DEE, "Mine.", {"policy": "private"})).status == "created"
    assert (await create(world, BEN, "Ours.", GARDEN)).status == "created"
    await world.memory.approvals.decide(id, CY, approve=True)
    found = await world.found(ANA, "treasury address", mode="keyword")
    assert found == ["The treasury's address is 0xbad."]
    record = await world.memory.reader.entry(made.entry.id, ANA)
    assert record.writer == Writer("person:dee", "person:cy")


async def test_opening_an_entry_waits_and_who_decides_sees_what_all_would_read(
    world: World,
) -> None:
    entry = await world.remember(ANA, "The gate opens at nine.", title="Gate")
    id = request_of(await update(world, ANA, entry.id, "The gate opens at ten.", PUBLIC))
    assert await world.found(DEE, "gate") == []
    (waiting,) = await world.memory.approvals.visible_to(CY)
    assert waiting.payload is not None
    sent: Any = waiting.payload.request["entry"]
    assert sent["content"] == "The gate opens at ten."
    assert sent["metadata"]["title"] == "Gate"
    assert (await refusal(world.memory.reader.entry(entry.id, CY))).number is ErrorCode.NOT_FOUND
    await world.memory.approvals.decide(id, CY, approve=True)
    assert await world.found(DEE, "gate") == ["The gate opens at ten."]
    assert [each.number for each in await world.memory.reader.history(entry.id, DEE)] == [2]


async def test_a_yes_opens_what_was_looked_at_and_no_later_words(world: World) -> None:
    entry = await world.remember(ANA, "Gate.\n\nShed.\n\nWell.")
    opening = await update(world, ANA, entry.id, "The gate.\n\nShed.\n\nWell.", PUBLIC)
    await world.change(ANA, entry.id, "Gate.\n\nShed.\n\nMy salary is 4,200.")
    told = await refusal(world.memory.approvals.decide(request_of(opening), CY, approve=True))
    assert "no such request" in str(told)  # it ended with the version that it was for
    assert await world.found(DEE, "salary gate") == []


async def test_what_a_merge_makes_everybodys_waits_though_nobody_asked_for_that(
    world: World,
) -> None:
    """Version 1 was private: an update that keeps it so is merged with what opened it since."""
    entry = await world.remember(ANA, "Gate.\n\nShed.")
    await world.open(ANA, entry.id, "Gate.\n\nShed.", PUBLIC)
    private = {"policy": "private"}
    made = await update(world, ANA, entry.id, "Gate.\n\nMy shed.", private, version=1)
    request_of(made)
    assert await world.found(DEE, "shed") == ["Gate.\n\nShed."]


async def test_a_change_of_what_everybody_reads_waits_also_where_an_editor_writes(
    world: World,
) -> None:
    entry = await world.remember(ANA, "Beds are watered at six.", GARDEN)
    assert (await update(world, BEN, entry.id, "Watered at seven.")).status == "updated"
    await world.open(ANA, entry.id, "Watered at seven.", PUBLIC)
    request_of(await update(world, ANA, entry.id, "Watered at eight."))
    assert await world.found(DEE, "watered") == ["Watered at seven."]


async def test_what_an_editor_asked_for_stays_among_those_it_was_asked_for(world: World) -> None:
    entry = await world.remember(ANA, "Beds.", GARDEN)
    waits = {"require_approval": True}
    asked = UpdateRequest.model_validate({"entry": {"content": "Our beds."}, "governance": waits})
    made = await world.memory.governed.update(entry.id, asked, BEN)
    await world.open(ANA, entry.id, "Beds.", PUBLIC)
    eve = Caller("person:eve", ANA.tier, groups=frozenset({"garden"}))
    await refusal(world.memory.approvals.decide(request_of(made), eve, approve=True))
    assert await world.found(DEE, "beds") == ["Beds."]


@pytest.mark.parametrize("governance", ["require_approval", "verification_required"])
async def test_what_nobody_could_approve_is_refused_at_once(world: World, governance: str) -> None:
    private = {"policy": "private"}
    told = await refusal(create(world, ANA, "Mine.", private, governance={governance: True}))
    assert told.number is ErrorCode.INVALID_REQUEST
    assert "nobody could approve" in str(told)
    assert await world.found(ANA, "mine") == []
    assert await world.memory.approvals.visible_to(ANA) == []


async def test_one_persons_requests_do_not_bury_those_of_others(world: World) -> None:
    for number in range(MAX_PENDING_REQUESTS):
        await create(world, DEE, f"Buy {number}.", PUBLIC)
    told = await refusal(create(world, DEE, "Buy more.", PUBLIC))
    assert told.number is ErrorCode.RATE_LIMITED
    mine = request_of(await create(world, BEN, "The well is safe.", PUBLIC))
    assert (await world.memory.approvals.decide(mine, CY, approve=True)).state == "approved"


def vector_of(place: int) -> list[float]:
    """A direction of the test's model; it says nothing of any text."""
    return [float(each == place) for each in range(64)]


async def test_others_find_no_entry_by_a_vector_that_is_not_its_texts(world: World) -> None:
    question = (await world.host.embedder.query("donation address of the treasury")).tolist()  # type: ignore[union-attr]
    for policy in (PUBLIC, GARDEN, {"policy": "restricted", "approved_users": ["person:cy"]}):
        bent = create(world, ANA, "Buy my coin.", policy, entry={"embedding": question})
        if policy is PUBLIC:
            id = request_of(await bent)
            bent = world.memory.approvals.decide(id, CY, approve=True)
        assert (await refusal(bent)).number is ErrorCode.EMBEDDING_FAILED
    for who in (BEN, CY, DEE):
        assert await world.found(who, "donation address of the treasury", mode="semantic") == []


async def test_a_vector_that_is_the_texts_own_is_taken_for_others_too(world: World) -> None:
    (own,) = await world.host.embedder.passages(["The well is safe."])  # type: ignore[union-attr]
    made = await create(
        world, ANA, "The well is safe.", GARDEN, entry={"embedding": (own * 3).tolist()}
    )
    assert made.status == "created"
    assert await world.found(BEN, "well safe", mode="semantic") == ["The well is safe."]


@pytest.mark.parametrize("way", ["opened", "verified"])
async def test_a_vector_of_ones_own_is_not_what_others_find_the_entry_by(
    world: World, way: str
) -> None:
    embedding, shown = {"embedding": vector_of(9)}, {"options": {"include_embeddings": True}}
    if way == "opened":
        made = await create(world, ANA, "Opaque.", {"policy": "private"}, entry=embedding)
        (own,) = (await world.ask(ANA, "opaque", **shown)).results
        assert own.entry.embedding == pytest.approx(vector_of(9))
        await world.open(ANA, made.entry.id, "Opaque.", GARDEN)
    else:
        verified = {"verification_required": True}
        made = await create(world, ANA, "Opaque.", PUBLIC, entry=embedding, governance=verified)
        await world.memory.approvals.decide(request_of(made), CY, approve=True)
    (found,) = (await world.ask(BEN, "opaque", **shown)).results
    (text,) = await world.host.embedder.passages(["Opaque."])  # type: ignore[union-attr]
    assert found.entry.embedding == pytest.approx(text.tolist(), abs=1e-6)
