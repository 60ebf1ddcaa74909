"""A manifest is written whole now and then, and what changed in between; nothing is ever lost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.services.objects import ObjectService
from plugins.knowledge.sync import manifest_log
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.manifest_log import Folder, ManifestLog, own_log
from tests.examples import examples

DATE = datetime(2024, 10, 16, tzinfo=UTC)
KEY = "metadata/manifest.json"


class Counted(ObjectService):
    """A real store that counts the bytes written to it, and can die after a write."""

    written = 0
    left = -1

    async def put(self, key: str, data: bytes) -> None:
        if self.left == 0:
            raise OSError("killed")
        self.left -= 1
        self.written += len(data)
        await super().put(key, data)


def record(stamp: str) -> FileRecord:
    return FileRecord(stamp=stamp, date=DATE)


def manifest(**stamps: str) -> Manifest:
    return Manifest(rules="r", files={path: record(stamp) for path, stamp in stamps.items()})


@pytest.fixture
def store(tmp_path: Path) -> Counted:
    return Counted(str(tmp_path))


async def test_a_save_of_one_change_writes_that_change_alone(store: Counted) -> None:
    log = ManifestLog(store)
    files = {f"notes/{number}.md": record("a") for number in range(3000)}
    whole = Manifest(files=files)
    await log.write(whole)
    before = store.written
    await log.write(whole.model_copy(update={"files": {**files, "notes/7.md": record("b")}}))
    assert store.written - before < before / 100
    read = await ManifestLog(store).read()
    assert read is not None
    assert (len(read.files), read.files["notes/7.md"].stamp) == (3000, "b")


async def test_what_adds_up_is_written_whole_and_changes_go(
    store: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_log, "MAX_CHANGES", 3)
    log = ManifestLog(store)
    for number in range(12):
        await log.write(manifest(a=str(number)))
    kept = [info.key async for info in store.list("metadata/manifest/")]
    assert len(kept) <= 3
    assert await ManifestLog(store).read() == manifest(a="11")


steps = st.lists(
    st.tuples(
        st.sampled_from([0, 1]),
        st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz")),
        st.lists(st.sampled_from("pq"), max_size=2),
    ),
    max_size=12,
)


@given(steps=steps, whole_after=st.integers(1, 5))
@settings(max_examples=examples(50), deadline=None)
@pytest.mark.anyio
async def test_of_several_writers_the_last_ones_word_stays(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, dict[str, str], list[str]]],
    whole_after: int,
) -> None:
    store = ObjectService(str(tmp_path_factory.mktemp("log")))
    writers = [ManifestLog(store), ManifestLog(store)]
    before, manifest_log.MAX_CHANGES = manifest_log.MAX_CHANGES, whole_after
    try:
        for writer, stamps, pending in steps:
            wanted = manifest(**stamps).model_copy(update={"pending": pending})
            stamp = await writers[writer].stamp()
            await writers[writer].write(wanted)
            assert await writers[writer].stamp() != stamp
            assert await writers[1 - writer].read() == wanted
            assert await ManifestLog(store).read() == wanted
    finally:
        manifest_log.MAX_CHANGES = before


@pytest.mark.parametrize("left", range(4))
async def test_a_process_killed_while_it_writes_leaves_the_old_one_or_the_new_one(
    store: Counted, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    monkeypatch.setattr(manifest_log, "MAX_CHANGES", 2)
    log = ManifestLog(store)
    saved = []
    for number in range(3):
        saved.append(manifest(a=str(number)))
        await log.write(saved[-1])
    store.left = left
    try:
        for number in range(3, 6):
            saved.append(manifest(a=str(number)))
            await log.write(saved[-1])
    except OSError:
        pass
    store.left = -1
    assert await ManifestLog(store).read() in saved[-2:]
    again = ManifestLog(store)
    await again.read()
    await again.write(manifest(b="new"))
    assert await ManifestLog(store).read() == manifest(b="new")


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": 99}'])
async def test_a_damaged_manifest_is_none_and_a_damaged_change_ends_what_is_known(
    store: Counted, damage: bytes
) -> None:
    log = ManifestLog(store)
    for stamp in "xyz":
        await log.write(manifest(a=stamp))
    await store.put("metadata/manifest/00000002.json", damage)
    assert await ManifestLog(store).read() == manifest(a="y")
    await store.put(KEY, damage)
    assert await ManifestLog(store).read() is None
    assert await log.read() is None


async def test_a_processs_own_manifest_lies_in_a_folder(tmp_path: Path) -> None:
    log = own_log(tmp_path / "manifest.json")
    assert await log.read() is None
    for stamp in "xyz":
        await log.write(manifest(a=stamp))
    assert sorted(path.name for path in (tmp_path / "manifest").iterdir()) == [
        "00000001.json",
        "00000002.json",
    ]
    assert await own_log(tmp_path / "manifest.json").read() == manifest(a="z")
    assert await Folder(tmp_path).get("absent") is None


class Overtaken(ObjectService):
    """A real store in which somebody else writes before one of the writes that are to come."""

    left = -1
    other: ManifestLog
    theirs = Manifest()

    async def put(self, key: str, data: bytes) -> None:
        self.left -= 1
        if self.left == 0:
            await self.other.write(self.theirs)
        await super().put(key, data)


@pytest.mark.parametrize("known", [0, 1, 3])
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_of_two_who_write_at_once_what_lies_there_leads_to_one_whole_word(
    tmp_path: Path, known: int, at: int
) -> None:
    store = Overtaken(str(tmp_path))
    one, store.other = ManifestLog(store), ManifestLog(ObjectService(str(tmp_path)))
    for number in range(known):
        await one.write(manifest(a=str(number)))
    await store.other.read()
    await store.other.write(manifest(a="before", b="x"))
    await one.read()
    store.theirs, store.left = manifest(a="theirs", b="x", c="y"), at
    await one.write(manifest(a="mine", b="x"))
    assert await ManifestLog(store).read() == manifest(a="mine", b="x")
    store.left = -1
    await store.other.write(manifest(a="last"))
    assert await ManifestLog(store).read() == await one.read() == manifest(a="last")
