"""A small change: the files that changed and those that depend on them, in the layer served."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from plugins.codegraph.indexing.basis import Basis, Difference, unchanged
from plugins.codegraph.indexing.manifests import manifests_of
from plugins.codegraph.indexing.parse import Parsing
from plugins.codegraph.indexing.place import Place
from plugins.codegraph.indexing.progress import Steps
from plugins.codegraph.indexing.relink import Changed, Relinking
from plugins.codegraph.indexing.scan import Scan
from plugins.codegraph.indexing.source import Source, Summary, counted
from plugins.codegraph.indexing.tasks import Parsed
from plugins.codegraph.indexing.workers import Workers
from plugins.codegraph.store.contents import Content
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Change, Stamp
from plugins.codegraph.store.rows import FileGraph, Manifest
from plugins.codegraph.store.store import GraphStore

MOST_READ = 400
"""Files that changed; where more did, a new layer is built and nobody waits for its writing."""
MOST_DOUBTFUL = 5_000
"""Files that are read again, and most likely are what they were."""
MOST_LINKED = 400
"""Files to link again, likewise."""


class Incremental:
    """Changes the layer that is served.

    Args:
        store: the store.
        workers: who parses and links.
        place: where facts are kept.
        source: the repository.
        steps: told how far it is.
    """

    def __init__(
        self, store: GraphStore, workers: Workers, place: Place, source: Source, steps: Steps
    ) -> None:
        self._store, self._workers, self._place = store, workers, place
        self._source, self._steps = source, steps
        self._layers = store.layers(source.owner)
        self.generation: int | None = None
        """The layer's, where it was changed."""

    async def update(
        self, parsing: Parsing, scan: Scan, view: RepositoryView, basis: Basis
    ) -> Summary | None:
        """Bring the layer to what the scan shows.

        Returns:
            What was done, or None where so much has changed that all is better indexed anew.
        """
        difference = basis.difference(scan)
        stamp = Stamp(scan.commit, scan.branch)
        if not difference:
            await self._stamp(view, stamp)
            return Summary(view.layer, full=False)
        likely = len(difference) - difference.doubtful
        if likely > MOST_READ or difference.doubtful > MOST_DOUBTFUL:
            return None
        texts: list[Content] = []

        async def keep(found: Sequence[Content]) -> None:
            texts.extend(found)

        self._steps.begin("reading", len(difference.unread))
        read = await parsing.all(difference.unread, keep, self._steps)
        same = {path: each for path, each in read.items() if unchanged(basis, each)}
        parsed = {path: each for path, each in read.items() if path not in same}
        await self._touch(basis, same.values())
        if not parsed and not difference.skipped and not difference.gone:
            await self._stamp(view, stamp)
            return Summary(view.layer, full=False, parsed=len(read))
        return await self._rewrite(parsing, basis, difference, parsed, texts, stamp)

    async def _rewrite(
        self,
        parsing: Parsing,
        basis: Basis,
        difference: Difference,
        parsed: Mapping[str, Parsed],
        texts: Sequence[Content],
        stamp: Stamp,
    ) -> Summary | None:
        await basis.load_links()
        out = {each.path for each in difference.skipped} | difference.gone
        manifests = await self._manifests(basis, parsed, out)
        changed = Changed(parsed, out, manifests)
        owner, database = self._source.owner, self._store.database
        relinking = Relinking(self._workers, self._place, database, owner, basis, changed)
        files = await asyncio.to_thread(relinking.files)
        if len(files) > MOST_LINKED:
            return None
        linked = await relinking.link(parsing, files, self._steps)
        linked += [FileGraph(report) for report in difference.skipped]
        settings = manifests if manifests != basis.links.manifests else None
        # Most of those that asked for what changed are linked as they were.
        other = basis.other(linked)
        change = Change(other, difference.gone, texts, settings)
        self.generation = await self._layers.rewrite(basis.layer, change, stamp)
        basis.rewritten(other, difference.gone)
        basis.links.manifests = manifests
        summary = counted(basis.layer, linked, parsed=len(parsed), linked=len(files), full=False)
        return replace(summary, gone=len(difference.gone))

    async def _manifests(
        self, basis: Basis, parsed: Mapping[str, Parsed], out: Collection[str]
    ) -> list[Manifest]:
        kept = [
            each
            for each in basis.links.manifests
            if each.path not in parsed and each.path not in out
        ]
        found = [*kept, *await manifests_of(self._source, parsed)]
        return sorted(found, key=lambda each: each.path)

    async def _touch(self, basis: Basis, same: Collection[Parsed]) -> None:
        """Remember the new times of files whose bytes are what they were."""
        times = [(each.report.path, each.found.mtime, each.found.inode) for each in same]
        if times:
            await self._layers.touch(basis.layer, times)
        for path, mtime, inode in times:
            basis.touched(path, mtime, inode)

    async def _stamp(self, view: RepositoryView, stamp: Stamp) -> None:
        if (view.commit, view.branch) != (stamp.commit, stamp.branch):
            await self._layers.stamp(view.layer, stamp)
