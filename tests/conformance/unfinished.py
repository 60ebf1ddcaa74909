"""Tools of the "everything" plugin whose first answer asks for more (SEP-2322)."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def unfinished_tools(host: Host) -> list[Tool]:
    def given(*keys: str) -> Mapping[str, Any] | None:
        answers = host.exchange().input_responses or {}
        good = all(isinstance(answers.get(key), Mapping) for key in keys)
        return answers if good else None

    async def test_input_required_result_elicitation() -> Any:
        """Needs a name."""
        answers = given("user_name")
        name = ((answers or {}).get("user_name", {}).get("content") or {}).get("name")
        return f"Hello, {name}!" if name else need({"user_name": _NAME})

    async def test_input_required_result_sampling() -> Any:
        """Needs the client's model."""
        answers = given("capital_question")
        if not answers:
            question = sample("What is the capital of France?", 100)
            return need({"capital_question": question})
        return json.dumps(answers["capital_question"])

    async def test_input_required_result_list_roots() -> Any:
        """Needs the client's roots."""
        answers = given("client_roots")
        return json.dumps(answers["client_roots"]) if answers else need({"client_roots": ROOTS})

    async def test_input_required_result_request_state() -> Any:
        """Needs a confirmation, and keeps a state."""
        if not given("confirm"):
            return need({"confirm": _CONFIRM}, "round-1")
        return "state-ok" if host.exchange().request_state == "round-1" else "state-lost"

    async def test_input_required_result_tampered_state() -> Any:
        """Needs a confirmation, and keeps a state that must not be changed."""
        return "Done." if given("confirm") else need({"confirm": _CONFIRM}, "round-1")

    async def test_input_required_result_multiple_inputs() -> Any:
        """Needs three things at once."""
        if given("user_name", "greeting", "client_roots"):
            return "Thank you."
        greeting = sample("Generate a greeting", 50)
        needs = {"user_name": _NAME, "greeting": greeting, "client_roots": ROOTS}
        return need(needs, "round-1")

    async def test_input_required_result_multi_round() -> Any:
        """Needs one thing after the other."""
        state = host.exchange().request_state
        if state == "round-1" and given("step1"):
            color = elicit("Step 2: What is your favorite color?", color={"type": "string"})
            return need({"step2": color}, "round-2")
        if state == "round-2" and given("step2"):
            return "Thank you."
        name = elicit("Step 1: What is your name?", name={"type": "string"})
        return need({"step1": name}, "round-1")

    async def test_input_required_result_capabilities() -> Any:
        """Needs whatever the client can give."""
        offers = {
            "elicitation": ("user_name", _NAME),
            "sampling": ("greeting", sample("Generate a greeting", 50)),
        }
        can = host.exchange().client_capabilities
        needs = dict(need for name, need in offers.items() if name in can)
        return need(needs) if needs else "This client can give nothing."

    async def test_missing_capability() -> Any:
        """Needs sampling."""
        return need({"greeting": sample("Generate a greeting", 50)})

    async def test_streaming_elicitation() -> Any:
        """Reports progress, then needs a name."""
        await host.exchange().progress(1, 2)
        return need({"user_name": _NAME})

    return [
        Tool.of(each)
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
