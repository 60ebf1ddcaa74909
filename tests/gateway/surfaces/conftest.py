"""What tests of the surfaces share."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from gateway.contract import Cache
from gateway.services.cache.address import open_cache
from gateway.surfaces.http import open_streams
from gateway.surfaces.rest import streams
from gateway.testing import open_test_portal
from tests.gateway.surfaces import ticking
from tests.servers.streaming import Served, over_network


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    tiers = {"items": {"ticking": "public"}}
    async with open_test_portal(ticking, tiers=tiers) as portal:
        async with over_network(portal) as opened:
            yield opened


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the portal does after a time it does at once."""
    monkeypatch.setattr(open_streams, "RECHECK_SECONDS", 0.02)
    monkeypatch.setattr(open_streams, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(streams, "STALL_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(streams, "_LAST_EVENT_SECONDS", 0.05)
    monkeypatch.setattr(streams, "_DISCONNECT_SECONDS", 0.05)


@pytest.fixture(params=["memory", "redis"])
async def cache(request: pytest.FixtureRequest) -> AsyncIterator[Cache]:
    """A cache of the test's own, in memory and on a server."""
    kind = request.param
    service = open_cache("memory" if kind == "memory" else request.getfixturevalue("redis_url"))
    yield service.scoped(f"test-{uuid.uuid4().hex}")
    await service.close()
