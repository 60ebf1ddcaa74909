"""Processes that share a store serve the same, whichever of them has synced."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract import Tier
from gateway.services.objects import ObjectService
from tests.examples import examples


def replicas(make: Any, root: Path, *, own_index: bool) -> list[Any]:
    """Two processes on one store and the same notes, with an index each, or one for both."""
    shared = ObjectService(str(root / "objects"))
    made = []
    for name in ("first", "second"):
        (root / name).mkdir()
        replica = make(root / name, shared)
        replica.config["sources"] = [{"directory": root / "first" / "notes"}]
        if own_index:
            replica.fingerprint = name
            replica.indexed = ObjectService(str(root / name / "index"))
        made.append(replica)
    return made


async def written(replica: Any) -> dict[str, Any]:
    """What is stored, and when it was."""
    return {
        info.key: info.modified
        async for info in replica.objects.list()
        if not info.key.startswith("index/")
    }


@pytest.mark.parametrize("own_index", [True, False])
async def test_what_one_has_synced_the_other_takes_over_without_its_sources(
    library_class: Any, tmp_path: Path, own_index: bool
) -> None:
    first, second = replicas(library_class, tmp_path, own_index=own_index)
    for replica in (first, second):
        await replica.start()
    first.note("tags/dao.md", body="Old.")
    first.note("tags/hat.md")
    await first.sync()
    taken = await second.syncing.adopt()
    assert sorted(taken.written) == ["tag/dao", "tag/hat"]
    first.note("tags/dao.md", body="New.", tier="members")
    first.delete("tags/hat.md")
    await first.sync()
    before = await written(second)
    taken = await second.syncing.adopt()
    assert (list(taken.written), list(taken.removed)) == (["tag/dao"], ["tag/hat"])
    assert await written(second) == before
    assert second.keys == ["tag/dao"]
    assert second.store.entries(Tier.OPEN) == ()
    await second.agrees()
    assert not (await second.syncing.adopt()).changed
    assert not (await second.sync()).changed


async def test_how_far_an_index_of_its_own_is_is_told_as_of_a_sync(
    library_class: Any, tmp_path: Path
) -> None:
    """So it is after a change of the model: nothing is read anew, and all is indexed."""
    first, second = replicas(library_class, tmp_path, own_index=True)
    for number in range(40):
        first.note(f"tags/n{number}.md")
    for replica in (first, second):
        await replica.start()
    await first.sync()
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        status = second.syncing.status
        assert (status.done, status.total) == (done, total)
        told.append((done, total))

    await second.syncing.run(tell)
    assert told[:3] == [(0, 40), (32, 40), (40, 40)]
    assert len(second.keys) == 40


async def test_what_another_one_has_begun_is_left_to_it_until_a_sync_of_ones_own(
    library_class: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = replicas(library_class, tmp_path, own_index=True)
    for replica in (first, second):
        await replica.start()
    first.note("tags/dao.md")
    with monkeypatch.context() as patched:

        async def dies() -> None:
            raise OSError("it is killed")

        patched.setattr(first.index, "finish", dies)
        with pytest.raises(OSError, match="killed"):
            await first.sync()
    assert not (await second.syncing.adopt()).changed
    first.delete("tags/dao.md")
    first.note("tags/hat.md")
    await second.sync()
    assert second.keys == ["tag/hat"]
    await second.agrees()
    await first.start()
    await first.sync()
    assert first.keys == ["tag/hat"]
    await first.agrees()


async def test_a_process_that_has_lost_a_document_is_ready_once_it_is_made_anew(
    library_class: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, _) = replicas(library_class, tmp_path, own_index=True)
    await one.start()
    one.note("tags/dao.md")
    await one.sync()
    await one.objects.delete("content/tag/dao.json")
    await one.start()
    ready = []
    put = one.store.put

    async def told(documents: Any) -> None:
        ready.append(one.syncing.status.ready)
        await put(documents)

    monkeypatch.setattr(one.store, "put", told)
    await one.sync()
    assert (ready, one.syncing.status.ready) == ([False], True)
    assert await one.document("tag/dao") is not None


PATHS = ["tags/a.md", "tags/x/a.md", "notes/b.md", "links/c.md"]
BODIES = ["One.", "Two.", "Three."]
TURNS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(BODIES)),
    st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    st.tuples(st.sampled_from(["sync", "take_over", "restart"]), st.sampled_from([0, 1])),
)


async def check(make: Any, root: Path, turns: list[Any]) -> None:
    both = replicas(make, root, own_index=True)
    for replica in both:
        await replica.start()
    for kind, *arguments in turns:
        if kind == "write":
            both[0].note(arguments[0], body=arguments[1])
        elif kind == "delete":
            (both[0].notes / arguments[0]).unlink(missing_ok=True)
        elif kind == "restart":
            await both[arguments[0]].start()
        elif kind == "sync":
            await both[arguments[0]].sync()
        else:
            await both[arguments[0]].syncing.adopt()
    await both[0].sync()
    await both[1].syncing.adopt(surely=True)
    for replica in both:
        await replica.agrees()
    assert both[0].keys == both[1].keys
    for key in both[0].keys:
        assert await both[0].document(key) == await both[1].document(key)


@settings(max_examples=examples(40), deadline=None)
@given(turns=st.lists(TURNS, max_size=20))
def test_whoever_syncs_both_end_with_the_same(library_class: Any, turns: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as root:
        asyncio.run(check(library_class, Path(root), turns))
