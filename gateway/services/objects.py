"""The objects service: whole byte strings under a key, in a folder or a bucket.

Everything goes through obstore (Apache Arrow's object_store). Its folder store writes beside
the target and renames, so that a reader, a crash or a full disk never meets half an object;
its bucket stores rely on S3 and GCS, whose single writes are whole by themselves.

obstore's blocking calls run on threads of ours. Its own async calls finish on threads of its
own, which abort the process if the interpreter ends at that moment (seen with obstore 0.12 on
Python 3.11), and they take twice as long for small objects.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.contract.services import ObjectInfo, Objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore.store import ClientConfig, ObjectStore, RetryConfig

__all__ = [
    "InvalidKey",
    "ObjectService",
    "ScopedObjects",
    "StorageError",
    "StorageFull",
    "open_objects",
]

MAX_KEY_BYTES = 1024
"""S3's own limit on a key."""
MAX_DELETED = 1_000
"""Objects that are deleted at once, which is S3's own limit."""
MAX_SEGMENT_BYTES = 240
"""File systems allow 255 bytes in a name; obstore needs a few for the name it writes to first."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_RESERVED = re.compile(r"#\d+$")  # obstore's names for files it is still writing
_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class InvalidKey(ValueError):
    """A key that not every store could hold; the message says why."""


class StorageError(OSError):
    """The store could not do what was asked; what was stored before is unchanged."""


class StorageFull(StorageError):
    """There is no room (``errno`` is ENOSPC); the object keeps the bytes it had."""


def check_key(key: str) -> str:
    """Return the key if every store can hold it.

    Raises:
        InvalidKey: it is empty or longer than 1,024 bytes, starts or ends with ``/``, or a
            segment is empty, ``.``, ``..``, over 240 bytes, has control characters, or ends in
            ``#`` and digits (names that the folder store keeps for unfinished writes).
    """
    if len(key.encode()) > MAX_KEY_BYTES:
        raise InvalidKey(f"A key has at most {MAX_KEY_BYTES} bytes: {key[:60]!r}...")
    for segment in key.split("/"):
        reason = _fault(segment)
        if reason:
            raise InvalidKey(f"{reason}: {key[:200]!r}")
    return key


def _fault(segment: str) -> str | None:
    if not segment:
        return "A key has no empty part and neither starts nor ends with '/'"
    if segment in (".", ".."):
        return "A key has no '.' or '..' between its slashes"
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        return f"A part of a key has at most {MAX_SEGMENT_BYTES} bytes"
    if _CONTROL.search(segment):
        return "A key has no control characters"
    if _RESERVED.search(segment):
        return "A part of a key does not end in '#' and digits"
    return None


def _checked(keys: Sequence[str]) -> list[str]:
    return [check_key(key) for key in keys]


class ObjectService:
    """A folder, a bucket or, for tests, memory; opened at first use.

    Args:
        address: a directory, ``s3://bucket/prefix``, ``gs://bucket/prefix`` or ``memory``.
            A bucket's credentials, region and endpoint come from the environment, under the
            names that its own tools use (``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL`` and so on).
    """

    def __init__(self, address: str) -> None:
        self._address = address

    @cached_property
    def _store(self) -> ObjectStore:
        return _open_store(self._address)

    def scoped(self, prefix: str) -> ScopedObjects:
        """The share of one owner: keys below ``prefix/``."""
        return ScopedObjects(self, check_key(prefix))

    async def get(self, key: str) -> bytes | None:
        """The object's bytes, or None where there is no such key."""
        return await asyncio.to_thread(self._get, check_key(key))

    def _get(self, key: str) -> bytes | None:
        with suppress(FileNotFoundError), _clear_errors(f"read the object {key}"):
            return bytes(self._store.get(key).bytes())
        return None

    async def put(self, key: str, data: bytes) -> None:
        """Write the object whole.

        Raises:
            StorageFull: there is no room; the old bytes stay.
            StorageError: the store refused, or the key lies above or below a stored key, which
                a folder cannot hold.
            InvalidKey: not every store could hold the key.
        """
        await asyncio.to_thread(self._put, check_key(key), data)

    def _put(self, key: str, data: bytes) -> None:
        with _clear_errors(f"write the object {key}"):
            self._store.put(key, data)

    async def delete(self, *keys: str) -> None:
        """Remove objects; an absent key is not an error."""
        are_many = len(keys) > MAX_DELETED  # looking at 100,000 keys would hold up the loop
        checked = await asyncio.to_thread(_checked, keys) if are_many else _checked(keys)
        for start in range(0, len(checked), MAX_DELETED):
            await asyncio.to_thread(self._delete, checked[start : start + MAX_DELETED])

    def _delete(self, keys: Sequence[str]) -> None:
        more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
        try:
            with _clear_errors(f"delete the object {keys[0]}{more}"):
                self._store.delete(keys)
        except FileNotFoundError:
            if more:  # a folder stops at the first that is missing
                for key in keys:
                    self._delete([key])

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Every object whose key starts with ``prefix``, in no fixed order."""
        # obstore's own prefixes end at a slash; the rest of the comparison is ours.
        folder = prefix.rpartition("/")[0]
        with _clear_errors(f"list the objects under {prefix or '/'}"):
            batches = self._store.list(check_key(folder) if folder else None, chunk_size=1000)
            while batch := await asyncio.to_thread(next, batches, None):
                for meta in batch:
                    if meta["path"].startswith(prefix):
                        yield ObjectInfo(meta["path"], meta["size"], meta["last_modified"])


class ScopedObjects:
    """One owner's share of a store: the same port, below a prefix that it does not see."""

    def __init__(self, store: Objects, prefix: str) -> None:
        self._store = store
        self._prefix = prefix + "/"

    async def get(self, key: str) -> bytes | None:
        """As in the port."""
        return await self._store.get(self._prefix + key)

    async def put(self, key: str, data: bytes) -> None:
        """As in the port."""
        await self._store.put(self._prefix + key, data)

    async def delete(self, *keys: str) -> None:
        """As in the port."""
        await self._store.delete(*(self._prefix + key for key in keys))

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """As in the port."""
        start = len(self._prefix)
        async for found in self._store.list(self._prefix + prefix):
            yield ObjectInfo(found.key[start:], found.size, found.modified)


