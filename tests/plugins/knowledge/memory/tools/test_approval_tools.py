"""Agents write for everybody when a person agrees: in their client, or by a request."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import mcp_types as mcp
import pytest

from gateway.contract import Caller, Tool, ToolFailed
from gateway.pipeline.exchange import SilentExchange
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.tools.entries import tools
from plugins.knowledge.memory.tools.pending import pending_requests
from plugins.knowledge.memory.tools.waiting import OtherEntry, WaitingWrite, brief
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, World

pytestmark = pytest.mark.anyio
FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
PUBLIC = {"content": "The gate opens at nine.", "policy": "public"}


class Legacy(SilentExchange):
    """A session whose client asks its person, who answers this."""

    client_capabilities = FORMS
    can_ask = True

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[str] = []

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(params["message"])
        return self.answer


class Unanswered(Legacy):
    """A session whose person is asked and does not come back in time."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        await super().ask(method, params)
        raise ToolFailed("not_answered", "Nobody has answered in time.")


class Modern(SilentExchange):
    """A call of a client of 2026-07-28, which may bring its person's answer."""

    client_capabilities = FORMS

    def __init__(self, *, answered: bool = False) -> None:
        super().__init__()
        self.input_responses = {"approval": accepted(True)} if answered else None


async def listed_for(memory: Memory, who: Caller, **asked: Any) -> Any:
    """What `list_approvals` finds, made ready to be shown."""
    found = await call(memory, SilentExchange(), "list_approvals", who, **asked)
    return await found.ready(found.items)


def accepted(approve: bool) -> dict[str, Any]:
    return {"action": "accept", "content": {"approve": approve}}


async def call(memory: Memory, exchange: Any, name: str, who: Caller, **args: Any) -> Any:
    """Call a tool as the gateway does, with this client behind it."""
    over = replace(memory, exchange=lambda: exchange)
    tool: Tool = next(each for each in tools(over) if each.name == name)
    assert tool.args is not None
    return await tool.run(tool.args.model_validate(args), who)


async def test_a_person_agrees_in_their_client(world: World) -> None:
    client = Legacy(accepted(True))
    kept = await call(world.memory, client, "remember", ANA, **PUBLIC)
    assert (kept.status, kept.approval) == ("created", None)
    assert "The gate opens at nine." in client.asked[0]
    assert await world.found(CY, "gate") == ["The gate opens at nine."]
    audit_records = [each.operation for each in await world.memory.entries.audit.of(kept.id)]
    assert audit_records == ["create", "approve"]


@pytest.mark.parametrize("answer", [accepted(False), {"action": "decline"}])
async def test_a_person_who_says_no_is_obeyed(world: World, answer: dict[str, Any]) -> None:
    with pytest.raises(MemoryFailed) as refused:
        await call(world.memory, Legacy(answer), "remember", ANA, **PUBLIC)
    assert refused.value.number is ErrorCode.GOVERNANCE_DENIED
    assert await world.found(ANA, "gate") == []
    assert await world.memory.approvals.visible_to(ANA) == []


@pytest.mark.parametrize("client", [SilentExchange(), Legacy({"action": "cancel"}), Unanswered({})])
async def test_without_an_answer_a_request_waits_that_another_person_approves(
    world: World, client: Any
) -> None:
    kept = await call(world.memory, client, "remember", ANA, **PUBLIC)
    assert kept.status == "pending_approval"
    assert "/approvals" in kept.note
    assert await world.found(ANA, "gate") == []
    (listed,) = await listed_for(world.memory, CY)
    assert (listed.id, listed.content) == (kept.approval, "The gate opens at nine.")
    await pending_requests(world.memory).decide(listed.id, CY, True, "")
    assert await world.found(CY, "gate") == ["The gate opens at nine."]


@pytest.mark.parametrize(
    "client", [SilentExchange(), Legacy(accepted(True)), Modern(answered=True)]
)
async def test_no_client_approves_whatever_it_says_its_person_said(
    world: World, client: Any
) -> None:
    kept = await call(world.memory, SilentExchange(), "remember", ANA, **PUBLIC)
    with pytest.raises(MemoryFailed, match="Nothing is approved") as refused:
        await call(world.memory, client, "decide_approval", CY, id=kept.approval, approve=True)
    assert refused.value.number is ErrorCode.GOVERNANCE_DENIED
    assert refused.value.details == {"page": f"/approvals/knowledge/{kept.approval}"}
    assert getattr(client, "asked", []) == []
    assert await world.found(CY, "gate") == []
    said = await call(world.memory, client, "decide_approval", CY, id=kept.approval, approve=False)
    assert said.state == "rejected"


