"""Brings store and index to what the sources hold, and survives being killed at any moment."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gateway.contract import ContentScrub, Objects
from gateway.toolkit.freed_memory import give_back
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.notes.conversion import is_available
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.store import Store
from plugins.knowledge.sync.adopt import adopt_manifest, manifest_changes
from plugins.knowledge.sync.away import Scans, scan_all
from plugins.knowledge.sync.freshness import Freshness
from plugins.knowledge.sync.manifest import Manifest, without
from plugins.knowledge.sync.manifests import Manifests
from plugins.knowledge.sync.outdated_notes import clean_outdated
from plugins.knowledge.sync.plan import Planner
from plugins.knowledge.sync.sources import NoteSource, Scan
from plugins.knowledge.sync.status import Status
from plugins.knowledge.sync.transfer import OnDocuments, Transfer, part_of

Result = TypeVar("Result")

READER_VERSION = 10
"""The version of the code that reads notes: when it changes, every note is read again."""

MANY_DOCUMENTS = 1_000
"""So many written at once leave memory behind that is worth giving back to the system."""
CONVERTED_TOGETHER = 16
"""So many documents of other forms are converted before they can be found."""
_LOST = (
    "The search index was gone from the vector store and is being made anew. Ask again in a minute."
)

SETTINGS_NOT_READ = {"memory", "github", "schedule", "review_days", "resource_namespace"}
"""The settings that change nothing about how a note is read."""
DRAFT_SETTINGS = ("drafts", "drafts_folder")
"""Those of a source that say which of its files are notes only where its drafts lie among them."""


def rules_of(config: KnowledgeConfig, scrub: ContentScrub | None = None) -> str:
    """What names the configuration by which notes are read and cleaned, and the code that does."""
    cleaning = (scrub or ContentScrub("knowledge")).fingerprint()
    settings = config.model_dump(mode="json", exclude=SETTINGS_NOT_READ)
    for source, said in zip(config.sources, settings["sources"], strict=True):
        if source.directory is None or not source.drafts:
            for name in DRAFT_SETTINGS:
                del said[name]
    written = f"{READER_VERSION}:{cleaning}:{json.dumps(settings)}"
    if any(one.documents for one in config.sources) and not is_available():
        written += ":no documents"  # they are read once what reads them is installed
    return hashlib.blake2b(written.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one sync did.

    Attributes:
        written: the keys of the documents that it wrote.
        removed: the keys of those that it removed.
        recorded: whether there is a new manifest, for the others that share the store.
    """

    written: Sequence[str] = ()
    removed: Sequence[str] = ()
    recorded: bool = False

    @property
    def changed(self) -> Sequence[str]:
        """The keys of all documents that are not what they were."""
        return [*self.written, *self.removed]

    def __add__(self, later: Outcome) -> Outcome:
        """What this one and a later one did together."""
        return Outcome(
            [*self.written, *later.written],
            [*self.removed, *later.removed],
            self.recorded or later.recorded,
        )


