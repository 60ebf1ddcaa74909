"""A manifest as it is kept: whole now and then, and after that only what changed.

At 100,000 notes a manifest is some 40 MB, and a push changes one record of it. So a save writes an
object with the records that are not what they were, and the manifest whole again once these add
up. Each change names the state that it follows: one that another process's save has overtaken
follows nothing and is passed over, so that of two writers the last one's word stays.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, Field, ValidationError

from gateway.contract import ObjectInfo, Objects
from gateway.toolkit.atomic_file import write_atomically
from plugins.knowledge.notes.ids import MANIFEST_KEY
from plugins.knowledge.sync.changed_items import changed_items
from plugins.knowledge.sync.manifest import FORMAT, FileRecord, Manifest

MAX_CHANGES = 128
"""So many changes are kept before the manifest is written whole."""
MIN_WHOLE_BYTES = 256 * 1024
"""Bytes of changes from which on the manifest is written whole; a quarter of its size if more."""
CONCURRENT_READS = 16
"""Changes that are read from the store at a time."""
_MAX_ATTEMPTS = 4
"""How often a manifest is written where others write in the same moment."""


class Place(Protocol):
    """Where a manifest is kept: the part of an object store that is needed."""

    async def get(self, key: str) -> bytes | None:
        """As in ``Objects``."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """As in ``Objects``."""
        ...

    async def delete(self, *keys: str) -> None:
        """As in ``Objects``."""
        ...

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """As in ``Objects``."""
        ...


class Change(BaseModel):
    """What one save changed.

    Attributes:
        id: the state that it leads to.
        after: the state that it follows.
        files: the records that are new or not what they were.
        gone: the paths whose records are no more.
    """

    id: str
    after: str
    rules: str
    index: str
    commits: dict[str, str]
    pending: list[str]
    pending_raw: list[str]
    files: dict[str, FileRecord] = Field(default_factory=dict)
    gone: list[str] = Field(default_factory=list)

    def applied(self, manifest: Manifest) -> Manifest:
        """The manifest with the change in it."""
        files = {**manifest.files, **self.files}
        for path in self.gone:
            files.pop(path, None)
        kept = {"rules", "index", "commits", "pending", "pending_raw"}
        update = {name: getattr(self, name) for name in kept}
        return manifest.model_copy(update={**update, "files": files})


class ManifestLog:
    """One manifest in one place, and what is known of its state there.

    Args:
        place: where it is kept.
        key: what it is called there; changes lie below its name without the suffix.
    """

    def __init__(self, place: Place | Objects, key: str = MANIFEST_KEY) -> None:
        self._place = place
        self._key = key
        self._stem = key.removesuffix(".json")
        self._marked = ""
        self._seen: tuple[ObjectInfo, ...] = ()
        self._state = ""
        self._manifest: Manifest | None = None
        self._whole_bytes = self._change_bytes = self._changes = 0

    async def read(self) -> Manifest | None:
        """The manifest as some process has written it last, or None where none can be read."""
        mark, seen = await self._mark(), await self._objects()
        known = len(self._seen)
        if self._manifest is not None and (mark, seen) == (self._marked, self._seen):
            return self._manifest
        follows = self._manifest is not None and known and seen[:known] == self._seen
        if not follows or not await self._applied(seen[known:], mark):
            if not await self._read_whole():
                self._manifest, self._seen = None, ()
                return None
            await self._applied(seen[1:], mark)
        self._marked, self._seen = mark, seen
        return self._manifest

    async def write(self, manifest: Manifest) -> None:
        """Keep a manifest: what differs from the one that is known, or all of it.

        Where another process writes in the same moment, a change may follow what is gone by then,
        and lead nowhere for others: so what lies there is looked at once more, and if it is not
        what was written, all of it is.
        """
        for _ in range(_MAX_ATTEMPTS):
            mark, seen = await self._mark(), await self._objects()
            kept = await self._write(manifest, mark, seen)
            self._manifest, self._marked = manifest, self._state
            self._seen = await self._objects()
            if self._seen[:-1] == kept and await self._mark() == self._state:
                break
            self._manifest = None  # the next attempt writes it whole

    async def _write(
        self, manifest: Manifest, mark: str, seen: tuple[ObjectInfo, ...]
    ) -> tuple[ObjectInfo, ...]:
        """Write it, and the mark; returns what lies there beside the object that this wrote."""
        known = self._manifest
        overtaken = known is None or (mark, seen) != (self._marked, self._seen)
        # Records by other rules may hold what these take out: nothing of them stays.
        if known is None or overtaken or self._is_full() or known.rules != manifest.rules:
            await self._write_whole(manifest, seen)
            kept: tuple[ObjectInfo, ...] = ()
        else:
            kept = seen
            change = _difference(known, manifest, self._state)
            data = change.model_dump_json().encode()
            await self._place.put(f"{self._stem}/{self._changes + 1:08d}.json", data)
            self._took(change.id, len(data))
        await self._place.put(f"{self._stem}.mark", self._state.encode())
        return kept

    async def stamp(self) -> str:
        """What tells the manifest from an older one, without reading it."""
        seen = [f"{one.modified.timestamp()}:{one.size}" for one in await self._objects()]
        return ":".join([await self._mark(), *seen[:1], str(len(seen)), *seen[-1:]])

    async def _mark(self) -> str:
        """The state that the last save led to.

        Some stores know the time of a write to the second only, so that a listing may look the
        same after another one.
        """
        mark = await self._place.get(f"{self._stem}.mark") or b""
        return mark.decode(errors="replace")

    async def _applied(self, seen: Sequence[ObjectInfo], mark: str) -> bool:
        """Take in changes that follow; false where they do not lead to what the mark says."""
        for change, size in await self._changes_of(seen):
            if change.after == self._state and self._manifest is not None:
                self._manifest = change.applied(self._manifest)
                self._took(change.id, size)
        return self._state == mark

    async def _objects(self) -> tuple[ObjectInfo, ...]:
        """The whole manifest and its changes, in their order, as they lie there."""
        found = [one async for one in self._place.list(self._stem)]
        changes = f"{self._stem}/"
        whole = [one for one in found if one.key == self._key]
        rest = sorted((one for one in found if one.key.startswith(changes)), key=_by_key)
        return (*whole, *rest) if whole else ()

    async def _read_whole(self) -> bool:
        data = await self._place.get(self._key)
        manifest = await asyncio.to_thread(_parsed, data)
        if data is None or manifest is None:
            return False
        self._manifest = manifest
        self._begin(data)
        return True

    async def _changes_of(self, seen: Sequence[ObjectInfo]) -> list[tuple[Change, int]]:
        room = asyncio.Semaphore(CONCURRENT_READS)

        async def fetched(key: str) -> bytes | None:
            async with room:
                return await self._place.get(key)

        found = []
        for data in await asyncio.gather(*(fetched(one.key) for one in seen)):
            try:
                found.append((Change.model_validate_json(data or b""), len(data or b"")))
            except ValidationError:
                break
        return found

    async def _write_whole(self, manifest: Manifest, seen: Sequence[ObjectInfo]) -> None:
        data = await asyncio.to_thread(lambda: manifest.model_dump_json().encode())
        await self._place.put(self._key, data)
        for one in seen[1:]:  # they follow nothing any more
            await self._place.delete(one.key)
        self._begin(data)

    def _begin(self, data: bytes) -> None:
        self._state = hashlib.blake2b(data, digest_size=16).hexdigest()
        self._whole_bytes, self._change_bytes, self._changes = len(data), 0, 0

    def _took(self, state: str, size: int) -> None:
        self._state = state
        self._change_bytes += size
        self._changes += 1

    def _is_full(self) -> bool:
        most = max(MIN_WHOLE_BYTES, self._whole_bytes // 4)
        return self._changes >= MAX_CHANGES or self._change_bytes >= most


class Folder:
    """A manifest's place beside a process's own data.

    Args:
        root: an existing folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    async def get(self, key: str) -> bytes | None:
        """As in ``Objects``."""
        path = self._root / key
        return await asyncio.to_thread(lambda: path.read_bytes() if path.is_file() else None)

    async def put(self, key: str, data: bytes) -> None:
        """As in ``Objects``."""
        await asyncio.to_thread(write_atomically, self._root / key, data)

    async def delete(self, *keys: str) -> None:
        """As in ``Objects``."""
        for key in keys:
            await asyncio.to_thread((self._root / key).unlink, missing_ok=True)

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """As in ``Objects``."""
        for one in await asyncio.to_thread(self._listed, prefix):
            yield one

    def _listed(self, prefix: str) -> Sequence[ObjectInfo]:
        paths = [*self._root.glob(f"{prefix}*.json"), *self._root.glob(f"{prefix}/*.json")]
        return [
            ObjectInfo(
                path.relative_to(self._root).as_posix(),
                stat.st_size,
                datetime.fromtimestamp(stat.st_mtime, UTC),
            )
            for path in paths
            for stat in [path.stat()]
        ]


def own_log(own: Path) -> ManifestLog:
    """The log of a process's own manifest, which is the file ``own``."""
    return ManifestLog(Folder(own.parent), own.name)


def _difference(before: Manifest, after: Manifest, state: str) -> Change:
    """What leads from one manifest to another; a record that is the same object is not compared."""
    others, gone = changed_items(before.files, after.files)
    return Change(
        id=secrets.token_hex(16),
        after=state,
        rules=after.rules,
        index=after.index,
        commits=after.commits,
        pending=after.pending,
        pending_raw=after.pending_raw,
        files={path: one for path, one in others.items() if before.files.get(path) != one},
        gone=gone,
    )


def _parsed(data: bytes | None) -> Manifest | None:
    try:
        manifest = Manifest.model_validate_json(data or b"")
    except ValidationError:
        return None
    return manifest if manifest.format == FORMAT else None


def _by_key(info: ObjectInfo) -> str:
    return info.key
