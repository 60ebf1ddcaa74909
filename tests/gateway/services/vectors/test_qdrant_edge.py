"""What only the embedded store can get wrong: files, other processes and sudden ends."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.contract.services import CollectionSpec, Condition, Point, Sparse, VectorQuery
from gateway.services.vectors import disk_room, edge_config
from gateway.services.vectors.qdrant_edge import EdgeCollection, EdgeVectors
from gateway.services.vectors.store import VectorsUnavailable

SPEC = CollectionSpec(dense={"text": 3}, sparse=("words",), indexed={"year": "integer"})
EAST = np.array([1, 0, 0], dtype=np.float32)

WRITER = """
import asyncio, sys, time
from pathlib import Path
import numpy as np
from gateway.contract.services import CollectionSpec, Point
from gateway.services.vectors.qdrant_edge import EdgeVectors

async def main():
    spec = CollectionSpec(dense={"text": 3}, sparse=("words",), indexed={"year": "integer"})
    things = await EdgeVectors(Path(sys.argv[1])).collection("things", spec)
    for number in range(10_000):
        east = np.array([1, 0, 0], dtype=np.float32)
        await things.upsert([Point(str(number), dense={"text": east}, payload={"year": number})])
        print(number, flush=True)

asyncio.run(main())
"""


def start_writer(directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory)], stdout=subprocess.PIPE, text=True
    )


async def test_points_are_there_after_closing_and_opening_again(tmp_path: Path) -> None:
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    await things.upsert([Point("x", dense={"text": EAST}, payload={"year": 1})])
    await store.close()
    again = EdgeVectors(tmp_path)
    [[hit]] = await (await again.collection("things", SPEC)).search([VectorQuery("text", EAST)])
    assert hit.id == "x"
    await again.close()


async def test_what_was_written_outlives_kill_9(tmp_path: Path) -> None:
    writer = start_writer(tmp_path)
    assert writer.stdout is not None
    written = [int(writer.stdout.readline()) for _ in range(20)][-1]
    writer.send_signal(signal.SIGKILL)
    written = max([written, *(int(line) for line in writer.communicate()[0].split())])
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    assert await things.count() in (written + 1, written + 2)
    await store.close()


async def test_a_restart_finds_the_same_collection(tmp_path: Path) -> None:
    identities = []
    for _ in range(2):
        store = EdgeVectors(tmp_path)
        identities.append((await store.collection("things", SPEC)).identity)
        await store.close()
    assert identities[0] == identities[1]


async def test_a_store_in_use_by_another_process_says_so(tmp_path: Path) -> None:
    writer = start_writer(tmp_path)
    assert writer.stdout is not None
    writer.stdout.readline()
    for spec in (SPEC, CollectionSpec(dense={"text": 5})):
        with pytest.raises(VectorsUnavailable, match="Another process"):
            await EdgeVectors(tmp_path).collection("things", spec)
    with pytest.raises(VectorsUnavailable, match="Another process"):
        await EdgeVectors(tmp_path).drop("things")
    assert (tmp_path / "things" / "spec.json").is_file()
    writer.kill()
    writer.communicate()


async def test_damaged_files_are_named_with_what_to_do(tmp_path: Path) -> None:
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    await things.upsert([Point("x", dense={"text": EAST})])
    await store.close()
    for file in (tmp_path / "things" / "shard" / "segments").rglob("version.info"):
        file.write_bytes(b"junk")
    with pytest.raises(VectorsUnavailable, match=r"things is damaged .* Remove that folder"):
        await EdgeVectors(tmp_path).collection("things", SPEC)


async def test_damaged_files_may_be_dropped(tmp_path: Path) -> None:
    store = EdgeVectors(tmp_path)
    await store.collection("things", SPEC)
    await store.close()
    for file in (tmp_path / "things" / "shard" / "segments").rglob("version.info"):
        file.write_bytes(b"junk")
    again = EdgeVectors(tmp_path)
    await again.drop("things")
    assert await (await again.collection("things", SPEC)).count() == 0
    await again.close()


async def test_a_collection_whose_making_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    store = EdgeVectors(tmp_path)
    await store.collection("things", SPEC)
    await store.close()
    (tmp_path / "things" / "spec.json").unlink()
    again = EdgeVectors(tmp_path)
    things = await again.collection("things", SPEC)
    assert await things.count() == 0
    await again.close()


async def test_mostly_deleted_points_are_compacted_by_a_flush(tmp_path: Path) -> None:
    from gateway.contract.services import Condition

    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    points = [Point(str(n), dense={"text": EAST}, payload={"year": n}) for n in range(3000)]
    await things.upsert(points)
    await things.delete([Condition("year", at_least=100)])
    await things.flush()
    [hits] = await things.search([VectorQuery("text", EAST, limit=500)])
    assert {hit.id for hit in hits} == {str(n) for n in range(100)}
    await store.close()


@pytest.mark.parametrize(
    "point",
    [
        Point("x", dense={"text": np.ones(4, dtype=np.float32)}),
        Point("x", dense={"other": EAST}),
        Point("x", sparse={"other": Sparse((1,), (1.0,))}),
        Point("x", sparse={"words": Sparse((1, 2), (1.0,))}),
    ],
)
async def test_a_vector_that_does_not_fit_the_spec_is_refused(tmp_path: Path, point: Point) -> None:
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    with pytest.raises(ValueError, match="does not fit"):
        await things.upsert([point])
    with pytest.raises(ValueError, match="does not fit"):
        await things.search([VectorQuery("text", np.ones(9, dtype=np.float32))])
    assert await things.count() == 0
    await store.close()


async def test_the_directory_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    with pytest.raises(OSError, match=os.strerror(20)):
        await EdgeVectors(blocked).collection("things", SPEC)


async def test_a_nearly_full_disk_is_a_clear_error_and_not_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", SPEC)
    monkeypatch.setattr(disk_room, "RESERVE_BYTES", 2**62)
    with pytest.raises(OSError, match="Make room") as full:
        await things.upsert([Point("a", {"text": EAST})])
    assert full.value.errno == errno.ENOSPC
    assert await things.count() == 0
    await store.close()
    again = EdgeVectors(tmp_path)
    with pytest.raises(VectorsUnavailable, match=r"not opened.*Make room"):
        await again.collection("things", SPEC)
    await again.close()


async def test_a_collection_that_cannot_be_flushed_keeps_none_from_closing(tmp_path: Path) -> None:
    store = EdgeVectors(tmp_path)
    east = Point("a", {"text": EAST})
    for name in ("lost", "things"):
        await (await store.collection(name, SPEC)).upsert([east])
    shutil.rmtree(tmp_path / "lost" / "shard" / "segments")
    await store.close()
    again = EdgeVectors(tmp_path)
    assert await (await again.collection("things", SPEC)).count() == 1
    await again.close()


WIDE = CollectionSpec(dense={"text": 384}, indexed={"year": "integer"})


def _about_subjects(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors near a hundred subjects, as those of texts are."""
    random = np.random.default_rng(seed)
    subjects = np.random.default_rng(0).normal(size=(100, 384))
    found = subjects[random.integers(0, 100, count)] + 0.9 * random.normal(size=(count, 384))
    unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit.astype(np.float32)


