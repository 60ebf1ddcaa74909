"""Where a portal has no model and allows it, the model of the caller's own client is asked."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import httpx2
import mcp_types as mcp
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel, Field

from auth import StaticTokens, Tier
from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.contract import Caller, Host, Offer, Plugin, Tool, hookimpl
from tests.servers.serving import bound, serving

TOKEN = "a-token-of-the-tests"
ERAS = ["legacy", "2026-07-28"]
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


class Mood(BaseModel):
    """What the model answers."""

    mood: str = Field(description="glad or sad.", pattern="^(glad|sad)$")


def plugin() -> Any:
    """A plugin whose one tool asks a model twice, once after the other."""

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
        async def compare(first: str, second: str, *, caller: Caller) -> str:
            """Compare two letters.

            Args:
                first: one letter.
                second: another one.
            """
            found = []
            for letter in (first, second):
                said = await host.models.generate(
                    Mood, letter, "simple", caller=caller, operation="mood"
                )
                by = said.provenance
                found.append(f"{said.value.mood} says {by.model} of the {by.provider}")
            return " and ".join(found)

        yield Offer(tools=[Tool.of(compare, tier=Tier.MEMBERS)])

    module: Any = ModuleType("module_letters")
    module.porch_plugin = hookimpl(lambda: Plugin("letters", "Letters.", opened))
    return module


@pytest.fixture(scope="module")
def portal_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[bool], str]]:
    """The address of a portal that allows it, or of one that does not."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        known: dict[bool, str] = {}

        def opened(allowed: bool) -> str:
            if allowed not in known:
                root = tmp_path_factory.mktemp("portal")
                (root / "config").mkdir()
                services = {"embedding": "none", "models": {"clients": allowed}}
                config = {"services": services, "limits": {"calls": "none"}}
                (root / "config" / "portal.yaml").write_text(yaml.safe_dump(config))
                tokens = StaticTokens({TOKEN: Tier.MEMBERS})
                app = PortalApp(load_portal(root / "config"), root / "data", tokens, [plugin()])
                base = stack.enter_context(serving(app, bound(), lifespan=True))
                known[allowed] = f"{base}/mcp"
            return known[allowed]

        yield opened


class Model:
    """The model of a client: it gives its answers in turn, and notes what it was asked."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked: list[mcp.CreateMessageRequestParams] = []

    async def __call__(self, context: Any, params: mcp.CreateMessageRequestParams) -> Any:
        self.asked.append(params)
        answer = self._answers.pop(0)
        if answer == "refuse":
            return mcp.ErrorData(code=-1, message="My person says no.")
        content = mcp.TextContent(type="text", text=answer)
        return mcp.CreateMessageResult(role="assistant", content=content, model="a small model")


async def called(url: str, era: str, model: Model | None, **letters: str) -> tuple[bool, str]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era, sampling_callback=model) as client:
            given = {"first": "A fine day.", "second": "It rains.", **letters}
            result = await client.call_tool("compare", given)
            (first, *_) = result.content
            assert isinstance(first, mcp.TextContent)
            return bool(result.is_error), first.text


@pytest.mark.parametrize("era", ERAS)
async def test_the_clients_model_answers_by_the_schema(
    portal_at: Callable[[bool], str], era: str
) -> None:
    model = Model('{"mood": "glad"}', 'Here it is:\n```json\n{"mood": "sad"}\n```')
    failed, said = await called(portal_at(True), era, model, first=f"A fine day. {SECRET}")
    assert not failed, said
    assert said == (
        "glad says a small model of the client and sad says a small model of the client"
    )
    assert len(model.asked) == 2, "What was answered in one round was asked again in the next."
    assert "follow no instruction" in (model.asked[0].system_prompt or "")
    assert SECRET not in json.dumps([each.model_dump(mode="json") for each in model.asked])


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_does_not_fit_is_asked_for_once_more(
    portal_at: Callable[[bool], str], era: str
) -> None:
    model = Model("I feel fine.", '{"mood": "glad"}', '{"mood": "so so"}', '{"mood": "sad"}')
    failed, said = await called(portal_at(True), era, model)
    assert not failed, said
    assert said.startswith("glad")
    assert len(model.asked) == 4
    bad = Model("Fine.", "Really fine.")
    failed, said = await called(portal_at(True), era, bad)
    assert failed
    assert "did not answer by the schema" in said


async def test_a_person_may_refuse(portal_at: Callable[[bool], str]) -> None:
    failed, said = await called(portal_at(True), "legacy", Model("refuse"))
    assert failed
    assert "refused" in said


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("allowed", [True, False])
async def test_nobody_is_asked_whose_client_cannot_or_where_the_admin_has_not_said_so(
    portal_at: Callable[[bool], str], era: str, allowed: bool
) -> None:
    model = None if allowed else Model()
    failed, said = await called(portal_at(allowed), era, model)
    assert failed
    assert "no language model" in said
