import asyncio
from collections.abc import Callable

import pytest

from gateway.change_bus import CHANNEL, Changes
from gateway.contract import Change
from gateway.services.cache.address import open_cache

TOOLS = Change("demo", "tools")
PAGE = Change("demo", "resource", "demo://page")


class Ear:
    """A listener that can be waited for."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[Change] = asyncio.Queue()

    def __call__(self, change: Change) -> None:
        self.heard.put_nowait(change)

    async def next(self) -> Change:
        return await asyncio.wait_for(self.heard.get(), 60)


@pytest.fixture
def cache():
    return open_cache("memory")


@pytest.fixture
async def changes(cache):
    changes = Changes(cache)
    async with changes.carried():
        yield changes


async def test_a_change_reaches_every_listener_as_it_was(changes):
    ears = [Ear(), Ear()]
    for ear in ears:
        changes.listen(ear)
    changes.publish(PAGE)
    assert [await ear.next() for ear in ears] == [PAGE, PAGE]


async def test_a_change_reaches_the_other_replicas(changes, cache):
    ear = Ear()
    other = Changes(cache)
    other.listen(ear)
    async with other.carried():
        changes.publish(TOOLS)
        assert await ear.next() == TOOLS


async def test_a_listener_that_has_stopped_hears_no_more(changes):
    gone, ear = Ear(), Ear()
    stop = changes.listen(gone)
    changes.listen(ear)
    stop()
    stop()
    changes.publish(TOOLS)
    await ear.next()
    assert gone.heard.empty()


async def test_a_listener_that_breaks_takes_nothing_from_the_others(changes):
    def broken(change: Change) -> None:
        raise RuntimeError

    ear = Ear()
    changes.listen(broken)
    changes.listen(ear)
    for change in (TOOLS, PAGE):
        changes.publish(change)
    assert {await ear.next(), await ear.next()} == {TOOLS, PAGE}


@pytest.mark.parametrize("noise", [b"", b"\xff", b"[]", b"5", b"{}", b'{"plugin":"x","new":1}'])
async def test_noise_on_the_channel_does_not_end_the_news(changes, cache, noise):
    ear = Ear()
    changes.listen(ear)
    await cache.publish(CHANNEL, noise)
    changes.publish(TOOLS)
    assert await ear.next() == TOOLS


async def test_a_listener_may_stop_while_it_hears(changes):
    ear = Ear()
    stops: list[Callable[[], None]] = []

    def once(change: Change) -> None:
        ear(change)
        stops[0]()

    stops.append(changes.listen(once))
    last = Ear()
    changes.listen(last)
    for _ in range(2):
        changes.publish(TOOLS)
        await last.next()
    assert ear.heard.qsize() == 1
