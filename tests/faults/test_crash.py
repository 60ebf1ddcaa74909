"""A portal killed while it indexes a real knowledge base finishes the work at its next start."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.faults.conftest import MEMBER, Place, Portal, eventually

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

EMBEDDED = """
services: {embedding: embedded}
plugins: {knowledge: {sources: [{directory: ./content}]}}
"""
MAX_NOTE = 3_000
"""Bytes of a note at most: to embed one takes as long as its text."""


@pytest.fixture
def civic(place: Place, test_data: Path) -> Place:
    place.configure(EMBEDDED)
    repository = test_data / "civic-kb" / "repo"
    notes = (note for note in repository.rglob("*.md") if note.stat().st_size <= MAX_NOTE)
    for note in sorted(notes)[::3]:
        copy = place.content / note.relative_to(repository)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(note, copy)
    return place


def _done(portal: Portal) -> int:
    detail = portal.health()["plugins"]["knowledge"]["detail"]
    return int(detail.split()[1]) if detail.startswith("Indexing: ") else 0


def _keys(portal: Portal) -> list[str]:
    keys: list[str] = []
    while True:
        path = f"/api/v1/entries?limit=100&offset={len(keys)}"
        listed = portal.get(path, headers=MEMBER).json()
        keys += [f"{each['contentType']}/{each['id']}" for each in listed["data"]]
        if len(keys) >= listed["total"]:
            return keys


def _moved_on(portal: Portal, before: int) -> bool:
    return _done(portal) > before or bool(portal.health()["status"] == "ok")


@pytest.mark.timeout(900)
def test_killed_again_and_again_nothing_is_lost_and_nothing_is_there_twice(
    civic: Place, record_property: Callable[[str, object], None]
) -> None:
    record_property("kills", 3)
    unfinished = 0
    for _ in range(3):
        portal = civic.serve()
        eventually(partial(_moved_on, portal, _done(portal)), "a batch is indexed")
        unfinished += portal.health()["status"] != "ok"
        portal.kill()
    assert unfinished
    portal = civic.serve().ready()
    keys = _keys(portal)
    assert len(keys) == len(set(keys)) > 100
    stored = {f"{path.parent.name}/{path.stem}" for path in civic.data.rglob("content/*/*.json")}
    assert stored == set(keys)
    for key in keys[::10]:
        type, id = key.split("/")
        title = portal.get(f"/api/v1/entries/{key}", headers=MEMBER).json()["metadata"]["title"]
        found = [(each["contentType"], each["id"]) for each in portal.search(title, limit=20)]
        assert found.count((type, id)) == 1, title
    assert portal.stop() == 0
    assert "Traceback" not in portal.printed
