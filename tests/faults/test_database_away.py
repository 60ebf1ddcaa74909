"""PostgreSQL is cut off or silent: what needs none is served, and the rest is refused at once."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from tests.faults.conftest import JSON, MEMBER, Place, Portal, eventually, modern
from tests.journeys.balancer import empty_database
from tests.mcp_messages import INITIALIZE
from tests.servers.cable import Cable, cabled

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

AT_ONCE_SECONDS = 5.0
"""A bound far above what an answer takes on a busy machine, and far below a wait for PostgreSQL."""
CONFIG = """
services: {embedding: none, database: env:ADDRESS}
plugins:
  knowledge: {sources: [{directory: ./content}]}
  workflows: {starter: false}
  codegraph: {enabled: false}
"""
TIERS = "items: {knowledge: open, workflows: open}\n"
STRANGER = {name: value for name, value in JSON.items() if name != "authorization"}
SEARCH = {"name": "search_knowledge", "arguments": {"query": "garden"}}
WORKFLOWS = {"name": "get_available_workflows", "arguments": {"task": "prune"}}


def ask(portal: Portal, method: str, **params: object) -> httpx2.Response:
    """What a stranger is answered, in the modern era and at once."""
    request = modern(method, **params)
    headers = {n: v for n, v in request["headers"].items() if n != "authorization"}
    body = request["json"]
    return httpx2.post(f"{portal.url}/mcp", headers=headers, json=body, timeout=AT_ONCE_SECONDS)


def finds(portal: Portal) -> bool:
    return bool(
        ask(portal, "tools/call", **SEARCH).json()["result"]["structuredContent"]["results"]
    )


def is_refused(portal: Portal) -> bool:
    """Whether a call that needs the database says that it is away."""
    try:
        result = ask(portal, "tools/call", **WORKFLOWS).json()["result"]
    except httpx2.TimeoutException:  # the one that found out
        return False
    return bool(result.get("isError")) and "Try again in a minute" in result["content"][0]["text"]


@pytest.mark.parametrize("fault", [Cable.cut, Cable.freeze], ids=["cut", "silent"])
def test_what_needs_no_database_is_served_and_the_rest_is_refused_at_once(
    place: Place, postgres_url: str, fault: Callable[[Cable], None]
) -> None:
    place.page("garden", "Garden")
    place.configure(CONFIG)
    (place.root / "config" / "tiers.yaml").write_text(TIERS)
    plain = postgres_url.replace("+asyncpg", "")
    with empty_database(plain) as postgres, cabled(postgres) as line:
        portal = place.serve(ADDRESS=line.url).ready()
        assert not ask(portal, "tools/call", **WORKFLOWS).json()["result"].get("isError")
        fault(line)
        eventually(lambda: is_refused(portal), "it is known to be away")
        for _ in range(5):
            assert finds(portal)
            assert is_refused(portal)
            assert ask(portal, "tools/list").json()["result"]["tools"]
        begun = httpx2.post(
            f"{portal.url}/mcp", headers=STRANGER, json=INITIALIZE, timeout=AT_ONCE_SECONDS
        )
        assert begun.status_code == 200
        found = httpx2.get(f"{portal.url}/api/v1/search?q=garden", timeout=AT_ONCE_SECONDS)
        assert found.json()["results"]
        check_health(portal)
        line.join()
        line.thaw()
        eventually(lambda: portal.health()["status"] == "ok", "it is back")
        eventually(lambda: not is_refused(portal), "it is used again")
        assert portal.stop() == 0
    assert "Traceback" not in portal.printed


def check_health(portal: Portal) -> None:
    """Balancers go on sending, and an admin reads why not all is well."""
    said = httpx2.get(f"{portal.url}/readyz", timeout=AT_ONCE_SECONDS)
    assert said.status_code == 200, said.text
    assert said.json()["status"] == "degraded"
    assert any("The database has not answered for" in each for each in said.json()["notices"])
    stranger = {"x-forwarded-for": "192.0.2.7", **MEMBER}
    said = httpx2.get(f"{portal.url}/healthz", headers=stranger, timeout=AT_ONCE_SECONDS)
    assert said.status_code == 200
