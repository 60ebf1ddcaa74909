"""The manifests of a process: the store's, and its own.

Processes that share a store and have each an index of their own write the same manifest: the last
one's stays. So each also keeps its own as a file beside its data, to know what its index holds.
"""

from __future__ import annotations

from pathlib import Path

from gateway.contract import Objects
from plugins.knowledge.notes.ids import CONTENT_PREFIX, document_key
from plugins.knowledge.sync.manifest import Manifest, without
from plugins.knowledge.sync.manifest_log import ManifestLog, own_log


class Manifests:
    """Reads and writes both.

    Args:
        objects: the plugin's share of the object store.
        own: this process's own manifest, a file.
    """

    def __init__(self, objects: Objects, own: Path) -> None:
        self._objects = objects
        self._shared = ManifestLog(objects)
        self._own = own_log(own)

    async def load(self, index: str) -> Manifest:
        """Read the manifest.

        Where there is none that can be read, every stored document counts as pending, so that the
        next sync writes it anew or removes it. So does a document that the store has lost.

        Args:
            index: the fingerprint of the index; where the store's manifest was written by a
                process with another one, the own manifest is read, if it was written with this
                one.
        """
        shared = await self.current(index)
        stored = {document_key(info.key) async for info in self._objects.list(CONTENT_PREFIX)}
        if shared is None:
            return Manifest(pending=sorted(stored))
        return without(shared, {entry.key for entry in shared.entries().values()} - stored)

    async def current(self, index: str) -> Manifest | None:
        """The manifest of an index: the store's, or this process's own; None where none can be
        read.

        Args:
            index: the fingerprint of the index.
        """
        shared = await self.written()
        if shared is None or shared.index == index:
            return shared
        kept = await self._own.read()
        if kept is None or kept.index == index:
            return kept or shared
        pending = sorted({*shared.pending, *kept.pending})  # what it had begun may be in the index
        return shared.model_copy(update={"pending": pending})

    async def written(self) -> Manifest | None:
        """The manifest that some process has written last, or None where none can be read."""
        return await self._shared.read()

    async def stamp(self) -> str:
        """What tells the manifest in the store from an older one, without reading it."""
        return await self._shared.stamp()

    async def save(self, manifest: Manifest) -> None:
        """Write the manifest, in the store and beside this process's data."""
        await self._shared.write(manifest)
        await self._own.write(manifest)

    async def save_own(self, manifest: Manifest) -> None:
        """Write it beside this process's data alone: what its index holds of the store."""
        await self._own.write(manifest)
