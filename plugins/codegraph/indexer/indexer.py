"""The indexer: updates the graph of a repository to the state of its files.

Its steps are scan (list the files), parse (each file to facts), link (facts to edges), write (a
layer's rows, in short transactions) and flip (serve the layer). Each can be repeated: a file that
was parsed or written is not parsed or written again, so an interrupted index resumes where it was
when it is started once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gateway.toolkit.sql import batches
from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.indexer.cache_dir import CacheDir
from plugins.codegraph.indexer.facts_cache import missing_in
from plugins.codegraph.indexer.full import FullIndex
from plugins.codegraph.indexer.incremental import Incremental
from plugins.codegraph.indexer.layer_cache import LayerCache
from plugins.codegraph.indexer.overlay import Edits, OverlayContext, overlaid
from plugins.codegraph.indexer.parse_stage import ParseStage
from plugins.codegraph.indexer.progress import Progress, Steps, silent
from plugins.codegraph.indexer.scan import Limits, Scan, scan
from plugins.codegraph.indexer.snapshot import keys_of
from plugins.codegraph.indexer.source import Source, Summary, counted
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.indexer.tree_edits import MAX_FILES, Tree, tree_edits
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Change, Overlay, Stamp
from plugins.codegraph.store.store import GraphStore

WRITTEN_AT_ONCE = 200
"""Files of a branch that are written in one transaction: others may write in between."""


@dataclass(frozen=True, slots=True)
class BranchLayer:
    """A branch's graph as a layer that is written, and not yet served.

    Attributes:
        layer: its number.
        files: the paths that differ from the base, sorted.
    """

    layer: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OverlayOwner:
    """The owner of an overlay (a person's uncommitted work on a branch), and its expiry."""

    person: str
    branch: str
    digest: str
    expires: datetime


class Indexer:
    """Indexes repositories. The caller must not index one repository twice at the same time.

    Args:
        store: where the graphs are stored.
        directory: for derived data, one subdirectory per repository.
        limits: the limits of what is indexed.
        workers: the processes that parse and link; creates its own if None.
    """

    def __init__(
        self,
        store: GraphStore,
        directory: Path,
        limits: Limits | None = None,
        workers: WorkerPool | None = None,
    ) -> None:
        self._store, self._directory = store, directory
        self._limits = limits or Limits()
        self._workers = workers or WorkerPool()
        self._memory = LayerCache()
        self._preparing: asyncio.Task[None] | None = None

    async def index(self, source: Source, progress: Progress = silent) -> Summary:
        """Update a repository's graph: in full, or only what has changed.

        Args:
            source: the repository.
            progress: receives the progress.

        Raises:
            NoDirectory: its directory does not exist.
            LayerGone: the repository was removed meanwhile.
        """
        steps = Steps(progress)
        found = await scan(source.root, self._limits, time.time_ns())
        parser = self._parser(source)
        if self._preparing is not None:
            await asyncio.wait({self._preparing})
        view = await self._store.view(source.org, source.repo)
        base = None
        if view is not None:
            base = await self._base(source, view)
            cache_dir = self._cache_dir(source.repo)
            small = Incremental(self._store, self._workers, cache_dir, source, steps)
            summary = await small.update(parser, found, view, base)
            if summary is not None:
                generation = view.generation if small.generation is None else small.generation
                self._memory.keep(source.org, source.repo, base, generation)
                parser.warm(base.files)
                self._prepare(base)
                return summary
        return await self._full(source, found, parser, base, steps)

    async def rebuild(self, source: Source, progress: Progress = silent) -> Summary:
        """Index a repository from scratch, ignoring what is stored."""
        found = await scan(source.root, self._limits, time.time_ns())
        return await self._full(source, found, self._parser(source), None, Steps(progress))

    async def overlay(
        self,
        source: Source,
        view: RepositoryView,
        edits: Mapping[str, bytes | None],
        work: OverlayOwner,
        progress: Progress = silent,
    ) -> Summary:
        """Write a person's uncommitted work as an overlay over a view's base layer.

        It replaces the person's earlier overlay on that branch.

        Args:
            source: the repository; its directory is not read.
            view: the view whose base was edited.
            edits: the bytes of each edited file, None for deleted ones.
            work: the overlay's owner.
            progress: receives the progress.
        """
        site = self._site(source)
        base = await BaseLayer.of(self._store.database, source.owner, view.layer)
        change = await overlaid(site, base, Edits.of(edits), Steps(progress))
        overlay = Overlay(
            work.person, work.branch, work.digest, work.expires, view.layer, view.generation
        )
        layer = await self._store.layers(source.owner).overlay(overlay, change)
        shown = [each for each in change.files if not each.gone]
        gone = len(change.files) - len(shown)
        done = counted(layer, shown, parsed=len(edits), linked=len(shown), full=False)
        return replace(done, gone=gone)

    async def branch(
        self,
        source: Source,
        view: RepositoryView,
        tree: Tree,
        stamp: Stamp,
        progress: Progress = silent,
    ) -> BranchLayer:
        """Write a commit of another branch as a layer over a view's base layer.

        As with an index, the caller must not index the repository at the same time.

        Args:
            source: the repository; its directory is not read.
            view: the view whose base layer it is laid over.
            tree: the commit.
            stamp: its branch and id.
            progress: receives the progress.

        Raises:
            GitFailed: the commit, or something of it, is not there.
            TooDifferent: so much differs from the base that a layer is no help.
        """
        steps, owner = Steps(progress), source.owner
        base = await self._base(source, view)
        edits = await tree_edits(self._store.database, base, owner, tree, self._limits)
        change = await overlaid(self._site(source), base, edits, steps, MAX_FILES)
        layers = self._store.layers(owner)
        layer = await layers.begin(stamp, (view.layer, view.generation))
        for some in batches(change.contents, WRITTEN_AT_ONCE):
            await layers.keep(layer, some)
        for files in batches(change.files, WRITTEN_AT_ONCE):
            await layers.write(layer, files)
        self._memory.keep(source.org, source.repo, base, view.generation)
        return BranchLayer(layer, _differing(base, change))

    async def _base(self, source: Source, view: RepositoryView) -> BaseLayer:
        """The state of a view's base layer; who takes it keeps it again where it still holds."""
        base = self._memory.take(view)
        return base or await BaseLayer.of(self._store.database, source.owner, view.layer)

    def _site(self, source: Source) -> OverlayContext:
        cache_dir, parser = self._cache_dir(source.repo), self._parser(source)
        return OverlayContext(self._store, self._workers, cache_dir, source, parser)

    async def forget(self, repo: str) -> None:
        """Delete a repository's derived data outside of the database."""
        self._memory.forget(repo)
        await asyncio.to_thread(self._cache_dir(repo).delete)

    async def leftovers(self, repo: str) -> int:
        """The number of a repository's files outside of the database."""
        directory = self._cache_dir(repo).directory
        return await asyncio.to_thread(lambda: sum(1 for _ in directory.glob("*")))

    async def close(self) -> None:
        """Stop the workers."""
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)
        await self._workers.close()

    def _prepare(self, base: BaseLayer) -> None:
        """Load what the next update will need, in the background; returns at once."""

        async def work() -> None:
            with contextlib.suppress(Exception):  # the next user of it gets the same error
                await base.prepare()

        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(work())

    async def _full(
        self,
        source: Source,
        found: Scan,
        parser: ParseStage,
        base: BaseLayer | None,
        steps: Steps,
    ) -> Summary:
        as_parsed = {} if base is None else await self._settled(source, base, found)
        layers = self._store.layers(source.owner)
        full = FullIndex(self._workers, layers, self._cache_dir(source.repo), source, steps)
        return await full.build(parser, found, as_parsed)

    async def _settled(self, source: Source, base: BaseLayer, found: Scan) -> dict[str, Parsed]:
        """The files that need not be read: unchanged, with their facts in the cache."""
        await base.load_links()
        changed = {each.path for each in base.difference(found).unread}
        known = base.known
        cache_dir = self._cache_dir(source.repo)
        missing = await asyncio.to_thread(missing_in, cache_dir.cache, keys_of(known.values()))
        there = {each.path for each in found.found} - changed
        there -= {path for path, each in known.items() if (each.digest, each.reader) in missing}
        return {path: each for path, each in base.as_parsed().items() if path in there}

    def _parser(self, source: Source) -> ParseStage:
        cache_dir = self._cache_dir(source.repo)
        return ParseStage(self._workers, cache_dir, source, self._limits)

    def _cache_dir(self, repo: str) -> CacheDir:
        return CacheDir(self._directory / repo)


def _differing(base: BaseLayer, change: Change) -> tuple[str, ...]:
    """The paths of files that are others than in a layer, and do not only link differently."""
    paths = []
    for each in change.files:
        state = base.files.get(each.report.path)
        if each.gone or state is None or state.report != each.report:
            paths.append(each.report.path)
    return tuple(sorted(paths))
