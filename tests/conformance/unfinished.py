"""Tools of the "everything" plugin that ask: in rounds (SEP-2322), or while they run.

Each says what it needs to know, and goes on once it does. A client of 2026-07-28 answers with its
next request; one of an older revision is asked at once.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as mcp

from gateway.contract import Host, Tool


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def elicit(message: str, **properties: Any) -> dict[str, Any]:
    params = {"message": message, "requestedSchema": obj(**properties)}
    return {"method": "elicitation/create", "params": params}


def sample(text: str, most: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    params = {"messages": messages, "maxTokens": most}
    return {"method": "sampling/createMessage", "params": params}


ROOTS = {"method": "roots/list", "params": {}}


def need(requests: Mapping[str, Any], state: str | None = None) -> mcp.InputRequiredResult:
    return mcp.InputRequiredResult.model_validate(
        {"inputRequests": requests, "requestState": state}
    )


_NAME = elicit("What is your name?", name={"type": "string"})
_CONFIRM = elicit("Please confirm", ok={"type": "boolean"})


@dataclass(frozen=True)
class Round:
    """One round of a call.

    Attributes:
        args: the call's arguments.
        answers: to what was asked in the round before.
        state: kept from that round.
    """

    args: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)
    state: str | None = None

    def given(self, *keys: str) -> bool:
        """Whether all of these were answered."""
        return all(isinstance(self.answers.get(key), Mapping) for key in keys)


Run = Callable[[Round], Awaitable[Any]]


async def in_rounds(host: Host, run: Run, args: Mapping[str, Any]) -> Any:
    """What a call answers in the end, or what its client has to answer first."""
    exchange = host.exchange()
    result = await run(Round(args, exchange.input_responses or {}, exchange.request_state))
    while isinstance(result, mcp.InputRequiredResult) and exchange.can_ask:
        needs = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        answers = {
            name: await exchange.ask(each["method"], each.get("params", {}))
            for name, each in needs["inputRequests"].items()
        }
        result = await run(Round(args, answers, needs.get("requestState")))
    return result


def asking_tool(host: Host, run: Run, **arguments: Any) -> Tool:
    """A tool that asks; its name and summary are those of the function."""

    async def call(args: Any, caller: Any) -> Any:
        return await in_rounds(host, run, args)

    return Tool(run.__name__, run.__doc__ or "", call, input_schema=obj(**arguments))


def unfinished_tools(host: Host) -> list[Tool]:
    async def test_input_required_result_elicitation(now: Round) -> Any:
        """Needs a name."""
        name = (now.answers.get("user_name", {}).get("content") or {}).get("name")
        return f"Hello, {name}!" if name else need({"user_name": _NAME})

    async def test_input_required_result_sampling(now: Round) -> Any:
        """Needs the client's model."""
        if not now.given("capital_question"):
            question = sample("What is the capital of France?", 100)
            return need({"capital_question": question})
        return json.dumps(now.answers["capital_question"])

    async def test_input_required_result_list_roots(now: Round) -> Any:
        """Needs the client's roots."""
        if not now.given("client_roots"):
            return need({"client_roots": ROOTS})
        return json.dumps(now.answers["client_roots"])

    async def test_input_required_result_request_state(now: Round) -> Any:
        """Needs a confirmation, and keeps a state."""
        if not now.given("confirm"):
            return need({"confirm": _CONFIRM}, "round-1")
        return "state-ok" if now.state == "round-1" else "state-lost"

    async def test_input_required_result_tampered_state(now: Round) -> Any:
        """Needs a confirmation, and keeps a state that must not be changed."""
        return "Done." if now.given("confirm") else need({"confirm": _CONFIRM}, "round-1")

    async def test_input_required_result_multiple_inputs(now: Round) -> Any:
        """Needs three things at once."""
        if now.given("user_name", "greeting", "client_roots"):
            return "Thank you."
        greeting = sample("Generate a greeting", 50)
        needs = {"user_name": _NAME, "greeting": greeting, "client_roots": ROOTS}
        return need(needs, "round-1")

    async def test_input_required_result_multi_round(now: Round) -> Any:
        """Needs one thing after the other."""
        if now.state == "round-1" and now.given("step1"):
            color = elicit("Step 2: What is your favorite color?", color={"type": "string"})
            return need({"step2": color}, "round-2")
        if now.state == "round-2" and now.given("step2"):
            return "Thank you."
        name = elicit("Step 1: What is your name?", name={"type": "string"})
        return need({"step1": name}, "round-1")

    async def test_input_required_result_capabilities(now: Round) -> Any:
        """Needs whatever the client can give."""
        if now.answers:
            return "Thank you."
        offers = {
            "elicitation": ("user_name", _NAME),
            "sampling": ("greeting", sample("Generate a greeting", 50)),
        }
        can = host.exchange().client_capabilities
        needs = dict(need for name, need in offers.items() if name in can)
        return need(needs) if needs else "This client can give nothing."

    async def test_missing_capability(now: Round) -> Any:
        """Needs sampling."""
        if now.given("greeting"):
            return "Thank you."
        return need({"greeting": sample("Generate a greeting", 50)})

    async def test_streaming_elicitation(now: Round) -> Any:
        """Reports progress, then needs a name."""
        if now.given("user_name"):
            return "Thank you."
        await host.exchange().progress(1, 2)
        return need({"user_name": _NAME})

    return [
        asking_tool(host, each)
        for each in (
            test_input_required_result_elicitation,
            test_input_required_result_sampling,
            test_input_required_result_list_roots,
            test_input_required_result_request_state,
            test_input_required_result_tampered_state,
            test_input_required_result_multiple_inputs,
            test_input_required_result_multi_round,
            test_input_required_result_capabilities,
            test_missing_capability,
            test_streaming_elicitation,
        )
    ]
