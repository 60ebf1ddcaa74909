"""What the portal does now, as it tells its admins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from gateway.contract import Health, Job, Offer, Plugin, Tier, Tool, hookimpl
from gateway.contract.jobs import JobRun
from gateway.server.local import Local
from gateway.surfaces.admin import status as module
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.services.jobs.test_service import reached


async def dig() -> str:
    """Dig a hole."""
    return "dug"


async def fail(run: JobRun, payload: Mapping[str, Any]) -> None:
    raise RuntimeError("no seeds left")


async def health() -> Health:
    return Health("degraded", "No rain.", behind=True)


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    Garden.host = host
    yield Offer(tools=[Tool.of(dig, tier=Tier.MEMBERS)], jobs=[Job("fail", fail)], health=health)


class Garden:
    __name__ = "garden"
    host: Any = None

    @staticmethod
    @hookimpl
    def porch_plugin() -> Plugin:
        return Plugin(name="garden", summary="A garden.", open=_open)


async def told(portal: TestPortal) -> Any:
    transport = httpx2.ASGITransport(app=Local(portal.app))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.get("/admin/status")
    assert answer.status_code == 200
    return answer.json()


async def test_it_tells_of_calls_streams_services_and_plugins() -> None:
    async with open_test_portal(Garden) as portal:
        await portal.call("dig")
        assert (await portal.call("dig", tier="public")).is_error
        found = await told(portal)
    assert found["status"] == "ok"
    assert found["calls"]["outcomes"] == {"ok": 1, "not_allowed": 1}
    assert found["calls"]["at_once"] == 0
    assert found["streams"] == {"mcp": 0, "rest": 0, "sessions": 0}
    services = {each["name"]: each for each in found["services"]}
    assert {name for name, each in services.items() if each["state"] == "ok"} == {
        "database",
        "cache",
        "vectors",
        "embedding",
        "reranker",
    }
    assert services["database"]["address"] == "sqlite"
    (garden,) = found["plugins"]
    assert (garden["name"], garden["state"], garden["detail"]) == ("garden", "degraded", "No rain.")


async def test_it_tells_of_jobs_that_have_failed() -> None:
    async with open_test_portal(Garden) as portal:
        job = await Garden.host.jobs.enqueue("fail", {})
        await reached(Garden.host.jobs, job, "failed")
        (found,) = (await told(portal))["jobs"]
    assert found == {"name": "garden/fail", "oldest_seconds": 0, "ended": {"failed": 1}}


async def test_a_service_that_does_not_answer_is_away_and_its_secret_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(_self: Any) -> None:
        raise OSError("no route to redis://:hunter2hunter2@cache")

    async with open_test_portal(Garden) as portal:
        monkeypatch.setattr(type(portal.running.services.cache), "ready", silent)
        found = await told(portal)
    (cache,) = (each for each in found["services"] if each["name"] == "cache")
    assert (cache["state"], cache["detail"]) == ("away", "no route to redis://:***@cache")


async def test_one_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SERVICE_TIMEOUT_SECONDS", 0.05)

    async def silent(_self: Any) -> None:
        await asyncio.Event().wait()

    async with open_test_portal(Garden) as portal:
        monkeypatch.setattr(type(portal.running.services.vectors), "ready", silent)
        found = await told(portal)
    (vectors,) = (each for each in found["services"] if each["name"] == "vectors")
    assert (vectors["state"], vectors["detail"]) == ("away", "no answer within 0.05 s")


async def test_it_is_for_admins_alone() -> None:
    async with open_test_portal(Garden) as portal:
        for tier in ("open", "members"):
            assert (await portal.get("/admin/status", tier=tier)).status_code == 403
