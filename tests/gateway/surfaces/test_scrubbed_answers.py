"""Secrets in answers: whatever a plugin answers, no caller is shown one, on any surface."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import mcp_types as mcp
import pytest
from pydantic import BaseModel

from gateway.contract import (
    Caller,
    Offer,
    Plugin,
    Prompt,
    Resource,
    ResourceTemplate,
    Route,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.testing import open_test_portal
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(7))
MARK = "[REDACTED: GitHub personal access token (classic)]"
TIERS = "items: {demo: open}\n"


class Nothing(BaseModel):
    kind: str = "model"


class Held(BaseModel):
    text: str
    before: str = ""


async def _tell(args: Nothing, caller: Caller) -> Any:
    text = f"token: '{TOKEN}'"
    if args.kind == "error":
        raise ToolFailed("bad_text", f"No: {text}", {"near": text})
    answers: dict[str, Any] = {
        "model": Held(text=text),
        "long": Held(text=text, before="a line of text\n" * 60_000),
        "mapping": {"text": text},
        "text": text,
        "blocks": [mcp.TextContent(type="text", text=text)],
    }
    return answers[args.kind]


async def _model(args: Nothing, caller: Caller) -> Held:
    return Held(text=TOKEN)


async def _text(args: Any, caller: Caller) -> str:
    return f"see {TOKEN}"


async def _bytes(caller: Caller) -> bytes:
    return f"see {TOKEN}".encode()


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(
        tools=[Tool("tell", "Tells.", _tell, args=Nothing), Tool("show", "Shows.", _model)],
        prompts=[Prompt("say", "Says.", _text)],
        resources=[Resource("demo://bytes", "bytes", "Bytes.", _bytes)],
        templates=[ResourceTemplate("demo://of/{id}", "demo", "Demo.", _text)],
        routes=[Route("GET", "/show", _model, "show", Nothing, Held, "Shows.")],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("demo", "A demo.", _open)


PLUGIN = sys.modules[__name__]


@pytest.mark.parametrize("kind", ["model", "long", "mapping", "text", "blocks", "error"])
async def test_no_tool_answers_with_a_secret(kind: str) -> None:
    async with open_test_portal(PLUGIN, tiers=TIERS) as portal:
        answer = await portal.call("tell", {"kind": kind})
        shown = json.dumps(answer.structured) + answer.text
        assert TOKEN not in shown
        assert MARK in shown


async def test_no_prompt_resource_or_route_answers_with_a_secret() -> None:
    async with open_test_portal(PLUGIN, tiers=TIERS) as portal:
        for shown in (
            str(await portal.prompt("say")),
            await portal.read("demo://of/one"),
            (await portal.get("/api/v1/demo/show")).text,
        ):
            assert TOKEN not in shown
            assert MARK in shown
        assert TOKEN not in str(await portal.read("demo://bytes"))


async def test_the_admin_learns_which_item_and_what_kind_and_never_the_secret() -> None:
    async with open_test_portal(PLUGIN, tiers=TIERS) as portal:
        await portal.call("tell", {"kind": "model"})
        notices = (await portal.health())["notices"]
        (told,) = [each for each in notices if "demo/tell" in each]
        assert "GitHub personal access token (classic)" in told
        assert TOKEN not in told


@pytest.mark.parametrize("config", [{"as_is": ["demo"]}, {"enabled": False}])
async def test_an_admin_may_leave_answers_as_they_are(config: dict[str, Any]) -> None:
    async with open_test_portal(PLUGIN, tiers=TIERS, config={"scrubbing": config}) as portal:
        assert TOKEN in (await portal.call("tell", {"kind": "model"})).text
