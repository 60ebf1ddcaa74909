"""Servers that go away while the portal serves, a full disk, a locked database: it goes on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx2
import pytest

from tests.faults.conftest import JSON, MEMBER, Place, Portal, eventually
from tests.journeys.balancer import empty_database
from tests.mcp_messages import INITIALIZE
from tests.servers.cable import cabled

pytestmark = pytest.mark.heavy


def _answers(portal: Portal, id: str = "garden") -> bool:
    return id in [each["id"] for each in portal.search(id)]


def _audited(place: Place) -> int:
    with closing(sqlite3.connect(place.data / "porch.db")) as database:
        count: int = database.execute("SELECT count(*) FROM porch_audit").fetchone()[0]
    return count


def test_redis_may_go_away_and_come_back(place: Place, redis_url: str) -> None:
    place.page("garden", "Garden")
    place.configure("services: {embedding: none, cache: env:ADDRESS}")
    with cabled(redis_url) as cable:
        portal = place.serve(ADDRESS=cable.url).ready()
        cable.cut()
        assert _answers(portal)
        begun = httpx2.post(f"{portal.url}/mcp", headers=JSON | MEMBER, json=INITIALIZE, timeout=60)
        assert begun.status_code < 500
        cable.join()
        place.page("later", "Later")
        eventually(lambda: _answers(portal, "later"), "the new page is found")
        assert portal.stop() == 0
    assert "Traceback" not in portal.printed


def test_postgresql_may_go_away_and_come_back(place: Place, postgres_url: str) -> None:
    place.page("garden", "Garden")
    place.configure("services: {embedding: none, database: env:ADDRESS}")
    with empty_database(postgres_url) as postgres, cabled(postgres) as cable:
        portal = place.serve(ADDRESS=cable.url).ready()

        def told(said: str) -> bool:
            return any(each.startswith(said) for each in portal.health()["notices"])

        cable.cut()
        assert _answers(portal)
        for said in ("Audit records cannot be written (", "The database has not answered for "):
            eventually(partial(told, said), "the admin is told")
        assert portal.health()["status"] == "degraded"
        assert portal.get("/readyz").status_code == 200
        place.page("later", "Later")
        eventually(lambda: _answers(portal, "later"), "the new page is found meanwhile")
        cable.join()
        eventually(lambda: not portal.health()["notices"], "the records are written")
        assert portal.health()["status"] == "ok"
        assert portal.stop() == 0
    assert "Traceback" not in portal.printed


def test_calls_are_answered_and_recorded_though_the_audit_database_is_locked(
    place: Place,
) -> None:
    place.page("garden", "Garden")
    portal = place.serve().ready()
    eventually(lambda: _audited(place) == 0, "the table is there")
    with closing(sqlite3.connect(place.data / "porch.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        for _ in range(5):
            assert _answers(portal)
        assert _audited(place) == 0
        holder.execute("ROLLBACK")
    eventually(lambda: _audited(place) == 5, "every call is recorded")


@contextmanager
def _small_disk(at: Path) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root may mount the small disk that this test fills")
    at.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(at)]
    mounted = subprocess.run(options, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


def _fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(b"x" * 2**20):
            pass


def test_on_a_full_disk_the_old_index_serves_until_there_is_room(place: Place) -> None:
    for name, title in (("garden", "Garden"), ("withdrawn", "Withdrawn")):
        place.page(name, title)
    with _small_disk(place.data):
        portal = place.serve().ready()
        _fill(place.data / "everything-else")
        place.page("later", "Later")
        (place.content / "withdrawn.md").unlink()

        def knowledge() -> dict[str, str]:
            state: dict[str, str] = portal.health()["plugins"]["knowledge"]
            return state

        eventually(lambda: knowledge()["state"] == "degraded", "it says so")
        assert "no room left" in knowledge()["detail"]
        assert _answers(portal)
        assert not _answers(portal, "withdrawn")
        assert portal.get("/api/v1/entries/pattern/garden", headers=MEMBER).status_code == 200
        (place.data / "everything-else").unlink()
        eventually(lambda: knowledge()["state"] == "ok", "there is room again")
        assert _answers(portal, "later")
        assert portal.stop() == 0
        assert "Traceback" not in portal.printed
        again = place.serve().ready()
        assert _answers(again)
        assert _answers(again, "later")
        assert not _answers(again, "withdrawn")
        assert again.stop() == 0
