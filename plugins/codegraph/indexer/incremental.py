"""The incremental index: updates changed files, and those that depend on them, in the served
layer."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from plugins.codegraph.indexer.base_layer import BaseLayer, Difference, unchanged
from plugins.codegraph.indexer.cache_dir import CacheDir
from plugins.codegraph.indexer.commit import stamped
from plugins.codegraph.indexer.manifests import manifests_of
from plugins.codegraph.indexer.parse_stage import ParseStage
from plugins.codegraph.indexer.progress import Steps
from plugins.codegraph.indexer.relink import Changed, RelinkStage
from plugins.codegraph.indexer.scan import Scan
from plugins.codegraph.indexer.source import Source, Summary, counted
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.store.compression import Content
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Change, Stamp
from plugins.codegraph.store.rows import FileGraph, Manifest
from plugins.codegraph.store.store import GraphStore

MAX_READ = 400
"""The most changed files; with more, a new layer is built, without blocking others by its
writes."""
MAX_DOUBTFUL = 5_000
"""The most files that are reread although they are probably unchanged; likewise."""
MAX_LINKED = 400
"""The most files to link again; likewise."""


class Incremental:
    """Updates the layer that is served.

    Args:
        store: the store.
        workers: parse and link.
        cache_dir: where facts are cached.
        source: the repository.
        steps: receives the progress.
    """

    def __init__(
        self,
        store: GraphStore,
        workers: WorkerPool,
        cache_dir: CacheDir,
        source: Source,
        steps: Steps,
    ) -> None:
        self._store, self._workers, self._cache_dir = store, workers, cache_dir
        self._source, self._steps = source, steps
        self._layers = store.layers(source.owner)
        self.generation: int | None = None
        """The layer's new generation, if it was changed."""

    async def update(
        self, parser: ParseStage, scan: Scan, view: RepositoryView, base: BaseLayer
    ) -> Summary | None:
        """Update the layer to the scanned state.

        Returns:
            A summary, or None if so much has changed that a full index is better.
        """
        difference = base.difference(scan)
        stamp = Stamp(scan.commit, scan.branch)
        if not difference:
            await self._stamp(view, stamp)
            return Summary(view.layer, full=False)
        likely = len(difference) - difference.doubtful
        if likely > MAX_READ or difference.doubtful > MAX_DOUBTFUL:
            return None
        texts: list[Content] = []

        async def keep(found: Sequence[Content]) -> None:
            texts.extend(found)

        self._steps.begin("reading", len(difference.unread))
        read = await parser.all(difference.unread, keep, self._steps)
        same = {path: each for path, each in read.items() if unchanged(base, each)}
        parsed = {path: each for path, each in read.items() if path not in same}
        await self._touch(base, same.values())
        if not parsed and not difference.skipped and not difference.gone:
            await self._stamp(view, stamp)
            return Summary(view.layer, full=False, parsed=len(read))
        said = await stamped(self._source, scan)
        return await self._rewrite(parser, base, difference, parsed, texts, said)

    async def _rewrite(
        self,
        parser: ParseStage,
        base: BaseLayer,
        difference: Difference,
        parsed: Mapping[str, Parsed],
        texts: Sequence[Content],
        stamp: Stamp,
    ) -> Summary | None:
        await base.load_links()
        out = {each.path for each in difference.skipped} | difference.gone
        manifests = await self._manifests(base, parsed, out)
        changed = Changed(parsed, out, manifests)
        owner, database = self._source.owner, self._store.database
        relinking = RelinkStage(self._workers, self._cache_dir, database, owner, base, changed)
        files = await asyncio.to_thread(relinking.files)
        if len(files) > MAX_LINKED:
            return None
        linked = await relinking.link(parser, files, self._steps)
        linked += [FileGraph(report) for report in difference.skipped]
        settings = manifests if manifests != base.links.manifests else None
        # Most dependents link to the same result as before; write only the others.
        other = base.other(linked)
        change = Change(other, difference.gone, texts, settings)
        self.generation = await self._layers.rewrite(base.layer, change, stamp)
        base.rewritten(other, difference.gone)
        base.links.manifests = manifests
        summary = counted(base.layer, linked, parsed=len(parsed), linked=len(files), full=False)
        return replace(summary, gone=len(difference.gone))

    async def _manifests(
        self, base: BaseLayer, parsed: Mapping[str, Parsed], out: Collection[str]
    ) -> list[Manifest]:
        kept = [
            each
            for each in base.links.manifests
            if each.path not in parsed and each.path not in out
        ]
        found = [*kept, *await manifests_of(self._source, parsed)]
        return sorted(found, key=lambda each: each.path)

    async def _touch(self, base: BaseLayer, same: Collection[Parsed]) -> None:
        """Store the new times of files whose bytes are unchanged."""
        times = [(each.report.path, each.found.mtime, each.found.inode) for each in same]
        if times:
            await self._layers.touch(base.layer, times)
        for path, mtime, inode in times:
            base.touched(path, mtime, inode)

    async def _stamp(self, view: RepositoryView, stamp: Stamp) -> None:
        if (view.commit, view.branch) != (stamp.commit, stamp.branch):
            await self._layers.stamp(view.layer, stamp)
