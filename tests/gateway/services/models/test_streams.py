"""Agents of the gateway's own on a metered model: streams, tools, and those that give up."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent

from auth import Caller, Tier
from gateway.contract import ModelFailed
from gateway.services.database.service import OwnedDatabase
from gateway.services.models.records import Purpose
from tests.gateway.services.models.conftest import Opened, every_api, rows
from tests.servers.openai_compatible import OpenAICompatible, Reply, ToolCall, failing

pytestmark = pytest.mark.one_database
CHAT = Purpose("gateway", "chat", Caller("person:anna", Tier.MEMBERS), "chat")


@every_api
async def test_each_request_of_an_agent_that_streams_and_calls_tools_is_metered(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(
        Reply(calls=[ToolCall("look", {"what": "sky"})]), Reply(text="It is blue.", pause_s=0.1)
    )
    agent = Agent(await opened().chat_model(CHAT))

    @agent.tool_plain
    def look(what: str) -> str:
        return f"The {what} is blue."

    async with agent.run_stream("What colour is it?") as result:
        said = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
    assert "".join(said).strip() == "It is blue."
    assert len(said) > 1
    assert "The sky is blue." in server.asked[1].texts()
    found = await rows(database)
    assert [row["outcome"] for row in found] == ["ok", "ok"]
    assert {each.call for each in server.asked} == {row["id"] for row in found}
    assert {row["person"] for row in found} == {"person:anna"}
    assert sum(row["tokens_in"] for row in found) == server.billed["prompt_tokens"]
    assert sum(row["tokens_out"] for row in found) == server.billed["completion_tokens"]


@every_api
async def test_a_stream_that_breaks_off_is_a_failure_and_metered(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(Reply(text="one two three four five", cut=500))
    agent = Agent(await opened().chat_model(CHAT))
    with pytest.raises(ModelFailed) as failed:
        async with agent.run_stream("Count.") as result:
            _ = [piece async for piece in result.stream_text(delta=True)]
    assert failed.value.code == "provider_down"
    assert [row["outcome"] for row in await rows(database)] == ["provider_down"]


@every_api
async def test_a_stream_that_somebody_leaves_is_cancelled(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(Reply(text="one two three four five", pause_s=0.01))
    agent = Agent(await opened().chat_model(CHAT))
    with pytest.raises(ZeroDivisionError):
        async with agent.run_stream("Count.") as result:
            async for _ in result.stream_text(delta=True, debounce_by=None):
                raise ZeroDivisionError
    assert [row["outcome"] for row in await rows(database)] == ["cancelled"]


@every_api
async def test_what_fails_before_a_stream_begins_is_tried_again(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(failing(503), Reply(text="Here."))
    agent = Agent(await opened(retries=1).chat_model(CHAT))
    async with agent.run_stream("Where?") as result:
        assert (await result.get_output()).strip() == "Here."
    assert [row["outcome"] for row in await rows(database)] == ["provider_down", "ok"]
