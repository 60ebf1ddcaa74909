"""Secrets in arguments: no handler sees one, and every caller is told, whatever the surface."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, Field

from gateway.cli.mcp_client import RequestRefused
from gateway.contract import (
    Caller,
    Offer,
    Plugin,
    Prompt,
    ResourceTemplate,
    Route,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.errors import ConfigError
from gateway.observability.audit_record import AuditRecord
from gateway.scrubbing.report import META_KEY
from gateway.scrubbing.scrubber import Scrubber
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(1))
PASSWORD = made("{alnum:14}", Random(2))
DIFF = f"@@ -1 +1,2 @@\n a = 1\n+token = '{TOKEN}'\n"
TIERS = "items: {demo: open}\n"
seen: list[Any] = []
"""What the plugin was given."""


class Given(BaseModel):
    text: str = ""
    data: str = ""
    env: dict[str, str] = {}
    title: str = Field("", max_length=20)


class Held(BaseModel):
    text: str


async def _hold(args: Given, caller: Caller) -> Held:
    seen.append(args.model_dump(exclude_defaults=True))
    return Held(text=args.text)


async def _fail(args: Given, caller: Caller) -> Held:
    seen.append(args.model_dump(exclude_defaults=True))
    raise ToolFailed("bad_text", f"This is no text: {args.text}")


async def _render(args: Given, caller: Caller) -> str:
    seen.append(args.text)
    if args.text == "bad [REDACTED]":
        raise ToolFailed("bad_text", "No.")
    return args.text


async def _read(variables: Any, caller: Caller) -> str:
    seen.append(variables["id"])
    return str(variables["id"])


async def _complete(typed: str, others: Any, caller: Caller) -> list[str]:
    seen.append(typed)
    return [typed]


async def _ask(args: Given, caller: Caller) -> Any:
    seen.append(_host[0].exchange().input_responses)
    return "done"


_host: list[Any] = []


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    _host[:] = [host]
    yield Offer(
        tools=[
            Tool("hold", "Holds.", _hold, args=Given, result=Held, opaque=("data",)),
            Tool("fail", "Fails.", _fail, args=Given),
            Tool("ask", "Asks.", _ask, args=Given),
        ],
        prompts=[Prompt("say", "Says.", _render, args=Given, complete={"text": _complete})],
        templates=[ResourceTemplate("demo://{id}", "demo", "Demo.", _read)],
        routes=[
            Route("GET", "/hold/{text}", _hold, "hold", Given, Held, "Hold."),
            Route("GET", "/fail", _fail, "fail", Given, Held, "Fail."),
            Route("POST", "/hold", _hold, "hold", Given, Held, "Hold."),
        ],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("demo", "A demo.", _open)


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    seen.clear()
    async with open_test_portal(sys.modules[__name__], tiers=TIERS) as portal:
        yield portal


async def test_a_long_argument_is_looked_through_too(portal: TestPortal) -> None:
    result = await portal.mcp("open").call("hold", {"text": "many words\n" * 20_000 + DIFF})
    assert TOKEN not in json.dumps([result, seen])
    assert result["structuredContent"]["text"].endswith("+token = '[REDACTED]'\n")


async def test_an_argument_above_its_limit_is_refused_before_anything_looks_through_it(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Scrubber, "arguments")
    result = await portal.mcp("open").call("hold", {"title": f"{TOKEN} " * 5_000})
    assert result["isError"] is True
    assert "title: has 205000 characters; 20 is the limit" in json.dumps(result)
    assert TOKEN not in json.dumps(result)
    assert seen == []


async def test_many_short_arguments_are_looked_through_beside_the_event_loop(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    looked = Scrubber.arguments

    def watched(self: Scrubber, *args: Any) -> Any:
        threads.append(threading.current_thread())
        return looked(self, *args)

    monkeypatch.setattr(Scrubber, "arguments", watched)
    for count in (9, 2_000):
        env = {f"NAME{n}": "a few words of it" for n in range(count)} | {"LAST": DIFF}
        await portal.mcp("open").call("hold", {"env": env})
        assert seen[-1]["env"]["LAST"] == DIFF.replace(TOKEN, "[REDACTED]")
    main = threading.main_thread()
    assert threads[0] is main
    assert threads[-1] is not main


async def test_a_tool_never_sees_a_secret_and_its_caller_reads_of_it(portal: TestPortal) -> None:
    result = await portal.mcp("open").call("hold", {"text": DIFF})
    clean = DIFF.replace(TOKEN, "[REDACTED]")
    assert seen == [{"text": clean}]
    assert result["structuredContent"] == {"text": clean}
    assert json.loads(result["content"][0]["text"]) == {"text": clean}
    assert result["content"][1]["text"].startswith(
        "Redacted before use: GitHub personal access token (classic) in `text`, line 3. "
    )
    assert result["_meta"][META_KEY] == [
        {
            "kind": "GitHub personal access token (classic)",
            "rule": "github-classic-token",
            "argument": "text",
            "line": 3,
        }
    ]
    assert "io.modelcontextprotocol/serverInfo" in result["_meta"]
    assert TOKEN not in json.dumps(result)


async def test_a_call_without_secrets_is_answered_as_ever(portal: TestPortal) -> None:
    result = await portal.mcp("open").call("hold", {"text": "a plain text, with nothing in it"})
    assert META_KEY not in result["_meta"]
    assert len(result["content"]) == 1


async def test_nested_values_and_names_are_looked_at_and_opaque_ones_are_not(
    portal: TestPortal,
) -> None:
    env = {"DB_PASSWORD": PASSWORD, TOKEN: "x"}
    await portal.call("hold", {"env": env, "data": TOKEN}, tier="open")
    assert seen == [
        {"env": {"DB_PASSWORD": "[REDACTED]", "[REDACTED]": "x"}, "data": TOKEN},
    ]


async def test_a_failure_says_it_too_and_keeps_its_json_last(portal: TestPortal) -> None:
    result = await portal.mcp("open").call("fail", {"text": f"see {TOKEN}"})
    first, told, last = (block["text"] for block in result["content"])
    assert result["isError"] is True
    assert first == "This is no text: see [REDACTED]"
    assert told.startswith("Redacted before use: ")
    assert json.loads(last)["error"]["code"] == "bad_text"


async def test_what_is_wrong_with_an_argument_is_said_without_the_secret(
    portal: TestPortal,
) -> None:
    result = await portal.mcp("open").call("hold", {"env": TOKEN})
    assert result["isError"] is True
    assert TOKEN not in json.dumps(result)


async def test_a_prompts_arguments_are_scrubbed(portal: TestPortal) -> None:
    params = {"name": "say", "arguments": {"text": f"Use {TOKEN} now"}}
    result = await portal.mcp("open").request("prompts/get", params)
    assert result["messages"][0]["content"]["text"] == "Use [REDACTED] now"
    assert [each["argument"] for each in result["_meta"][META_KEY]] == ["text"]


async def test_an_error_tells_of_it_in_its_data(portal: TestPortal) -> None:
    params = {"name": "say", "arguments": {"text": f"bad {TOKEN}"}}
    with pytest.raises(RequestRefused) as refused:
        await portal.mcp("open").request("prompts/get", params)
    assert [each["rule"] for each in refused.value.data[META_KEY]] == ["github-classic-token"]


async def test_a_resources_variables_are_scrubbed(portal: TestPortal) -> None:
    result = await portal.mcp("open").request("resources/read", {"uri": f"demo://{TOKEN}"})
    assert seen == ["[REDACTED]"]
    assert result["contents"][0] | {"mimeType": ""} == {
        "uri": "demo://[REDACTED]",
        "text": "[REDACTED]",
        "mimeType": "",
    }
    assert [each["argument"] for each in result["_meta"][META_KEY]] == ["id"]


async def test_a_completions_text_is_scrubbed(portal: TestPortal) -> None:
    params = {
        "ref": {"type": "ref/prompt", "name": "say"},
        "argument": {"name": "text", "value": TOKEN},
    }
    await portal.mcp("open").request("completion/complete", params)
    assert seen == ["[REDACTED]"]


async def test_rest_tells_of_it_in_a_header_and_no_cache_keeps_the_answer(
    portal: TestPortal,
) -> None:
    answer = await portal.http("open").get(f"/api/v1/demo/hold/{TOKEN}")
    assert answer.json() == {"text": "[REDACTED]"}
    assert answer.headers["porch-redacted"] == 'github-classic-token;in="text"'
    assert answer.headers["cache-control"] == "no-store"
    plain = await portal.http("open").get("/api/v1/demo/hold/plain-enough-to-stay")
    assert "porch-redacted" not in plain.headers
    assert plain.headers["cache-control"].startswith("public")


async def test_a_body_is_scrubbed_and_a_failure_tells_of_it(portal: TestPortal) -> None:
    body = {"text": DIFF, "env": {"API_KEY": PASSWORD}, "data": TOKEN}
    answer = await portal.http("open").post("/api/v1/demo/hold", json=body)
    assert answer.status_code == 200
    assert seen[0] == {
        "text": DIFF.replace(TOKEN, "[REDACTED]"),
        "env": {"API_KEY": "[REDACTED]"},
        "data": TOKEN,
    }
    assert answer.headers["porch-redacted"].startswith('github-classic-token;in="text";line=3, ')
    failed = await portal.http("open").get("/api/v1/demo/fail", params={"text": f"x {TOKEN}"})
    assert failed.status_code == 400
    assert failed.headers["porch-redacted"] == 'github-classic-token;in="text"'
    assert TOKEN not in failed.text


async def test_what_was_taken_out_is_counted_and_logged_without_it(
    portal: TestPortal, capsys: pytest.CaptureFixture[str]
) -> None:
    await portal.call("hold", {"text": DIFF}, tier="open")
    metrics = portal.running.metrics.render().decode()
    assert 'porch_secrets_redacted_total{item="hold",rule="github-classic-token"} 1.0' in metrics
    written = "".join(capsys.readouterr())
    assert "arguments_scrubbed" in written
    assert TOKEN not in written


async def test_a_name_that_is_a_secret_is_in_no_record(portal: TestPortal) -> None:
    records: list[AuditRecord] = []
    write = portal.running.audit.write

    def recorded(record: AuditRecord) -> None:
        records.append(record)
        write(record)

    portal.running.audit.write = recorded  # type: ignore[method-assign]
    with pytest.raises(RequestRefused):
        await portal.call(TOKEN, tier="open")
    assert [each.item for each in records] == ["[REDACTED]"]


async def test_an_answer_to_a_question_is_scrubbed(portal: TestPortal) -> None:
    answers = {"q": {"action": "accept", "content": {"name": f"it is {TOKEN}"}}}
    params = {"name": "ask", "arguments": {}, "inputResponses": answers}
    result = await portal.mcp("open").request("tools/call", params)
    assert seen[0]["q"]["content"] == {"name": "it is [REDACTED]"}
    assert META_KEY in result["_meta"]


async def test_an_admin_may_turn_it_off_or_leave_rules_out() -> None:
    for scrubbing in ({"enabled": False}, {"allow": ["github-classic-token"]}):
        seen.clear()
        config = {"scrubbing": scrubbing}
        async with open_test_portal(sys.modules[__name__], tiers=TIERS, config=config) as portal:
            await portal.call("hold", {"text": f"see {TOKEN}"}, tier="open")
        assert seen == [{"text": f"see {TOKEN}"}]


async def test_a_rule_that_there_is_not_is_a_mistake_by_its_line() -> None:
    config = {"scrubbing": {"allow": ["github-clasic-token"]}}
    with pytest.raises(ConfigError, match="did you mean github-classic-token"):
        async with open_test_portal(sys.modules[__name__], tiers=TIERS, config=config):
            pass


async def test_a_tool_that_declares_an_argument_opaque_has_it() -> None:
    @asynccontextmanager
    async def opened(config: Any, host: Any) -> AsyncGenerator[Offer]:
        yield Offer(tools=[Tool("t", "T.", _hold, args=Given, opaque=("dta",))])

    module = ModuleType("typo")
    module.porch_plugin = hookimpl(lambda: Plugin("typo", "T.", opened))  # type: ignore[attr-defined]
    async with open_test_portal(module) as portal:
        notices = str((await portal.http("open").get("/readyz")).json())
    assert "declares dta opaque" in notices
