"""The full index: builds a new layer beside the one being served, then replaces that."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from plugins.codegraph.indexer.cache_dir import CacheDir
from plugins.codegraph.indexer.commit import stamped
from plugins.codegraph.indexer.edge_buffer import EdgeBuffer
from plugins.codegraph.indexer.facts_cache import FactsCache
from plugins.codegraph.indexer.link_stage import known_of, link, snapshot_of, unlinked
from plugins.codegraph.indexer.manifests import manifests_of
from plugins.codegraph.indexer.parse_stage import ParseStage
from plugins.codegraph.indexer.progress import Steps
from plugins.codegraph.indexer.scan import Scan
from plugins.codegraph.indexer.snapshot import Known, keys_of
from plugins.codegraph.indexer.source import Source, Summary, counted
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.store.compression import Content
from plugins.codegraph.store.file_rows import MAX_ROWS, batches
from plugins.codegraph.store.layers import Layers, Stamp
from plugins.codegraph.store.rows import FileGraph, Manifest, merged_edges


class FullIndex:
    """Builds one layer. If it is interrupted, the next build resumes it.

    Args:
        workers: parse and link.
        layers: where it is written.
        cache_dir: where its facts are cached.
        source: the repository.
        steps: receives the progress.
    """

    def __init__(
        self, workers: WorkerPool, layers: Layers, cache_dir: CacheDir, source: Source, steps: Steps
    ) -> None:
        self._workers, self._layers, self._cache_dir = workers, layers, cache_dir
        self._source, self._steps = source, steps

    async def build(
        self, parser: ParseStage, scan: Scan, as_parsed: Mapping[str, Parsed]
    ) -> Summary:
        """Index all files.

        Args:
            parser: reads and parses files.
            scan: the files on disk.
            as_parsed: the files of the scan whose bytes and facts are known already.
        """
        stamp = await stamped(self._source, scan)
        layer = await self._layers.building() or await self._layers.begin(stamp)

        async def keep(texts: Sequence[Content]) -> None:
            await self._layers.keep(layer, texts)

        unread = [each for each in scan.found if each.path not in as_parsed]
        self._steps.begin("reading", len(unread))
        parsed = {**as_parsed, **await parser.all(unread, keep, self._steps)}
        files = [FileGraph(report) for report in scan.skipped]
        files += [unlinked(parsed[path]) for path in sorted(parsed)]
        known = {path: found for path, each in parsed.items() if (found := known_of(each))}
        manifests = await manifests_of(self._source, parsed)
        layer = await self._whole(layer, stamp, files, manifests)
        staging = await asyncio.to_thread(EdgeBuffer, self._cache_dir.edges(layer))
        try:
            await self._link(layer, staging, files, known, manifests)
            await self._write_edges(layer, staging)
        finally:
            staging.close()
        await self._layers.serve(layer, stamp)
        await asyncio.to_thread(self._tidy, known)
        return counted(layer, files, parsed=len(unread), linked=len(files))

    async def _whole(
        self, layer: int, stamp: Stamp, files: Sequence[FileGraph], manifests: Sequence[Manifest]
    ) -> int:
        """The layer to continue with: this one, or a new one if it has rows of another state of the
        files."""
        state = _digest(files, manifests)
        marker = f"{layer} {state}"
        if not await self._marked(marker) or await self._lost(layer):
            if await self._layers.written(layer):
                await self._layers.drop(layer)
                layer = await self._layers.begin(stamp)
                marker = f"{layer} {state}"
            await asyncio.to_thread(self._cache_dir.marker.write_text, marker, "utf-8")
        await self._layers.set_manifests(layer, manifests)
        return layer

    async def _lost(self, layer: int) -> bool:
        """Whether rows were written whose edges are not in the buffer, as after a power failure."""
        staging = await asyncio.to_thread(EdgeBuffer, self._cache_dir.edges(layer))
        try:
            return not await self._layers.written(layer) <= staging.paths()
        finally:
            staging.close()

    async def _marked(self, marker: str) -> bool:
        try:
            return await asyncio.to_thread(self._cache_dir.marker.read_text, "utf-8") == marker
        except OSError:
            return False

    async def _write_edges(self, layer: int, staging: EdgeBuffer) -> None:
        await self._layers.clear_edges(layer)
        for backward in (False, True):
            ordered = staging.ordered(backward=backward, most=MAX_ROWS)
            while rows := await asyncio.to_thread(next, ordered, None):
                await self._layers.write_edges(layer, rows, backward=backward)

    async def _link(
        self,
        layer: int,
        staging: EdgeBuffer,
        files: Sequence[FileGraph],
        known: Mapping[str, Known],
        manifests: Sequence[Manifest],
    ) -> None:
        written = await self._layers.written(layer)
        left = [each for each in files if each.report.path not in written]
        self._steps.begin("linking", len(files))
        self._steps.done(len(files) - len(left))
        snapshot = snapshot_of(self._source.repo, self._cache_dir.cache, known, manifests)
        with self._cache_dir.snapshot(snapshot) as file:
            async for linked in link(self._workers, file, left):
                edges = [(each.report.path, merged_edges(each.edges)) for each in linked]
                await asyncio.to_thread(staging.put, edges)
                for batch in batches(linked):
                    await self._layers.write(layer, batch, with_edges=False)
                self._steps.done(len(linked))

    def _tidy(self, known: Mapping[str, Known]) -> None:
        self._cache_dir.marker.unlink(missing_ok=True)
        self._cache_dir.clear()
        cache = FactsCache(self._cache_dir.cache)
        try:
            cache.forget_but(keys_of(known.values()))
        finally:
            cache.close()


def _digest(files: Sequence[FileGraph], manifests: Sequence[Manifest]) -> str:
    """A digest of everything that a layer is derived from."""
    state = [[each.report for each in files], [each.digest for each in manifests]]
    return hashlib.sha256(msgspec.msgpack.encode(state)).hexdigest()