def open_objects(address: str, data_dir: Path) -> ObjectService:
    """The objects service at an address; nothing is opened until it is used.

    Args:
        address: ``embedded`` (``data_dir/objects``), a directory, an ``s3://`` or ``gs://``
            URL, or ``memory``.
        data_dir: the portal's data directory.

    Raises:
        ValueError: the address is a URL of another kind.
    """
    if "://" in address and not address.startswith(("s3://", "gs://")):
        raise ValueError("The objects are 'embedded', in a directory, or at an s3:// or gs:// URL.")
    return ObjectService(str(data_dir / "objects") if address == "embedded" else address)


def _open_store(address: str) -> ObjectStore:
    import obstore  # whole: its part ``store`` is there while another thread loads the rest

    if address == "memory":
        return obstore.store.MemoryStore()
    with _clear_errors(f"open the objects at {address}"):
        if address.startswith("s3://"):
            return obstore.store.S3Store.from_url(
                address, client_options=_client(), retry_config=_retries()
            )
        if address.startswith("gs://"):
            return obstore.store.GCSStore.from_url(
                address, client_options=_client(), retry_config=_retries()
            )
        return obstore.store.LocalStore(address, mkdir=True)


def _client() -> ClientConfig:
    return {
        "connect_timeout": timedelta(seconds=5),
        "timeout": timedelta(seconds=30),
        # Only where the admin's own endpoint says so, as on a private network.
        "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
    }


def _retries() -> RetryConfig:
    return {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}


@contextmanager
def _clear_errors(doing: str) -> Iterator[None]:
    """Turn obstore's errors, whose text runs over many lines, into ours."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError) as error:
        if isinstance(error, FileNotFoundError | StorageError):
            raise
        raise _translated(error, doing) from error


def _translated(error: Exception, doing: str) -> StorageError | FileNotFoundError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    found = _OS_ERROR.search(reason)
    code = int(found.group(1)) if found else errno.EIO
    if code in _FULL:
        return StorageFull(errno.ENOSPC, f"Cannot {doing}: there is no room left. {reason}")
    if code == errno.ENOTDIR and doing.startswith(("read", "delete")):
        return FileNotFoundError(code, reason)  # below an object, a folder holds nothing
    return StorageError(code, f"Cannot {doing}: {reason}")
