"""Builds the indexes and serves them while the portal runs."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from gateway.contract import Health, Host, JobRun, Offer, ToolFailed, follow_each
from gateway.repositories import Repository
from gateway.toolkit.background import background, cancel, start
from gateway.toolkit.reasons import log_fields
from gateway.toolkit.spans import span
from plugins.skills_repo.catalogue import Catalogue
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.build import build, source_fingerprint
from plugins.skills_repo.index.entries import SourceIndex
from plugins.skills_repo.index.library import Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.search import Search
from plugins.skills_repo.skills import nonconforming
from plugins.skills_repo.status import Status

FIRST_BUILD_TIMEOUT_S = 5.0
"""Seconds that the plugin's opening waits for directories to be read the first time."""
POLL_INTERVAL_S = 5.0
"""How often an index that another process has built is looked for."""
RETRY_INTERVAL_S = 300.0
"""After how long a source that has no index yet is tried again."""
RESCAN_INTERVAL_S = 600
"""How often a directory is looked through where its file system reports no changes."""
MAX_CONCURRENT_BUILDS = 4
"""Sources that are read at the same time, so that a small one does not wait for a large one."""


class IndexLoop:
    """Builds indexes and serves each until a newer one has been built.

    Args:
        host: the plugin's services.
        sources: the configured sources, in their order.
        repositories: where each source is, by its name.
        catalogue: what serves the indexes.
        search: the search over them.
        offer: makes the offer of what is served now.
    """

    def __init__(
        self,
        host: Host,
        sources: Sequence[Source],
        repositories: Mapping[str, Repository],
        catalogue: Catalogue,
        search: Search,
        offer: Callable[[], Offer],
    ) -> None:
        self._host = host
        self._sources = {source.name: source for source in sources}
        self._repositories = repositories
        self._store = IndexStore(host.objects)
        self._catalogue = catalogue
        self._search = search
        self._offer = offer
        self._status = Status(self._sources)
        self._stamp = b""
        self._files: dict[str, str | None] = {}
        self._turns: Mapping[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._at_once = asyncio.Semaphore(MAX_CONCURRENT_BUILDS)
        self._to_search = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve what is there and keep it up to date, for as long as the block lasts.

        Directories that have no index yet are waited for, a moment long; a larger one is listed
        once it has been read. Where the host waits until the plugin is ready, so is everything
        else, and nothing goes on behind.
        """
        await self._load()
        if self._host.wait_ready:
            await self.rebuild(self._status.missing() | self._local())
            yield
            return
        first = start(self._build_all(self._status.missing() & self._local()))
        await asyncio.wait({first}, timeout=FIRST_BUILD_TIMEOUT_S)
        works = (self._follow(), self._watch(first), self._keep_searchable())
        try:
            async with background(*works):
                yield
        finally:
            await cancel(first)

    async def rebuild(self, names: Iterable[str]) -> dict[str, str]:
        """Build the indexes of some sources anew, and serve those that were built.

        Args:
            names: the sources; unknown ones are passed over.

        Returns:
            Why those that failed did; their last index is served on.
        """
        wanted = [name for name in self._sources if name in set(names)]
        await self._build_all(wanted)
        if self._host.wait_ready:
            await self._refresh_search()
        self._to_search.set()
        errors = self._status.errors
        return {name: errors[name] for name in wanted if name in errors}

    async def run_job(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Build as a job: the sources that the payload names, or all of them."""
        names = payload.get("sources") or list(self._sources)
        failed = await self.rebuild(names)
        return {"sources": list(names), "failed": failed}

    async def health(self) -> Health:
        """The health of the sources."""
        return self._status.health()

    # What is served.

    async def _load(self) -> None:
        """Serve the indexes that are stored."""
        self._stamp = await self._store.stamp()
        indexes = self._status.indexes
        for name, source in self._sources.items():
            index = await self._store.load(name, source.kind, source_fingerprint(source))
            before = indexes.get(name)
            if index is not None and (before is None or before.built != index.built):
                indexes[name] = index
                self._status.errors.pop(name, None)
                self._catalogue.forget(name)
        self._show()

    def _show(self) -> None:
        self._catalogue.show(self._library())
        self._status.left_out = nonconforming(self._catalogue.library)
        self._host.reoffer(self._offer())

    def _library(self) -> Library:
        return Library(list(self._sources.values()), self._status.indexes)

    async def _keep_searchable(self) -> None:
        """Update the search index after each change, without holding up lists and files."""
        self._to_search.set()
        while True:
            await self._to_search.wait()
            self._to_search.clear()
            await self._refresh_search()

    async def _refresh_search(self) -> None:
        try:
            await self._search.refresh(self._catalogue.library)
            self._status.search_error = ""
        except Exception as error:
            said = f"Search is not up to date: {error or type(error).__name__}."
            self._status.search_error = said
            self._host.log.error("search_not_refreshed", **log_fields(error))

    # How it is built.

    async def _build_all(self, names: Iterable[str]) -> None:
        await asyncio.gather(*(self._build(self._sources[name]) for name in names))
        # Where it cannot be asked, the next look loads what was built, as if others had.
        await self._guarded(self._stamped())

    async def _stamped(self) -> None:
        self._stamp = await self._store.stamp()

    async def _build(self, source: Source) -> None:
        async with self._turns[source.name], self._at_once:
            before = self._status.indexes.get(source.name)
            try:
                files = await self._files_of(source.name)
                with span("sync skills", {"porch.source": source.name}, root=True):
                    index = await self._read(source, before)
            except Exception as error:
                self._failed(source, error)
                return
            self._files[source.name] = files
            self._serve(index, before)

    async def _read(self, source: Source, before: SourceIndex | None) -> SourceIndex:
        """Read a source whole, and keep its index where it says something new."""
        tell = partial(self._status.reading.__setitem__, source.name)
        try:
            index, texts = await build(source, self._repositories[source.name], tell)
        finally:
            self._status.reading.pop(source.name, None)
        if before is None or not before.says_as(index):
            await self._store.save(index, texts)
        return index

    def _serve(self, index: SourceIndex, before: SourceIndex | None) -> None:
        name = index.source
        self._status.errors.pop(name, None)
        self._status.indexes[name] = index
        self._catalogue.forget(name)
        if before is None or before.entries != index.entries:
            self._host.log.info("indexed", source=name, entries=len(index))
            self._show()
        else:  # The same entries at another commit: nothing that a client was told has changed.
            self._catalogue.show(self._library())

    def _failed(self, source: Source, error: Exception) -> None:
        expected = isinstance(error, ToolFailed | OSError)
        reason = str(error) or type(error).__name__
        self._files.pop(source.name, None)
        if self._status.errors.get(source.name) != reason:
            trace = None if expected else error
            self._host.log.error("not_indexed", source=source.name, reason=reason, exc_info=trace)
        self._status.errors[source.name] = reason

    # When it is built.

    async def _watch(self, first: asyncio.Task[None]) -> None:
        """Build directories anew, now and whenever a file in them changes."""
        directories = {each.directory for each in self._sources.values() if each.directory}
        if directories:
            await asyncio.wait({first})
            await follow_each(sorted(directories), self._up_to_date, rescan=RESCAN_INTERVAL_S)

    async def _up_to_date(self, directories: frozenset[Path]) -> bool:
        """Build those sources in some directories anew in which a file is another than before."""
        try:
            concerned = [n for n in self._local() if self._sources[n].directory in directories]
            changed = [name for name in concerned if not await self._is_as_read(name)]
            return not await self.rebuild(changed) if changed else True
        except Exception as error:
            self._host.log.error("index_not_looked_after", **log_fields(error))
            return False

    async def _is_as_read(self, name: str) -> bool:
        files = await self._files_of(name)
        return files is not None and files == self._files.get(name)

    async def _files_of(self, name: str) -> str | None:
        """What changes whenever a file of a directory does; None where only reading tells."""
        source = self._sources[name]
        if source.directory is None:
            return None
        return await self._repositories[name].stamp(source.path)

    async def _follow(self) -> None:
        """Build missing indexes, then load what other processes build and retry what failed."""
        loop = asyncio.get_running_loop()
        retry_at = loop.time() + RETRY_INTERVAL_S
        wanted = self._status.missing() - self._local()
        while True:
            await self._guarded(self._look())
            if wanted:
                self._catalogue.out_of_step -= wanted
                await self._guarded(self.rebuild(wanted))
            await asyncio.sleep(POLL_INTERVAL_S)
            wanted = self._catalogue.out_of_step & self._local()
            if loop.time() >= retry_at:
                retry_at = loop.time() + RETRY_INTERVAL_S
                wanted = self._catalogue.out_of_step | self._status.missing()

    async def _guarded(self, step: Awaitable[object]) -> None:
        try:
            await step
        except Exception as error:
            self._host.log.error("index_not_looked_after", **log_fields(error))

    async def _look(self) -> None:
        """Serve the indexes that another process has built since."""
        is_building = any(turn.locked() for turn in self._turns.values())
        if not is_building and await self._store.stamp() != self._stamp:
            await self._load()
            self._to_search.set()

    def _local(self) -> set[str]:
        return {name for name, source in self._sources.items() if source.directory is not None}
