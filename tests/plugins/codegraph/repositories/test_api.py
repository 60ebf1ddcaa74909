"""REST for admins: repositories of hosts on the allow-list, and no paths."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.repositories.indexes import Indexes
from tests.servers.git_host import GitHost

AT = "/api/v1/codegraph/repositories"


@pytest.fixture
async def portal(host: GitHost, tmp_path: Path) -> AsyncIterator[TestPortal]:
    section = {"hosts": {"localhost": {}, host.netloc: {"ca_file": str(host.ca_file)}}}
    config = {"plugins": {"codegraph": section}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as opened:
        yield opened


@pytest.fixture
async def admin(portal: TestPortal) -> AsyncIterator[httpx2.AsyncClient]:
    """The portal's own user, over its local socket."""

    async def through_the_socket(scope: Any, receive: Any, send: Any) -> None:
        await portal.app(scope | {"porch.local": True}, receive, send)

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(through_the_socket),
        base_url="http://localhost",
        headers={"Porch-Tier": "members"},
        timeout=60,
    ) as client:
        yield client


async def reached(admin: httpx2.AsyncClient, name: str, state: str) -> dict[str, Any]:
    async with asyncio.timeout(100):
        while True:
            found = (await admin.get(f"{AT}/{name}")).json()
            if found.get("state") == state:
                return dict(found)
            await asyncio.sleep(0.1)


async def test_a_repository_is_added_indexed_asked_and_removed(
    portal: TestPortal,
    admin: httpx2.AsyncClient,
    host: GitHost,
    tree: Path,
) -> None:
    added = await admin.post(AT, json={"url": host.url("plants/garden.git"), "tier": "public"})
    assert (added.status_code, added.json()["name"]) == (200, "garden")
    assert added.json()["state"] in ("waiting", "indexing")
    ready = await reached(admin, "garden", "ready")
    assert ready["summary"]["files"] == 2
    assert ready["commit"]
    assert [each["name"] for each in (await admin.get(AT)).json()["repositories"]] == ["garden"]
    found = await portal.call("get_function", {"name": "pour"}, tier="public")
    assert not found.is_error, found.text
    assert (await admin.post(AT, json={"url": host.url("plants/garden.git")})).status_code == 400
    assert (await admin.post(f"{AT}/garden/index")).status_code == 200
    await reached(admin, "garden", "ready")
    removed = await admin.delete(f"{AT}/garden")
    assert removed.json()["name"] == "garden"
    assert (await admin.get(f"{AT}/garden")).status_code == 404
    gone = await portal.call("get_function", {"name": "pour"}, tier="public")
    assert gone.is_error
    async with asyncio.timeout(60):
        while True:
            if not (await portal.health())["plugins"]["codegraph"]["facts"]["removing"]:
                break
            await asyncio.sleep(0.2)


async def test_a_removal_ends_the_job_that_indexes_and_purges_what_it_wrote(
    portal: TestPortal,
    admin: httpx2.AsyncClient,
    host: GitHost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def never(*args: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(Indexes, "index", never)
    await admin.post(AT, json={"url": host.url("plants/garden.git")})
    async with asyncio.timeout(60):
        await begun.wait()
    assert (await reached(admin, "garden", "indexing"))["name"] == "garden"
    assert (await admin.delete(f"{AT}/garden")).status_code == 200
    async with asyncio.timeout(60):
        await ended.wait()
        while True:
            if not (await portal.health())["plugins"]["codegraph"]["facts"]["removing"]:
                break
            await asyncio.sleep(0.2)
    monkeypatch.undo()
    await admin.post(AT, json={"url": host.url("plants/garden.git")})
    await reached(admin, "garden", "ready")


async def test_a_repository_that_cannot_be_fetched_says_why(
    portal: TestPortal,
    admin: httpx2.AsyncClient,
    host: GitHost,
) -> None:
    await admin.post(AT, json={"url": host.url("plants/none.git")})
    failed = await reached(admin, "none", "failed")
    assert "git says" in failed["message"]
    health = (await portal.health())["plugins"]["codegraph"]
    assert health["state"] == "degraded"
    assert "none: " in health["detail"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"url": "https://elsewhere.example/a/b"}, "not on the list of hosts"),
        ({"url": "https://localhost:1/a/b"}, "localhost:1 is not on the list of hosts"),
        ({"url": "/etc"}, "no https address"),
        ({"url": "."}, "no https address"),
        ({"url": "file:///etc"}, "no https address"),
        ({"url": "ext::sh -c id"}, "no https address"),
        ({"url": "http://localhost/a"}, "no https address"),
        ({"path": "/etc"}, "path"),
        ({"url": "https://localhost/a", "name": "../a"}, "cannot be a repository's name"),
        ({"url": "https://localhost/a", "branch": "-x"}, "name of a branch"),
        ({"url": "https://localhost/a", "tier": "admins"}, "tier"),
        ({}, "url"),
    ],
)
async def test_what_is_no_address_of_a_listed_host_is_refused(
    admin: httpx2.AsyncClient, body: dict[str, Any], reason: str
) -> None:
    answer = await admin.post(AT, json=body)
    assert answer.status_code == 400
    assert reason in answer.json()["error"]["message"]
    assert (await admin.get(AT)).json()["repositories"] == []


async def test_members_and_strangers_see_none_of_it(portal: TestPortal) -> None:
    for method, path in (
        *(("GET", AT), ("POST", AT), ("GET", f"{AT}/x"), ("DELETE", f"{AT}/x")),
        ("POST", f"{AT}/x/index"),
    ):
        for tier, status in (("members", 403), ("open", 401)):
            answer = await portal.http(tier).request(method, path)
            assert answer.status_code == status, (method, path, tier)


async def test_a_name_that_is_not_there_is_not_found(admin: httpx2.AsyncClient) -> None:
    for method, path in (("GET", "x"), ("DELETE", "x"), ("POST", "x/index")):
        assert (await admin.request(method, f"{AT}/{path}")).status_code == 404
