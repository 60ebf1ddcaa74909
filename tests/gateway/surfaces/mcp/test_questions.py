"""A call that asks a person waits for them, for a time that is bounded of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import ModuleType
from typing import Any

import pytest

from gateway.testing import TestPortal, open_test_portal

LEGACY = "2025-11-25"
CALL_SECONDS = 1.0


@pytest.fixture(scope="module")
async def hasty() -> AsyncGenerator[TestPortal]:
    """A portal whose calls have little time."""
    from tests.gateway.surfaces.mcp import conftest as moods

    config = {"limits": {"call": "1s", "question": "60s"}}
    async with open_test_portal(moods, config=config, tiers=moods.TIERS) as portal:
        yield portal


async def _asked(portal: TestPortal, moods: ModuleType, tool: str) -> tuple[Any, Any, Any]:
    session = await moods.Wire(portal).begin({"elicitation": {}})
    answer = session.call(tool, LEGACY)
    return session, answer, await answer.event()


async def _accept(session: Any, question: Any) -> None:
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
    assert (await session.send(reply).start()).status == 202


async def test_the_clock_of_a_call_stands_still_while_a_person_is_asked(
    hasty: TestPortal, moods: ModuleType
) -> None:
    session, answer, question = await _asked(hasty, moods, "ask")
    await asyncio.sleep(3 * CALL_SECONDS)
    await _accept(session, question)
    assert (await answer.reply())["result"]["content"][0]["text"] == "They said accept."


async def test_it_goes_on_once_they_have_answered(hasty: TestPortal, moods: ModuleType) -> None:
    session, answer, question = await _asked(hasty, moods, "ask_then_wait")
    await asyncio.sleep(2 * CALL_SECONDS)
    await _accept(session, question)
    result = (await answer.reply())["result"]
    assert "took longer than 1 s" in result["content"][0]["text"]


async def test_two_questions_at_once_stop_it_once(hasty: TestPortal, moods: ModuleType) -> None:
    session, answer, first = await _asked(hasty, moods, "ask_twice")
    second = await answer.event()
    await _accept(session, first)
    await asyncio.sleep(2 * CALL_SECONDS)
    await _accept(session, second)
    text = (await answer.reply())["result"]["content"][0]["text"]
    assert text == "They said accept and accept."


async def test_who_never_answers_holds_a_call_for_so_long_and_no_longer(
    moods: ModuleType,
) -> None:
    config = {"limits": {"call": "10s", "question": "100ms"}}
    async with open_test_portal(moods, config=config, tiers=moods.TIERS) as portal:
        session, answer, question = await _asked(portal, moods, "ask")
        result = (await answer.reply())["result"]
        assert result["isError"]
        text = result["content"][0]["text"]
        assert text == "Nobody has answered elicitation/create within 0.1 s."
        await _accept(session, question)  # too late, and no error of anybody's
        assert portal.running.metrics.in_flight == 0
