"""The circuit breaker: one bounded wait, then none, until the server answers again."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.services.breaker import Breaker, Server

MOMENT = 0.05


class Away(Exception):
    """What callers get."""


class Line:
    """A server that answers, refuses or keeps silent, and knows how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: Callable[[], Awaitable[Any]] = self.well
        self.breaker = Breaker(
            Server("The server", self.ask, (ConnectionError,), Away, MOMENT, "nothing else."),
            self.back,
        )
        self.came_back = 0

    async def ask(self) -> Any:
        self.asked += 1
        return await self.answer()

    async def back(self) -> None:
        self.came_back += 1

    async def well(self) -> str:
        return "well"

    async def heard_late(self) -> str:
        """Answer at once, to a process that stands still before it can read that."""
        loop = asyncio.get_running_loop()
        asker, server = socket.socketpair()
        with asker, server:
            asker.setblocking(False)
            reading = asyncio.ensure_future(loop.sock_recv(asker, 4))
            await asyncio.sleep(0)
            server.send(b"well")
            time.sleep(2 * MOMENT)  # noqa: ASYNC251 -- the process stands still
            return (await reading).decode()

    async def refused(self) -> str:
        raise ConnectionError("refused")

    async def silent(self) -> str:
        return await asyncio.Event().wait() and ""

    async def wrong(self) -> str:
        raise ValueError("no such thing")


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.setattr("gateway.services.breaker.RETRY_INTERVAL_SECONDS", 0.01)
    return Line()


async def closed(line: Line) -> None:
    async with asyncio.timeout(60):
        while line.breaker.is_open:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("fault", ["refused", "silent"])
async def test_a_fault_opens_it_and_an_answer_closes_it(line: Line, fault: str) -> None:
    assert await line.breaker.ask(line.ask) == "well"
    line.answer = getattr(line, fault)
    with pytest.raises(Away):
        await line.breaker.ask(line.ask)
    assert line.breaker.is_open
    (notice,) = line.breaker.notices()
    assert notice.startswith("The server has not answered for 0 s (")
    line.answer = line.well
    await closed(line)
    assert (line.came_back, list(line.breaker.notices())) == (1, [])
    assert await line.breaker.ask(line.ask) == "well"


async def test_nobody_asks_or_waits_while_it_is_open(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.services.breaker.RETRY_INTERVAL_SECONDS", 60)
    line.answer = line.silent
    with pytest.raises(Away, match=r"no answer within 0\.05 s"):
        await line.breaker.ask(line.ask)
    for _ in range(100):
        with pytest.raises(Away):
            await line.breaker.ask(line.ask)
    assert line.asked == 1
    await line.breaker.close()


async def test_of_many_that_ask_at_once_each_waits_once_and_one_tries_again(line: Line) -> None:
    line.answer = line.silent
    answers = await asyncio.gather(
        *(line.breaker.ask(line.ask) for _ in range(50)), return_exceptions=True
    )
    assert {type(each) for each in answers} == {Away}
    line.answer = line.well
    await closed(line)
    assert line.came_back == 1


async def test_a_process_that_stood_still_does_not_take_the_server_for_away(line: Line) -> None:
    line.answer = line.heard_late
    for _ in range(5):
        assert await line.breaker.ask(line.ask) == "well"
    assert not line.breaker.is_open


async def test_a_wrong_question_is_no_outage(line: Line) -> None:
    line.answer = line.wrong
    with pytest.raises(ValueError, match="no such thing"):
        await line.breaker.ask(line.ask)
    assert not line.breaker.is_open


async def test_it_stays_open_while_what_follows_a_return_fails(line: Line) -> None:
    line.answer = line.refused
    with pytest.raises(Away):
        await line.breaker.ask(line.ask)
    fails = [True]

    async def back() -> None:
        line.came_back += 1
        if fails[0]:
            raise ConnectionError("gone again")

    line.breaker._back = back
    line.answer = line.well
    await asyncio.sleep(2 * MOMENT)
    assert line.breaker.is_open
    assert line.came_back
    fails[0] = False
    await closed(line)


async def test_a_probe_that_fails_as_nobody_foresaw_is_made_again(line: Line) -> None:
    line.answer = line.refused
    with pytest.raises(Away):
        await line.breaker.ask(line.ask)
    line.answer = line.wrong
    async with asyncio.timeout(60):
        while "no such thing" not in "".join(line.breaker.notices()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    line.answer = line.well
    await closed(line)
    await line.breaker.close()


async def test_what_follows_a_return_may_fail_as_nobody_foresaw_and_its_end_is_quiet(
    line: Line,
) -> None:
    async def back() -> None:
        line.came_back += 1
        raise LookupError("no such thing")

    line.breaker._back = back
    line.answer = line.refused
    with pytest.raises(Away):
        await line.breaker.ask(line.ask)
    line.answer = line.well
    async with asyncio.timeout(60):
        while line.came_back < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert line.breaker.is_open
    await line.breaker.close()
