"""A member who changes their connection while it is used troubles nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import until, until_offered

AWAY_SECONDS = 60.0


@pytest.fixture(params=["modern", "legacy"])
def guarded(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    with guarded_server(request.param) as guarded:
        yield guarded


class Held:
    """Holds the server back in what it does, from its own thread."""

    def __init__(self) -> None:
        self._reached, self._freed = threading.Event(), threading.Event()

    async def __call__(self, *given: Any) -> dict[str, Any]:
        self._reached.set()
        await asyncio.to_thread(self._freed.wait, AWAY_SECONDS)
        return {"content": []}

    async def reached(self) -> None:
        """Wait until it is."""
        assert await asyncio.to_thread(self._reached.wait, AWAY_SECONDS)

    def free(self) -> None:
        """Let it go on."""
        self._freed.set()


async def server_of(portal: TestPortal) -> Any:
    """What the portal says of the server."""
    health = portal.running.plugins.offers["upstreams"].health
    assert health is not None
    return (await health()).facts["servers"]["far"]


async def test_the_server_does_not_count_as_down_where_a_call_was_under_way(
    guarded: Guarded,
) -> None:
    held = guarded.far.answers["slow"] = Held()
    async with portal_of(guarded) as portal:
        ana, ben = [await member(portal, name) for name in ("ana", "ben")]
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        await ben.connect(guarded)
        calling = asyncio.create_task(portal.call("far__slow", {}, tier="ana"))
        await held.reached()
        await ana.disconnect()
        refused = await calling
        held.free()
        assert "The account at far that this call used was changed meanwhile." in refused.text
        assert "It may have done what it was asked" in refused.text
        assert (await ben.add()).structured == {"sum": 3}
        assert (await server_of(portal))["state"] == "up"


async def test_the_server_does_not_count_as_down_where_it_was_being_listed(
    guarded: Guarded,
) -> None:
    held = guarded.far.before_listing = Held()
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await held.reached()
        states = set[str]()

        async def is_read_anew() -> bool:
            states.add((facts := await server_of(portal))["state"])
            return facts["asked"] is not None

        await ana.connect(guarded)
        for _ in range(20):  # longer than the portal takes to look again
            await is_read_anew()
            await asyncio.sleep(0.02)
        held.free()
        await until(is_read_anew)
        assert "down" not in states
        assert (await ana.add()).structured == {"sum": 3}