class Sync:
    """One sync at a time, from the sources to the store and the index.

    Args:
        sources: where the notes come from.
        objects: the plugin's share of the object store.
        store: the canonical store; its catalogue is filled by :meth:`load`.
        index: the search index.
        rules: what names the configuration by which notes are read.
        data_dir: where the embedded services keep their data; it must not become full.

    Attributes:
        status: how the last sync went.
        index: the search index.
        own: where this process keeps the manifest of its index.
        removes_emptied: whether the documents of an empty directory are removed.
    """

    def __init__(
        self,
        sources: Sequence[NoteSource],
        objects: Objects,
        store: Store,
        index: Index,
        rules: str,
        data_dir: Path,
    ) -> None:
        self.status = Status()
        self.removes_emptied = False
        self._sources = sources
        self._objects = objects
        self._store = store
        self.index = index
        self._rules = rules
        self._data_dir = data_dir
        self.own = data_dir / "manifest.json"
        self._manifests = Manifests(objects, self.own)
        self._manifest = Manifest()
        self._freshness = Freshness()
        self._seen = ""
        self._away: list[str] = []
        self._running = asyncio.Lock()

    @property
    def is_running(self) -> bool:
        """Whether store and index are being brought up to date, or compared, just now."""
        return self._running.locked()

    @property
    def commits(self) -> Mapping[str, str]:
        """The commit of each source that is served, by its key."""
        return self._manifest.commits

    def unfinished(self) -> str:
        """What an answer says while it comes from a part of the base; else an empty text."""
        if self.index.has_former:  # it holds all of the base, and the search says that it answers
            return ""
        return self.status.unfinished() or (_LOST if self.index.is_lost else "")

    async def load(self) -> None:
        """Show what an earlier process left in the store."""
        self._manifest = await self._manifests.load(self.index.fingerprint)
        self.status.notes = len(self._manifest.files)
        half_done = self._manifest.pending or self._manifest.index != self.index.fingerprint
        self.status.begun = bool(self._manifest.files and half_done)
        self._store.show(self._manifest.entries().values())

    async def run(self, progress: OnDocuments = lambda done, total: None) -> Outcome:
        """Sync once.

        Args:
            progress: told how far the sync is, where it has documents to write.

        Raises:
            OSError: no source can be listed, or the store not written; what was served
                before is served on, and the next sync takes up the rest. Where some cannot be
                listed, the others are synced, and ``status.error`` names these.
        """
        async with self._running:
            try:
                outcome = await self._run(progress)
            except Exception as error:
                self.status.error = str(error) or type(error).__name__
                raise
            self.status.error = "; ".join(self._away)
            self.status.ready = True
            self.index.is_lost &= self._manifest.index != self.index.fingerprint
            if len(outcome.written) >= MANY_DOCUMENTS:
                await asyncio.to_thread(give_back)
            return outcome

    async def adopt(self, *, surely: bool = False) -> Outcome:
        """Serve what another process that shares the store has synced since, once it is done.

        Args:
            surely: whether to look even where nothing seems to have changed.
        """
        async with self._running:
            return await self._adopt(finished=True, surely=surely)

    async def _adopt(
        self,
        progress: OnDocuments = lambda done, total: None,
        *,
        finished: bool,
        surely: bool = False,
    ) -> Outcome:
        """The same within a turn; unless ``finished``, even of one that is half done."""
        seen = await self._manifests.stamp()
        if seen == self._seen and not surely:
            return Outcome()
        theirs = await self._manifests.written()
        unready = theirs is None or theirs.pending or theirs.rules != self._rules
        if theirs is None or (finished and unready):
            return Outcome()
        indexed = theirs.index == self.index.fingerprint
        if indexed and theirs == self._manifest:
            self._seen = seen
            return Outcome()
        for source in self._sources:
            await source.refresh()
        mine = self._manifest
        found = manifest_changes(self._known(), theirs)
        if found.keys:  # what of it is in the index, should this process end in between
            begun = {"pending": sorted({*mine.pending, *found.keys})}
            await self._manifests.save_own(mine.model_copy(update=begun))
        if not indexed and theirs.rules != self._rules:  # nothing goes into the index uncleaned
            doubted = {"pending": sorted({*mine.pending, *theirs.pending, *found.keys})}
            self._manifest = theirs.model_copy(update=doubted)
            return Outcome()
        tell = self._reported(progress)
        taken = await adopt_manifest(
            found, theirs, self._store, self.index, indexed=indexed, progress=tell
        )
        await self._serve(taken, mine)
        self._seen = seen
        return Outcome(list(found.changed), found.removed)

    async def _serve(self, taken: Manifest, mine: Manifest) -> None:
        """Go on from a manifest that was adopted; what was still to be done here is so yet."""
        undone = {
            "pending": sorted({*mine.pending, *taken.pending}),
            "pending_raw": sorted({*mine.pending_raw, *taken.pending_raw}),
        }
        self._manifest = taken.model_copy(update=undone)
        await self._manifests.save_own(self._manifest)
        problems = [one for record in taken.files.values() for one in record.problems]
        self.status.update(taken.files, problems)
        # What is still to be made of it is not served yet: the sync that makes it says when.
        self.status.ready = self.status.ready or not (undone["pending"] or undone["pending_raw"])

    def _known(self) -> Manifest:
        """What is served, and in the index for sure."""
        mine = self._manifest
        if mine.index == self.index.fingerprint:
            return mine
        shown = {entry.key for entry in mine.entries().values()}
        return Manifest(pending=sorted({*mine.pending, *shown}))

    async def _run(self, progress: OnDocuments) -> Outcome:
        """Sync until no source has gone on meanwhile.

        Where another process has taken in a newer commit, this one's manifest would else be the
        last that is written, and stay behind the notes that were fetched.
        """
        outcome = Outcome()
        while True:
            outcome += await self._adopt(progress, finished=False)
            synced = [source.fetched for source in self._sources]
            outcome += await self._follow_sources(progress)
            for source in self._sources:
                await source.refresh()
            if synced == [source.fetched for source in self._sources]:
                return outcome

    async def _follow_sources(self, progress: OnDocuments) -> Outcome:
        """Take in the notes, and then, some at a time, the documents of other forms.

        Of those each takes a second or more to convert; nothing else waits for them.
        """
        self.status.done = self.status.total = 0
        outcome, documents = await self._follow(self._reported(progress), ())
        total = len(documents)
        self.status.ready |= total > 0
        for done in range(0, total, CONVERTED_TOGETHER):
            self._reported(progress)(done, total)
            told = part_of(self._reported(progress), done, total)
            some = documents[done : done + CONVERTED_TOGETHER]
            outcome += (await self._follow(told, some))[0]
        self.status.done = self.status.total
        return outcome

    async def _follow(
        self, progress: OnDocuments, convert: Collection[str]
    ) -> tuple[Outcome, list[str]]:
        """Carry out one plan.

        Args:
            progress: told of what it writes.
            convert: the documents of other forms that it reads.

        Returns:
            What it did, and the documents of other forms that were to be read.
        """
        self._manifest = without(self._manifest, self._store.lost)
        self._store.lost.clear()
        scans, planner = await asyncio.to_thread(self._planner, convert=convert)
        needed = await asyncio.to_thread(planner.needed)
        for source, _ in scans:
            await source.provide(needed)
        plan = await asyncio.to_thread(planner.plan)
        if self._manifest.rules != self._rules:
            await clean_outdated(plan, scans, self._objects)
        self.status.update(plan.files, plan.problems)
        after = Manifest(
            rules=self._rules,
            index=self.index.fingerprint,
            commits={source.key: scan.commit for source, scan in scans},
            files=plan.files,
        )
        if not plan.changes_nothing:
            transfer = Transfer(self._objects, self._store, self.index, self._save, self._data_dir)
            await transfer.carry_out(plan, self._manifest, after, progress)
        if recorded := after != self._manifest:
            await self._save(after)
        written = [put.document.key for put in plan.puts.values()]
        return Outcome(written, plan.removals, recorded), planner.documents()

    async def needed(self, source: NoteSource, scan: Scan) -> list[str]:
        """The files of a source whose bytes a sync would ask for.

        Args:
            source: the source.
            scan: what it is about to hold.
        """
        async with self._running:
            _, planner = await asyncio.to_thread(self._planner, (source, scan))
            found = await asyncio.to_thread(planner.needed)
        return [path for path in found if path in scan.files]

    async def exclusively(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do something while no sync runs."""
        async with self._running:
            return await work()

    async def mark_pending(
        self, manifest: Manifest | None, keys: Set[str], paths: Set[str]
    ) -> None:
        """Have the next sync write documents and originals again; to be called :meth:`exclusively`.

        Args:
            manifest: what should be there; None means what this process knows.
            keys: of documents.
            paths: of notes.
        """
        manifest = manifest or self._manifest
        pending = {"pending": sorted({*manifest.pending, *keys})}
        raw = {"pending_raw": sorted({*manifest.pending_raw, *paths})}
        await self._save(manifest.model_copy(update=pending | raw))

    def _planner(
        self,
        instead: tuple[NoteSource, Scan] | None = None,
        convert: Collection[str] | None = None,
    ) -> tuple[Scans, Planner]:
        """A planner for what the sources hold; ``instead`` is what one of them will hold."""
        if instead is None:
            emptied = self.removes_emptied
            scans, self._away = scan_all(self._sources, self._manifest, emptied=emptied)
        else:
            scans = [instead]
        known, index = self._manifest, self.index.fingerprint
        return scans, Planner(known, scans, self._rules, index, self._freshness, convert)

    def _reported(self, progress: OnDocuments) -> OnDocuments:
        def tell(done: int, total: int) -> None:
            self.status.done, self.status.total = done, total
            progress(done, total)

        return tell

    async def _save(self, manifest: Manifest) -> None:
        await self._manifests.save(manifest)
        self._manifest = manifest
        self._seen = await self._manifests.stamp()
