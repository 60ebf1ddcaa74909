"""What the embedded store has mapped and read as it opened is not held."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gateway.contract.services import CollectionSpec, Condition, Point, VectorQuery
from gateway.services.vectors import qdrant_edge
from gateway.services.vectors.qdrant_edge import EdgeVectors

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it asks Linux")

SPEC = CollectionSpec(dense={"text": 3}, indexed={"year": "integer", "kind": "keyword"})
POINTS = 2_000


def held(directory: Path) -> int:
    """Bytes of the files below a directory that this process holds."""
    total, counted = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            counted = f"{directory}/" in line
        elif counted and words[0] == "Rss:":
            total += int(words[1]) * 1024
    return total


def points() -> Sequence[Point]:
    """Points of three kinds."""
    turns = [np.array([n % 7, n % 5, 1], dtype=np.float32) for n in range(POINTS)]
    return [
        Point(f"p{n}", {"text": turn}, payload={"year": n, "kind": f"kind-{n % 3}"})
        for n, turn in enumerate(turns)
    ]


async def test_pages_that_were_read_at_the_opening_are_let_go_of_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    await things.upsert(points())
    await store.close()

    with monkeypatch.context() as patched:
        patched.setattr(qdrant_edge, "let_go_of_pages", lambda directory: None)
        kept = EdgeVectors(tmp_path)
        await kept.collection("things", SPEC)
        before = held(tmp_path)
        await kept.close()
    again = EdgeVectors(tmp_path)
    things = await again.collection("things", SPEC)
    assert held(tmp_path) < before / 4
    assert await things.count() == POINTS
    where = (Condition("kind", any_of=("kind-1",)),)
    east = np.array([0, 0, 1], dtype=np.float32)
    (hits,) = await things.search([VectorQuery("text", east, where, limit=9, payload=("year",))])
    assert len(hits) == 9
    assert {hit.payload["year"] % 3 for hit in hits} == {1}
    await again.close()
