"""Keeps the indexes: builds them, serves them while the portal runs, and tells how it goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from gateway.contract import Health, Host, JobRun, Offer, ToolFailed, follow
from gateway.repositories import Repository
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.build import build, settings_of
from plugins.skills_repo.index.entries import SourceIndex
from plugins.skills_repo.index.library import Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.search import Search
from plugins.skills_repo.shelf import Shelf
from plugins.skills_repo.skills import left_out

LOOK_SECONDS = 5.0
"""How often an index that another process has built is looked for."""
RETRY_SECONDS = 300.0
"""After how long a source that has no index yet is tried again."""
RESCAN_SECONDS = 600
"""How often a directory is read anew where its file system reports no changes."""

_MOST_NAMED = 20


class Keeper:
    """Builds indexes and serves them; each stays until a better one is there.

    Args:
        host: the plugin's services.
        sources: the configured sources, in their order.
        repositories: where each source is, by its name.
        shelf: serves them.
        search: finds in them.
        offer: makes the offer of what the shelf holds now.
    """

    def __init__(
        self,
        host: Host,
        sources: Sequence[Source],
        repositories: Mapping[str, Repository],
        shelf: Shelf,
        search: Search,
        offer: Callable[[], Offer],
    ) -> None:
        self._host = host
        self._sources = {source.name: source for source in sources}
        self._repositories = repositories
        self._store = IndexStore(host.objects)
        self._shelf = shelf
        self._search = search
        self._offer = offer
        self._indexes: dict[str, SourceIndex] = {}
        self._errors: dict[str, str] = {}
        self._search_error = ""
        self._left_out: list[str] = []
        self._stamp = b""
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve what is there and keep it up to date, for as long as the block lasts.

        Directories are read before the block begins if they have no index yet. Where the host
        waits until the plugin is ready, so is everything else, and nothing goes on behind.
        """
        await self._load()
        if self._host.wait_ready:
            await self.rebuild(self._missing() | self._local())
            yield
            return
        first = self._missing() & self._local()
        await self.rebuild(first, searched=False)
        following = [asyncio.create_task(self._follow()), asyncio.create_task(self._watch())]
        try:
            yield
        finally:
            for each in following:
                each.cancel()
            for each in following:
                with suppress(asyncio.CancelledError):
                    await each

    async def rebuild(self, names: Iterable[str], *, searched: bool = True) -> dict[str, str]:
        """Build the indexes of some sources anew, and serve those that were built.

        Args:
            names: the sources; unknown ones are passed over.
            searched: whether to wait until search knows of it.

        Returns:
            Why those that failed did; their last index is served on.
        """
        async with self._turn:
            wanted = [name for name in self._sources if name in set(names)]
            for name in wanted:
                await self._build(self._sources[name])
            self._stamp = await self._store.stamp()
        if searched:
            await self._refresh_search()
        return {name: self._errors[name] for name in wanted if name in self._errors}

    async def run_job(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Build as a job: the sources that the payload names, or all of them."""
        names = payload.get("sources") or list(self._sources)
        failed = await self.rebuild(names)
        return {"sources": list(names), "failed": failed}

    async def health(self) -> Health:
        """``starting`` until every source was tried once; ``degraded`` where one failed."""
        facts = self._facts()
        if self._errors:
            served = bool(self._indexes)  # A source that holds nothing is served, too.
            said = " ".join(self._said(name) for name in self._errors)
            return Health("degraded" if served else "failed", said, facts)
        if waiting := [name for name in self._sources if name not in self._indexes]:
            return Health("starting", f"Reading {', '.join(waiting)} for the first time.", facts)
        if self._search_error:
            return Health("degraded", self._search_error, facts)
        if not self._sources:
            return Health("ok", "No source is configured.", facts)
        return Health("ok", self._noted(facts), facts)

    # What is served.

    async def _load(self) -> None:
        """Serve what the store holds."""
        self._stamp = await self._store.stamp()
        for name, source in self._sources.items():
            index = await self._store.load(name, source.kind, settings_of(source))
            before = self._indexes.get(name)
            if index is not None and (before is None or before.built != index.built):
                self._indexes[name] = index
                self._errors.pop(name, None)
                self._shelf.forget(name)
        self._show()

    def _show(self) -> None:
        self._shelf.show(self._library())
        self._left_out = left_out(self._shelf.library)
        self._host.reoffer(self._offer())

    def _library(self) -> Library:
        return Library(list(self._sources.values()), self._indexes)

    async def _refresh_search(self) -> None:
        try:
            await self._search.refresh(self._shelf.library)
            self._search_error = ""
        except Exception as error:
            self._search_error = f"Search is not up to date: {error or type(error).__name__}."
            self._host.log.error("search_not_refreshed", exc_info=error)

    # How it is built.

    async def _build(self, source: Source) -> None:
        before = self._indexes.get(source.name)
        try:
            index, texts = await build(source, self._repositories[source.name])
            if before is None or not before.says_as(index):
                await self._store.save(index, texts)
        except Exception as error:
            self._failed(source, error)
            return
        self._errors.pop(source.name, None)
        self._indexes[source.name] = index
        self._shelf.forget(source.name)
        if before is None or _entries(before) != _entries(index):
            self._host.log.info("indexed", source=source.name, entries=len(index))
            self._show()
        else:  # The same entries at another commit: nothing that a client was told has changed.
            self._shelf.show(self._library())

    def _failed(self, source: Source, error: Exception) -> None:
        expected = isinstance(error, ToolFailed | OSError)
        reason = str(error) or type(error).__name__
        if self._errors.get(source.name) != reason:
            trace = None if expected else error
            self._host.log.error("not_indexed", source=source.name, reason=reason, exc_info=trace)
        self._errors[source.name] = reason

    async def _watch(self) -> None:
        """Build directories anew, now and whenever a file in them changes."""
        directories = [each.directory for each in self._sources.values() if each.directory]
        if directories:
            await follow(directories, self._up_to_date, rescan=RESCAN_SECONDS)

    async def _up_to_date(self) -> bool:
        try:
            return not await self.rebuild(self._local())
        except Exception as error:
            self._host.log.error("index_not_looked_after", exc_info=error)
            return False

    async def _follow(self) -> None:
        """Build what is not built yet, then serve what others build and mend what is amiss."""
        await self.rebuild(self._missing() - self._local())
        loop = asyncio.get_running_loop()
        retry_at = loop.time() + RETRY_SECONDS
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            wanted = self._shelf.out_of_step & self._local()
            if loop.time() >= retry_at:
                retry_at = loop.time() + RETRY_SECONDS
                wanted = self._shelf.out_of_step | self._missing()
            try:
                await self._look()
                if wanted:
                    self._shelf.out_of_step -= wanted
                    await self.rebuild(wanted)
            except Exception as error:
                self._host.log.error("index_not_looked_after", exc_info=error)

    async def _look(self) -> None:
        """Serve the indexes that another process has built since."""
        if self._turn.locked() or await self._store.stamp() == self._stamp:
            return
        async with self._turn:
            await self._load()
        await self._refresh_search()

    def _missing(self) -> set[str]:
        return {name for name in self._sources if name not in self._indexes}

    def _local(self) -> set[str]:
        return {name for name, source in self._sources.items() if source.directory is not None}

    # What is told.

    def _said(self, name: str) -> str:
        kept = self._indexes.get(name)
        after = "Its last index is served." if kept is not None else "It has no index yet."
        return f"The source {name} could not be indexed: {self._errors[name].rstrip('.')}. {after}"

    def _facts(self) -> dict[str, Any]:
        faults = [fault for index in self._indexes.values() for fault in index.faults]
        passed_over = [
            f"{name}/{each}" for name, index in self._indexes.items() for each in index.passed_over
        ]
        indexes = self._indexes.values()
        return {
            "skills": sum(len(index.skills) for index in indexes),
            "agents": sum(len(index.agents) for index in indexes),
            "docs": sum(len(index.docs) for index in indexes),
            "sources": {name: self._source_facts(name) for name in self._sources},
            "unreadable": faults[:_MOST_NAMED],
            "passedOver": passed_over[:_MOST_NAMED],
            "leftOutOfSkills": self._left_out[:_MOST_NAMED],
            "leftOutOfSkillsCount": len(self._left_out),
        }

    def _source_facts(self, name: str) -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": self._sources[name].kind, "error": self._errors.get(name)}
        if (index := self._indexes.get(name)) is None:
            return facts
        built = f"{index.built:%Y-%m-%d %H:%M:%S} UTC" if index.built else None
        return facts | {"entries": len(index), "commit": index.commit, "built": built}

    def _noted(self, facts: Mapping[str, Any]) -> str:
        count = facts["leftOutOfSkillsCount"]
        if not count:
            return ""
        first = facts["leftOutOfSkills"][0]
        more = f" (and {count - 1} more)" if count > 1 else ""
        return (
            f"{count} skill{'s' * (count != 1)} broke the rules of the Skills extension and can "
            f"be had by get_skill alone: {first}{more}. `porch skills check` says what to mend."
        )


def _entries(index: SourceIndex) -> tuple[object, ...]:
    return (index.skills, index.agents, index.docs)
