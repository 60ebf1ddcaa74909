"""The objects port over a folder, memory and S3; then what only a folder can suffer."""

import asyncio
import errno
import shutil
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract.services import Objects
from gateway.services.objects import (
    InvalidKey,
    ObjectService,
    StorageError,
    StorageFull,
    open_objects,
)
from tests.examples import examples


@pytest.fixture(params=["folder", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectService:
    """Each implementation, empty."""
    address = {
        "folder": lambda: str(tmp_path / "objects"),
        "memory": lambda: "memory",
        "s3": lambda: request.getfixturevalue("s3_bucket"),
    }[request.param]()
    return open_objects(address, tmp_path)


async def keys(store: Objects, prefix: str = "") -> set[str]:
    return {found.key async for found in store.list(prefix)}


async def test_what_is_put_is_got_and_listed(store: ObjectService) -> None:
    await store.put("content/pattern/a.json", b"\x00bytes\xff")
    assert await store.get("content/pattern/a.json") == b"\x00bytes\xff"
    (found,) = [info async for info in store.list()]
    assert (found.key, found.size) == ("content/pattern/a.json", 7)
    assert abs(found.modified - datetime.now(UTC)) < timedelta(minutes=5)


async def test_a_second_put_replaces_the_whole_object(store: ObjectService) -> None:
    await store.put("key", b"a longer first value")
    await store.put("key", b"short")
    await store.put("empty", b"")
    assert await store.get("key") == b"short"
    assert await store.get("empty") == b""


async def test_an_absent_key_is_no_error(store: ObjectService) -> None:
    await store.put("there", b"1")
    assert await store.get("not/there") is None
    assert await store.get("there/below") is None
    await store.delete("not/there")
    await store.delete("there/below")
    assert await keys(store) == {"there"}
    await store.delete("there")
    assert await store.get("there") is None
    assert await keys(store) == set()


async def test_a_prefix_is_compared_by_letter_not_by_folder(store: ObjectService) -> None:
    for key in ("ab/c", "ab/cd/e", "abx", "b"):
        await store.put(key, b"1")
    assert await keys(store, "ab") == {"ab/c", "ab/cd/e", "abx"}
    assert await keys(store, "ab/") == {"ab/c", "ab/cd/e"}
    assert await keys(store, "ab/c") == {"ab/c", "ab/cd/e"}
    assert await keys(store, "none/such") == set()


async def test_two_owners_with_one_key_never_meet(store: ObjectService) -> None:
    mine, other = store.scoped("knowledge"), store.scoped("knowledge2")
    await mine.put("a/b", b"mine")
    await other.put("a/b", b"other")
    assert await mine.get("a/b") == b"mine"
    assert await keys(mine) == await keys(mine, "a/") == {"a/b"}
    await mine.delete("a/b")
    assert await keys(mine) == set()
    assert await other.get("a/b") == b"other"


async def test_many_are_deleted_at_once_and_those_that_are_absent_hold_up_none(
    store: ObjectService,
) -> None:
    share = store.scoped("plugin")
    names = [f"many/{number}" for number in range(1_100)]
    for start in range(0, 1_100, 50):
        await asyncio.gather(*(share.put(name, b"1") for name in names[start : start + 50]))
    await store.put("plugin/kept", b"1")
    await share.delete()
    await share.delete(*names[:700], "many/none", *names[700:], "many/none/below", names[0])
    assert await keys(store) == {"plugin/kept"}


async def test_a_key_that_no_store_holds_keeps_the_others_from_being_deleted(
    store: ObjectService,
) -> None:
    await store.put("there", b"1")
    with pytest.raises(InvalidKey):
        await store.delete("there", "a//b")
    assert await keys(store) == {"there"}


BAD_KEYS = [
    "", "/absolute", "folder/", "a//b", ".", "..", "../up", "a/../b", "a/./b", "line\nbreak",
    "nul\x00", "x" * 241, "é" * 121, "unfinished#1", "/".join(["part"] * 250),
]  # fmt: skip


@pytest.mark.parametrize("key", BAD_KEYS, ids=lambda key: repr(key[:12]))
async def test_a_key_that_not_every_store_holds_is_refused(store: ObjectService, key: str) -> None:
    for share in (store, store.scoped("plugin")):
        for attempt in (share.get(key), share.put(key, b"1"), share.delete(key)):
            with pytest.raises(InvalidKey):
                await attempt
    assert await keys(store) == set()


async def test_many_objects_are_all_listed(store: ObjectService) -> None:
    names = {f"many/{number:04}" for number in range(1100)}
    for start in range(0, 1100, 50):
        batch = sorted(names)[start : start + 50]
        await asyncio.gather(*(store.put(name, b"1") for name in batch))
    assert await keys(store) == names


segments = st.text("abc é#%&+=?*~.-_1", min_size=1, max_size=6).filter(
    lambda text: text not in (".", "..") and not text.rpartition("#")[2].isdigit()
)
# 'f' and 'k' occur in no segment, so no key lies below another one.
good_keys = st.lists(segments, min_size=1, max_size=3).map(lambda parts: "/f/".join(parts) + "/k")
actions = st.lists(
    st.tuples(good_keys, st.one_of(st.none(), st.binary(max_size=40))), min_size=1, max_size=12
)


@given(actions=actions)
@settings(max_examples=examples(30), deadline=None)
@pytest.mark.parametrize("kind", ["folder", "memory", "s3"])
def test_a_store_behaves_like_a_dictionary(
    kind: str, actions: list[tuple[str, bytes | None]], request: pytest.FixtureRequest
) -> None:
    base = {
        "folder": lambda: str(request.getfixturevalue("tmp_path")),
        "memory": lambda: "memory",
        "s3": lambda: request.getfixturevalue("s3_bucket"),
    }[kind]()

    async def run() -> None:
        store = open_objects(base, Path()).scoped(uuid.uuid4().hex)
        model: dict[str, bytes] = {}
        for key, value in actions:
            if value is None:
                await store.delete(key)
                model.pop(key, None)
            else:
                await store.put(key, value)
                model[key] = value
        assert await keys(store) == model.keys()
        for key, _ in actions:
            assert await store.get(key) == model.get(key)
            assert await keys(store, key[:3]) == {k for k in model if k.startswith(key[:3])}

    asyncio.run(run())


async def test_embedded_objects_live_in_the_data_directory(tmp_path: Path) -> None:
    await open_objects("embedded", tmp_path).put("a/b", b"1")
    assert (tmp_path / "objects" / "a" / "b").read_bytes() == b"1"


async def test_a_folder_cannot_hold_a_key_below_another_and_says_so(tmp_path: Path) -> None:
    store = open_objects("embedded", tmp_path)
    await store.put("a", b"1")
    with pytest.raises(StorageError, match=r"Cannot write the object a/b: .*Not a directory"):
        await store.put("a/b", b"2")
    assert await store.get("a") == b"1"


async def test_what_a_crash_left_half_written_is_never_shown(tmp_path: Path) -> None:
    store = open_objects("embedded", tmp_path)
    await store.put("a/key", b"old")
    (tmp_path / "objects" / "a" / "key#1").write_bytes(b"ne")
    assert await keys(store) == {"a/key"}
    await store.put("a/key", b"new")
    assert await store.get("a/key") == b"new"
    assert await keys(store) == {"a/key"}


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=f"Cannot open the objects at {tmp_path}/file/below"):
        await open_objects(f"{tmp_path}/file/below", tmp_path).get("key")


async def test_a_server_that_does_not_answer_is_a_clear_error_without_secrets(
    s3_bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free_tcp_port: int
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_tcp_port}")
    with pytest.raises(StorageError, match="Cannot read the object key") as raised:
        await open_objects(s3_bucket, tmp_path).get("key")
    assert "example-secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


FILL = """
import asyncio, resource, sys
from pathlib import Path
from gateway.services.objects import StorageFull, open_objects

async def main(folder):
    store = open_objects(folder, Path(folder))
    await store.put("key", b"old")
    if sys.argv[2] == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        await store.put("key", b"x" * 3_000_000)
    except StorageFull as error:
        print(error.errno, (await store.get("key")).decode(), end=" ")
        print(*[found.key async for found in store.list()], end=" ")
        print(*[path.name for path in Path(folder).rglob("*")])

asyncio.run(main(sys.argv[1]))
"""


def _can_mount() -> bool:
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("fault", ["disk", "limit"])
def test_a_full_disk_keeps_the_old_object_and_shows_no_part_of_the_new(
    fault: str, tmp_path: Path
) -> None:
    run = [sys.executable, "-c", FILL, str(tmp_path), fault]
    if fault == "disk":
        if not _can_mount():
            pytest.skip("a small file system can be mounted only with unprivileged namespaces")
        mount = 'mount -t tmpfs -o size=1m none "$0" && cd "$1" && shift && exec "$@"'
        run = ["unshare", "-rm", "sh", "-c", mount, str(tmp_path), str(Path.cwd()), *run]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == [str(errno.ENOSPC), "old", "key", "key"]
    outside = [path.name for path in tmp_path.iterdir()]
    assert outside == ([] if fault == "disk" else ["key"])


def test_a_full_store_is_an_os_error_that_any_plugin_can_catch() -> None:
    assert issubclass(StorageFull, OSError)
