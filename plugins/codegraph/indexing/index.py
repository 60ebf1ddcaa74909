"""The indexer: brings the graph of a repository to what its files say.

Its steps are scan (what is there), parse (what each file says), link (what that means together),
write (a layer's rows, in short transactions) and flip (the layer is served). Each can be repeated:
a file that was parsed or written is not parsed or written again, so an index that was killed goes
on where it was when it is asked for once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from plugins.codegraph.indexing.basis import Basis
from plugins.codegraph.indexing.cache import missing_in
from plugins.codegraph.indexing.full import FullIndex
from plugins.codegraph.indexing.incremental import Incremental
from plugins.codegraph.indexing.memory import Memory
from plugins.codegraph.indexing.overlay import Edits, Site, overlaid
from plugins.codegraph.indexing.parse import Parsing
from plugins.codegraph.indexing.place import Place
from plugins.codegraph.indexing.progress import Progress, Steps, silent
from plugins.codegraph.indexing.scan import Limits, Scan, scan
from plugins.codegraph.indexing.snapshot import keys_of
from plugins.codegraph.indexing.source import Source, Summary, counted
from plugins.codegraph.indexing.tasks import Parsed
from plugins.codegraph.indexing.workers import Workers
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Overlay
from plugins.codegraph.store.store import GraphStore


@dataclass(frozen=True, slots=True)
class Work:
    """Whose uncommitted work an overlay is, and until when it is kept."""

    person: str
    branch: str
    digest: str
    expires: datetime


class Indexer:
    """Indexes repositories. One repository at a time: whoever calls sees to that.

    Args:
        store: where the graphs are.
        directory: where it keeps what it can make again, one directory a repository.
        limits: what is indexed at most.
        workers: the processes that parse and link; its own where None.
    """

    def __init__(
        self,
        store: GraphStore,
        directory: Path,
        limits: Limits | None = None,
        workers: Workers | None = None,
    ) -> None:
        self._store, self._directory = store, directory
        self._limits = limits or Limits()
        self._workers = workers or Workers()
        self._memory = Memory()
        self._preparing: asyncio.Task[None] | None = None

    async def index(self, source: Source, progress: Progress = silent) -> Summary:
        """Bring a repository's graph to what its files say: all of it, or what has changed.

        Args:
            source: the repository.
            progress: told how far it is.

        Raises:
            NoDirectory: its directory is not there.
            LayerGone: the repository was removed meanwhile.
        """
        steps = Steps(progress)
        found = await scan(source.root, self._limits, time.time_ns())
        parsing = self._parsing(source)
        if self._preparing is not None:
            await asyncio.wait({self._preparing})
        view = await self._store.view(source.org, source.repo)
        basis = None
        if view is not None:
            basis = self._memory.take(view)
            if basis is None:
                basis = await Basis.of(self._store.database, source.owner, view.layer)
            place = self._place(source.repo)
            small = Incremental(self._store, self._workers, place, source, steps)
            summary = await small.update(parsing, found, view, basis)
            if summary is not None:
                generation = view.generation if small.generation is None else small.generation
                self._memory.keep(source.org, source.repo, basis, generation)
                parsing.warm(basis.files)
                self._prepare(basis)
                return summary
        return await self._full(source, found, parsing, basis, steps)

    async def rebuild(self, source: Source, progress: Progress = silent) -> Summary:
        """Index a repository anew, whatever of it is known."""
        found = await scan(source.root, self._limits, time.time_ns())
        return await self._full(source, found, self._parsing(source), None, Steps(progress))

    async def overlay(
        self,
        source: Source,
        view: RepositoryView,
        edits: Edits,
        work: Work,
        progress: Progress = silent,
    ) -> Summary:
        """Write a person's uncommitted work as a layer of its own, over a view's base.

        It takes the place of what the person had on that branch before.

        Args:
            source: the repository; its directory is not read.
            view: the view whose base was edited.
            edits: the bytes of each edited file, None for deleted ones.
            work: whose it is.
            progress: told how far it is.
        """
        place, parsing = self._place(source.repo), self._parsing(source)
        site = Site(self._store, self._workers, place, source, parsing)
        change = await overlaid(site, view.layer, edits, Steps(progress))
        overlay = Overlay(
            work.person, work.branch, work.digest, work.expires, view.layer, view.generation
        )
        layer = await self._store.layers(source.owner).overlay(overlay, change)
        shown = [each for each in change.files if not each.gone]
        gone = len(change.files) - len(shown)
        done = counted(layer, shown, parsed=len(edits), linked=len(shown), full=False)
        return replace(done, gone=gone)

    async def forget(self, repo: str) -> None:
        """Delete what is kept of a repository beside the database."""
        self._memory.forget(repo)
        await asyncio.to_thread(self._place(repo).delete)

    async def leftovers(self, repo: str) -> int:
        """How many files are kept of a repository beside the database."""
        directory = self._place(repo).directory
        return await asyncio.to_thread(lambda: sum(1 for _ in directory.glob("*")))

    async def close(self) -> None:
        """End the workers."""
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)
        await self._workers.close()

    def _prepare(self, basis: Basis) -> None:
        """Have what a change will need read by the time that there is one; returns at once."""

        async def work() -> None:
            with contextlib.suppress(Exception):  # whoever needs it meets the same again
                await basis.prepare()

        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(work())

    async def _full(
        self, source: Source, found: Scan, parsing: Parsing, basis: Basis | None, steps: Steps
    ) -> Summary:
        settled = {} if basis is None else await self._settled(source, basis, found)
        layers = self._store.layers(source.owner)
        full = FullIndex(self._workers, layers, self._place(source.repo), source, steps)
        return await full.build(parsing, found, settled)

    async def _settled(self, source: Source, basis: Basis, found: Scan) -> dict[str, Parsed]:
        """The files that need not be read: they are what they were, and their facts are here."""
        await basis.load_links()
        changed = {each.path for each in basis.difference(found).unread}
        known = basis.known
        place = self._place(source.repo)
        missing = await asyncio.to_thread(missing_in, place.cache, keys_of(known.values()))
        there = {each.path for each in found.found} - changed
        there -= {path for path, each in known.items() if (each.digest, each.reader) in missing}
        return {path: each for path, each in basis.settled().items() if path in there}

    def _parsing(self, source: Source) -> Parsing:
        place = self._place(source.repo)
        return Parsing(self._workers, place, source, self._limits)

    def _place(self, repo: str) -> Place:
        return Place(self._directory / repo)