async def _nearest(things: EdgeCollection, asked: NDArray[np.float32]) -> list[set[str]]:
    queries = [VectorQuery("text", one, (Condition("year", at_least=1),), 10) for one in asked]
    return [{hit.id for hit in hits} for hits in await things.search(queries)]


async def test_a_large_collection_finds_nearly_all_that_an_exact_search_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", WIDE)
    vectors, asked = _about_subjects(3000, 1), _about_subjects(20, 2)
    await things.upsert(
        [
            Point(f"{row}", {"text": one}, payload={"year": row % 3})
            for row, one in enumerate(vectors)
        ]
    )
    exact = await _nearest(things, asked)
    monkeypatch.setattr(edge_config, "APPROXIMATE_POINTS", 3000)
    found = await _nearest(things, asked)
    await store.close()
    shown = np.arange(3000) % 3 >= 1
    wanted = [
        {f"{row}" for row in np.argsort(-np.where(shown, vectors @ one, -1))[:10]} for one in asked
    ]
    assert sum(len(a & b) for a, b in zip(exact, wanted, strict=True)) >= 199  # half precision
    assert sum(len(a & b) for a, b in zip(found, wanted, strict=True)) >= 198


async def test_a_collection_of_an_older_version_gets_the_settings_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import qdrant_edge as edge

    half = edge.VectorStorageDatatype.Float16
    wide = edge.EdgeVectorParams(384, edge.Distance.Cosine, datatype=half, memory=edge.Memory.Cold)
    before = edge.EdgeConfig(vectors={"text": wide})
    monkeypatch.setattr("gateway.services.vectors.qdrant_edge.config", lambda spec: before)
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", WIDE)
    identity = things.identity
    vectors = _about_subjects(500, 1)
    points = [
        Point(f"{row}", {"text": one}, payload={"year": 1}) for row, one in enumerate(vectors)
    ]
    await things.upsert(points[:400])
    await store.close()
    monkeypatch.undo()
    monkeypatch.setattr(edge_config, "APPROXIMATE_POINTS", 100)
    store = EdgeVectors(tmp_path)
    things = await store.collection("things", WIDE)
    await things.upsert(points[400:])
    await things.flush()
    found = await _nearest(things, vectors[::50])
    await store.close()
    assert things.identity == identity
    assert all(f"{row * 50}" in ids for row, ids in enumerate(found))
