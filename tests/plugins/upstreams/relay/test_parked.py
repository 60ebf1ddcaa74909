"""A call that asks waits for its client's next request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import mcp_types as mcp
import pytest

from gateway.contract import Exchange, Relayed, ToolFailed
from gateway.pipeline.exchange import SilentExchange
from plugins.upstreams.relay.parked import Parked
from plugins.upstreams.wire import Back

FORM = {"requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}


class Asked(SilentExchange):
    """A request of a client that can be asked, perhaps with its answer."""

    client_capabilities: Mapping[str, Any] = {"elicitation": {}}

    def __init__(self, state: str | None = None, answer: Any = None) -> None:
        self.request_state = state
        self.input_responses = None if answer is None else {"question": answer}


async def asks_twice_at_once(back: Back) -> Mapping[str, Any]:
    first, second = await asyncio.gather(
        back.ask("elicitation/create", FORM | {"message": "first"}),
        back.ask("elicitation/create", FORM | {"message": "second"}),
    )
    return {"answers": [first["content"], second["content"]]}


def request(state: str | None = None, answer: Any = None) -> Exchange:
    return cast(Exchange, Asked(state, answer))


def question(asked: Any) -> str:
    assert isinstance(asked, mcp.InputRequiredResult)
    shown = asked.model_dump(mode="json", by_alias=True)["inputRequests"]["question"]
    return str(shown["params"]["message"])


async def test_questions_that_come_at_once_are_asked_one_after_the_other() -> None:
    parked = Parked()
    asked = await parked.call(asks_twice_at_once, request())
    assert question(asked) == "first"
    asked = await parked.call(asks_twice_at_once, request(asked.request_state, {"content": 1}))
    assert question(asked) == "second"
    done = await parked.call(asks_twice_at_once, request(asked.request_state, {"content": 2}))
    assert done == Relayed({"answers": [1, 2]})


async def test_an_answer_goes_to_its_call_once() -> None:
    parked = Parked()
    asked = await parked.call(asks_twice_at_once, request())
    await parked.call(asks_twice_at_once, request(asked.request_state, {"content": 1}))
    with pytest.raises(ToolFailed) as refused:
        await parked.call(asks_twice_at_once, request(asked.request_state, {"content": 1}))
    assert refused.value.code == "call_is_over"
    await parked.close()


async def test_a_question_that_is_none_ends_the_call_with_a_typed_error() -> None:
    ended = asyncio.Event()

    async def asks_nonsense(back: Back) -> Mapping[str, Any]:
        try:
            return await back.ask("elicitation/create", {"message": 7})
        finally:
            ended.set()

    with pytest.raises(ToolFailed) as refused:
        await Parked().call(asks_nonsense, request())
    assert refused.value.code == "server_failed"
    await asyncio.wait_for(ended.wait(), 60)
