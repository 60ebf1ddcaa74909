"""What servers offer is made into the portal's items once, and again where there is news."""

from __future__ import annotations

from gateway.catalog.items import Item
from gateway.contract import SOURCE_MARK
from gateway.testing import TestPortal
from tests.plugins.upstreams.far import Restartable, far_server
from tests.plugins.upstreams.portals import portal_before, until, until_offered


def items(portal: TestPortal) -> dict[str, Item]:
    return {each.name: each for each in portal.running.catalog.items()}


async def test_a_server_that_goes_away_has_nothing_of_others_made_again() -> None:
    flapping = Restartable("modern")
    flapping.start()
    with far_server() as far:
        async with portal_before(far.url, flapping.url) as portal:
            for name in ("far__add", "far1__add"):
                await until_offered(portal, name)
            before = items(portal)
            flapping.stop()
            assert (await portal.call("far1__add", {"a": 1, "b": 2}, tier="open")).is_error

            async def is_marked() -> bool:
                return SOURCE_MARK in (items(portal)["far1__add"].entry.get("_meta") or {})

            await until(is_marked)
            after = items(portal)
    for name in ("far__add", "far__slow", "why_missing"):
        assert after[name] is before[name]
    assert after["far1__add"] is not before["far1__add"]