async def test_who_may_not_decide_is_not_asked_and_told_nothing(world: World) -> None:
    kept = await call(world.memory, SilentExchange(), "remember", ANA, **PUBLIC)
    client = Legacy(accepted(True))
    with pytest.raises(MemoryFailed) as refused:
        await call(world.memory, client, "decide_approval", BEN, id=kept.approval, approve=True)
    assert refused.value.number is ErrorCode.NOT_FOUND
    assert client.asked == []


async def test_a_client_that_is_sent_back_comes_with_the_answer(world: World) -> None:
    client = Modern()
    needed = await call(world.memory, client, "remember", ANA, **PUBLIC)
    assert isinstance(needed, mcp.InputRequiredResult)
    assert await world.found(ANA, "gate") == []
    client.request_state = needed.request_state
    client.input_responses = {"approval": accepted(True)}
    kept = await call(world.memory, client, "remember", ANA, **PUBLIC)
    assert kept.status == "created"
    assert await world.found(CY, "gate") == ["The gate opens at nine."]


async def test_an_answer_counts_for_the_write_that_it_was_asked_about_alone(world: World) -> None:
    client = Modern()
    needed = await call(world.memory, client, "remember", ANA, **PUBLIC)
    client.request_state = needed.request_state
    client.input_responses = {"approval": accepted(True)}
    other = {**PUBLIC, "content": "The gate is always open."}
    again = await call(world.memory, client, "remember", ANA, **other)
    assert isinstance(again, mcp.InputRequiredResult)
    assert await world.found(ANA, "gate") == []


async def test_what_is_for_few_waits_for_nobody(world: World) -> None:
    client = Legacy(accepted(False))
    kept = await call(world.memory, client, "remember", ANA, content="Mine.")
    assert (kept.status, client.asked) == ("created", [])
    noted = await call(world.memory, client, "remember", ANA, **PUBLIC, layer="session")
    assert (noted.status, client.asked) == ("created", [])
    assert await world.found(CY, "gate") == []
    gone = await call(world.memory, client, "forget", ANA, id=kept.id)
    assert gone.forgotten


async def test_a_change_of_what_everybody_reads_is_asked_for_too(world: World) -> None:
    entry = await world.remember(ANA, "Open at nine.", "public")
    kept = await call(
        world.memory, SilentExchange(), "update_memory", ANA, id=entry.id, content="Open at ten."
    )
    assert kept.status == "pending_approval"
    assert await world.found(CY, "open") == ["Open at nine."]
    await pending_requests(world.memory).decide(kept.approval, CY, True, "")
    assert await world.found(CY, "open") == ["Open at ten."]


async def test_requests_name_people_and_readers_as_all_answers_do(world: World) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    old = await world.remember(ANA, "The gate opens at nine.", shared)
    named = {"policy": "organization", "content": "The gate opens at ten.", "supersedes": [old.id]}
    kept = await call(world.memory, SilentExchange(), "remember", ANA, **named)
    (waiting,) = await listed_for(world.memory, CY)
    assert (waiting.requested_by, waiting.decided_by) == ("Ana", None)
    assert sorted(waiting.readers) == ["Ana", "all members"]
    assert waiting.ends == []
    (page,) = await pending_requests(world.memory).of(CY)
    assert page.asked_by == "person:ana"
    assert sorted(page.shown["readers"]) == ["Ana", "all members"]
    await pending_requests(world.memory).decide(kept.approval, CY, True, "")
    assert await listed_for(world.memory, ANA) == []
    (done,) = await listed_for(world.memory, ANA, state="approved")
    assert (done.requested_by, done.decided_by) == ("you", "Cy")


async def test_several_requests_are_shown_by_their_beginnings_and_one_is_whole() -> None:
    content = "lorem ipsum " * 1500
    ended = [OtherEntry(id="mem_1", content=content)]
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    one = WaitingWrite(
        id="appr_1",
        operation="create",
        entry="mem_2",
        content=content,
        metadata={"title": "Report", "custom": {"all": content}},
        ends=ended,
        readers=[f"Person {n}" for n in range(1000)],
        requested_by="Ana",
        requested_at=moment,
        state="pending",
    )
    short = brief(one)
    assert (short.length, short.metadata) == (len(content), {"title": "Report"})
    assert len(short.model_dump_json()) < 2000
    small = one.model_copy(update={"content": "Short.", "ends": [], "readers": ["Ana"]})
    assert (brief(small).content, brief(small).length) == ("Short.", None)
