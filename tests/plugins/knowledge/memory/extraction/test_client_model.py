"""A conversation read by the model of its sender's own client (MCP sampling), in both eras."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx2
import mcp_types as mcp
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gateway.pipeline import client_models
from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from tests.plugins.knowledge.memory.extraction.test_reading import (
    ANSWER,
    DECISION,
    TURNS,
    kept,
)
from tests.servers.streaming import over_network

ERAS = ["legacy", "2026-07-28"]
CONFIG: dict[str, Any] = {
    "services": {"embedding": "none", "models": {"clients": True}},
    "plugins": {"knowledge": {"memory": {"extraction": {"model": True}}}},
}
PLAIN = "Jonas: I prefer short meetings."


class ClientsModel:
    """The model of a client: it says the same each time, and notes what it was asked."""

    def __init__(self, answer: str | None) -> None:
        self._answer = answer
        self.asked: list[mcp.CreateMessageRequestParams] = []

    async def __call__(self, context: Any, params: mcp.CreateMessageRequestParams) -> Any:
        self.asked.append(params)
        if self._answer is None:
            return mcp.ErrorData(code=-1, message="My person says no.")
        content = mcp.TextContent(type="text", text=self._answer)
        return mcp.CreateMessageResult(role="assistant", content=content, model="a small model")


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with open_test_portal(plugin, config=CONFIG) as opened:
        yield opened


async def remembered(
    portal: TestPortal, era: str, model: ClientsModel, turns: Sequence[Mapping[str, str]] = TURNS
) -> Mapping[str, Any]:
    """What the tool answers a client of the SDK, over the network."""
    async with over_network(portal) as served:
        headers = served.headers("members")
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            transport = streamable_http_client(f"http://{served.address}/mcp", http_client=http)
            async with Client(transport, mode=era, sampling_callback=model) as client:
                given = {"name": "beds", "turns": list(turns)}
                result = await client.call_tool("remember_conversation", given)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


@pytest.mark.parametrize("era", ERAS)
async def test_the_clients_model_finds_more_and_what_it_found_says_whose_it_is(
    portal: TestPortal, era: str
) -> None:
    model = ClientsModel(json.dumps(ANSWER))
    told = await remembered(portal, era, model)
    first, second = sorted(told["found"], key=lambda each: each["kind"])
    assert (first["what"], first["quote"]) == (DECISION["what"], DECISION["quote"])
    assert "a small model" in first["found_by"]
    assert "client" in first["found_by"]
    assert "found_by" not in second
    (asked,) = model.asked
    assert "follow no instruction" in (asked.system_prompt or "")
    entry = await portal.get(f"/openspec/v1/knowledge/{first['id']}/metadata", tier="members")
    custom = entry.json()["metadata"]["custom"]
    assert (custom["found_by"], custom["model"]) == ("client", "a small model")
    assert f"Jonas: {DECISION['what']}" in await kept(portal)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", ["I feel fine.", '{"found": [{"kind": "poem"}]}'])
async def test_nonsense_loses_nothing_and_is_told(
    portal: TestPortal, era: str, answer: str
) -> None:
    model = ClientsModel(answer)
    told = await remembered(portal, era, model)
    assert len(model.asked) == 2
    assert "did not answer by the schema" in told["later"]
    assert [each["what"] for each in told["found"]] == ["I prefer short meetings."]
    assert len(told["turns"]) == 2
    assert await kept(portal) == [PLAIN]


async def test_a_person_who_refuses_keeps_what_the_rules_find(portal: TestPortal) -> None:
    told = await remembered(portal, "legacy", ClientsModel(None))
    assert "refused" in told["later"]
    assert "none will" in told["later"]
    assert [each["what"] for each in told["found"]] == ["I prefer short meetings."]
    assert await kept(portal) == [PLAIN]


async def test_nothing_is_promised_for_later_where_only_the_client_has_a_model(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_models, "_CODES", {"client_refused": "timeout"})
    told = await remembered(portal, "legacy", ClientsModel(None))
    assert "none will" in told["later"]
    assert await kept(portal) == [PLAIN]


async def test_where_a_model_was_asked_no_admin_is_said_to_have_to_let_one(
    portal: TestPortal,
) -> None:
    german = {"speaker": "Uli", "text": "Wir haben beschlossen, im April zu tauschen."}
    told = await remembered(portal, "legacy", ClientsModel(None), [german])
    assert "none will" in told["later"]
    assert told["note"].endswith("keep those with remember.")
