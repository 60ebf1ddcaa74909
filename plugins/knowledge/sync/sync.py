"""Brings store and index to what the sources hold, and survives being killed at any moment."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.contract import Objects
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.retrieval.indexing import SearchIndex
from plugins.knowledge.store import Store
from plugins.knowledge.sync import manifest as manifests
from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.plan import Planner
from plugins.knowledge.sync.sources import Notes, Scan
from plugins.knowledge.sync.transfer import Progress, Transfer

READER = 1
"""The version of the code that reads notes: when it changes, every note is read again."""

UNREAD = {"memory", "github", "schedule"}
"""The settings that change nothing about how a note is read."""


def rules_of(config: KnowledgeConfig) -> str:
    """What names the configuration by which notes are read, and the code that reads them."""
    written = f"{READER}:{config.model_dump_json(exclude=UNREAD)}"
    return hashlib.blake2b(written.encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class Status:
    """How the last sync went, for the health check.

    Attributes:
        ready: whether a sync has finished since the start.
        done: documents written by the sync that runs, of ``total``.
        problems: what members should mend.
        error: why the last sync failed, or an empty text.
    """

    ready: bool = False
    done: int = 0
    total: int = 0
    problems: Sequence[Problem] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one sync did: the keys of the documents that it wrote and removed."""

    written: Sequence[str] = ()
    removed: Sequence[str] = ()

    @property
    def changed(self) -> Sequence[str]:
        """The keys of all documents that are not what they were."""
        return [*self.written, *self.removed]


class Sync:
    """One sync at a time, from the sources to the store and the index.

    Args:
        sources: where the notes come from.
        objects: the plugin's share of the object store.
        store: the canonical store; its catalogue is filled by :meth:`load`.
        index: the search index.
        rules: what names the configuration by which notes are read.
        data_dir: where the embedded services keep their data; it must not become full.
    """

    def __init__(
        self,
        sources: Sequence[Notes],
        objects: Objects,
        store: Store,
        index: SearchIndex,
        rules: str,
        data_dir: Path,
    ) -> None:
        self.status = Status()
        self._sources = sources
        self._objects = objects
        self._store = store
        self._index = index
        self._rules = rules
        self._data_dir = data_dir
        self._own = data_dir / "manifest.json"
        self._manifest = Manifest()
        self._running = asyncio.Lock()

    async def load(self) -> None:
        """Show what an earlier process left in the store."""
        self._manifest = await manifests.load(self._objects, self._own, self._index.fingerprint)
        self._store.show(self._manifest.entries().values())

    async def run(self, progress: Progress = lambda done, total: None) -> Outcome:
        """Sync once.

        Args:
            progress: told how far the sync is, where it has documents to write.

        Raises:
            OSError: a source cannot be listed, or the store not written; what was served
                before is served on, and the next sync takes up the rest.
        """
        async with self._running:
            try:
                outcome = await self._run(progress)
            except Exception as error:
                self.status.error = str(error) or type(error).__name__
                raise
            self.status.error = ""
            self.status.ready = True
            return outcome

    async def _run(self, progress: Progress) -> Outcome:
        self._manifest = manifests.without(self._manifest, self._store.lost)
        self._store.lost.clear()
        scans, planner = await asyncio.to_thread(self._planner)
        needed = await asyncio.to_thread(planner.needed)
        for source, _ in scans:
            await source.provide(needed)
        plan = await asyncio.to_thread(planner.plan)
        self.status.problems = plan.problems
        after = Manifest(
            rules=self._rules,
            index=self._index.fingerprint,
            commits={source.key: scan.commit for source, scan in scans},
            files=plan.files,
        )
        if not plan.changes_nothing:
            transfer = Transfer(self._objects, self._store, self._index, self._save, self._data_dir)
            await transfer.carry_out(plan, self._manifest, after, self._telling(progress))
        if after != self._manifest:
            await self._save(after)
        return Outcome([put.document.key for put in plan.puts.values()], plan.removals)

    async def needed(self, source: Notes, scan: Scan) -> list[str]:
        """The files of a source whose bytes a sync would ask for.

        Args:
            source: the source.
            scan: what it is about to hold.
        """
        async with self._running:
            _, planner = await asyncio.to_thread(self._planner, (source, scan))
            found = await asyncio.to_thread(planner.needed)
        return [path for path in found if path in scan.files]

    async def apart(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something while no sync runs."""
        async with self._running:
            await work()

    def _planner(
        self, instead: tuple[Notes, Scan] | None = None
    ) -> tuple[list[tuple[Notes, Scan]], Planner]:
        """A planner for what the sources hold; ``instead`` is what one of them will hold."""
        if instead is None:
            scans = [(source, source.scan()) for source in self._sources]
        else:
            scans = [instead]
        return scans, Planner(self._manifest, scans, self._rules, self._index.fingerprint)

    def _telling(self, progress: Progress) -> Progress:
        def tell(done: int, total: int) -> None:
            self.status.done, self.status.total = done, total
            progress(done, total)

        return tell

    async def _save(self, manifest: Manifest) -> None:
        await manifests.save(self._objects, self._own, manifest)
        self._manifest = manifest
