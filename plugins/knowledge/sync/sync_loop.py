"""Runs the sync at the start and after every change, and reports its health."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from gateway.contract import Change, Health, Host, Tier, follow
from gateway.toolkit.background import background, cancel, every
from gateway.toolkit.reasons import log_fields
from gateway.toolkit.spans import span
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.publishing import none_published
from plugins.knowledge.notes.secrets import TAKEN_OUT
from plugins.knowledge.retrieval.readable import FOREIGN_LANGUAGES, advice
from plugins.knowledge.store import Store
from plugins.knowledge.sync import progress_bar
from plugins.knowledge.sync.follower import Follower, Report
from plugins.knowledge.sync.progress import Progress
from plugins.knowledge.sync.sources import DirectorySource, NoteSource
from plugins.knowledge.sync.status import Status
from plugins.knowledge.sync.sync import Outcome, Sync

MAX_ANNOUNCED = 50
"""When more documents change at once, those who follow a single one are not told."""
MAX_LOGGED_SECRETS = 1_000
"""So many secrets that were taken out of notes are named in the log."""
CHANNEL = "synced"
"""Where processes that share a store tell each other that it has changed."""
POLL_INTERVAL_S = 30.0
"""How often it is looked for what nobody told of."""
RETRY_INTERVAL_S = 300.0
"""How often a source that this process found behind is tried again by it."""
_STANDS_IN = "Until all are in, the index of the model before answers."


class SyncLoop:
    """Runs the sync, now and after every change, and reports on it.

    Args:
        host: the plugin's services.
        store: what is served.
        sync: what brings it up to date.
        sources: where the notes come from; directories are watched.
        namespace: the community's part of the resource URIs.

    Attributes:
        followers: the sources on GitHub, which are followed.
        progress: what is being done just now.
    """

    def __init__(
        self,
        host: Host,
        store: Store,
        sync: Sync,
        sources: Sequence[NoteSource],
        namespace: str,
    ) -> None:
        self._host = host
        self._store = store
        self._sync = sync
        self._sources = sources
        self._base = f"mcp://{namespace}"
        self._logged = ""
        self._named: set[Problem] = set()
        self._advised: tuple[Sequence[DocumentEntry], str] = ((), "")
        self._delayed: set[asyncio.Task[Report]] = set()
        self._me = secrets.token_hex(8).encode()
        self.followers: Sequence[Follower] = ()
        self.progress = Progress()

    @property
    def documents(self) -> int:
        """How many documents are served."""
        return len(self._store.entries(Tier.MEMBERS))

    def set_followers(self, followers: Sequence[Follower]) -> None:
        """Take in what follows the sources on GitHub."""
        self.followers = followers
        for follower in followers:
            doing = f"{follower.source.key}: fetching"
            follower.tell = lambda done, total, doing=doing: self.progress.at(doing, done, total)  # type: ignore[misc]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep things in step for as long as the block lasts.

        Where the host waits until the plugin is ready, one sync ends before the block begins
        and nothing is watched; else the first sync goes on behind the block.
        """
        try:
            async with self._in_step():
                yield
        finally:
            await cancel(*self._delayed)

    @asynccontextmanager
    async def _in_step(self) -> AsyncGenerator[None]:
        if self._host.wait_ready or not self._sources:
            await self.sync_once()
            for follower in self.followers:
                if not follower.source.listing.commit:
                    await follower.follow()
            yield
            return
        directories = [one.directory for one in self._sources if isinstance(one, DirectorySource)]
        following = [
            self._catch_up(),
            self._listen(),
            every(POLL_INTERVAL_S, self._adopt, self._round_failed),
            every(POLL_INTERVAL_S, self._turn, self._round_failed),
            every(RETRY_INTERVAL_S, self._retry_behind, self._round_failed),
        ]
        if directories:
            following.append(follow(directories, self.sync_once))
        async with background(*following):
            yield

    async def _catch_up(self) -> None:
        """Take in what an earlier process fetched, then what GitHub has had since."""
        if not self.followers:
            return
        await self.sync_once()
        for done in await asyncio.gather(
            *(follower.follow() for follower in self.followers), return_exceptions=True
        ):
            if isinstance(done, Exception):
                self._host.log.error("not followed", exc_info=done)

    async def sync_all(self, *, emptied: bool = False) -> list[str]:
        """Bring every source to what it holds now.

        Args:
            emptied: whether the documents of a directory that is empty are to go.

        Returns:
            Why what stays behind does; nothing where all is well.
        """
        self._sync.removes_emptied = emptied
        try:
            return await self._sync_all()
        finally:
            self._sync.removes_emptied = False

    async def _sync_all(self) -> list[str]:
        errors: list[str] = []
        for follower in self.followers:
            self.progress.at(f"{follower.source.key}: looking")
            errors += filter(None, [await self._behind(follower)])
        self.progress.at("Reading the notes")
        if not await self.sync_once() and self._sync.status.error not in errors:
            errors.append(self._sync.status.error)
        self.progress.at("")
        return errors

    async def _behind(self, follower: Follower) -> str:
        """Follow a source; why it stays behind, or an empty text.

        Where GitHub has it wait for long that is said at once, and it goes on behind that.
        """
        following = asyncio.create_task(follower.follow())
        delayed = asyncio.create_task(follower.delay.begun())
        try:
            await asyncio.wait((following, delayed), return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                done = following.result()
                return str(done.get("error", follower.error))
            self._delayed.add(following)
            following.add_done_callback(self._delayed.discard)
            return delayed.result()
        finally:
            await cancel(delayed, *({following} - self._delayed))

    async def _listen(self) -> None:
        """Take over what another process says that it has synced."""
        while True:
            try:
                async with self._host.cache.listen(CHANNEL) as messages:
                    async for message in messages:
                        if message != self._me:
                            await self._adopt()
            except OSError as error:  # the cache is away: what changes is found all the same
                self._host.log.debug("not told of other syncs", reason=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    def _round_failed(self, error: Exception) -> None:
        self._host.log.error("the sync is not looked after", **log_fields(error))

    async def _adopt(self) -> None:
        """Serve what another process has synced; a failure is made up for by the next look."""
        try:
            outcome = await self._sync.adopt()
        except Exception as error:
            self._log_failure(error)
            return
        if outcome.changed:
            for follower in self.followers:
                follower.is_served = follower.is_served or bool(follower.source.listing.commit)
            self._announce(outcome)

    async def _turn(self) -> None:
        """Sync where a note is to be published by now, or no more, and nobody has changed it; and
        where the index was lost."""
        turns = self._sync.status.turns
        if self._sync.index.is_lost or (turns is not None and turns <= datetime.now(UTC)):
            await self.sync_once()

    async def _retry_behind(self) -> None:
        """Follow what is behind: a schedule's sync may run in another process each time."""
        for follower in self.followers:
            if follower.error and not follower.is_busy:
                await follower.follow()

    async def _publish(self) -> None:
        try:
            await self._host.cache.publish(CHANNEL, self._me)
        except OSError as error:  # they look now and then, too
            self._host.log.debug("others are not told of the sync", reason=str(error))

    async def sync_once(self) -> bool:
        """Sync; false where it has to be tried again, be it for one source that is away."""
        return await self.take_in() and not self._sync.status.error

    async def take_in(self) -> bool:
        """Sync, log what changed and tell the clients; false where that failed."""
        try:
            with progress_bar.progress_bar(self._host.log, self.progress) as tell:
                with span("sync knowledge", root=True):
                    outcome = await self._sync.run(tell)
                    await self._sync.index.take_over(self.documents)
        except Exception as error:
            self._log_failure(error)
            return False
        if away := self._sync.status.error:
            self._log_once("a source is away, trying again", away)
        else:
            self._logged = ""
        self._name_secrets()
        if outcome.recorded:
            await self._publish()
        if outcome.changed:
            self._announce(outcome)
        return True

    async def health(self) -> Health:
        """``starting`` until the first sync is done, unless the index before this one answers by
        meaning; ``degraded`` while notes need mending.
        """
        status = self._sync.status
        late = any(one.error or not one.is_served for one in self.followers)
        behind = late or bool(status.error) or not status.ready or self._sync.is_running
        return replace(self._health(await self._advice()), behind=behind)

    def _health(self, better: str) -> Health:
        status = self._sync.status
        served = self.documents
        errors = sum(problem.severity == "error" for problem in status.problems)
        taken = self._taken
        facts: dict[str, Any] = {
            "documents": served,
            "syncing": self._sync.is_running,
            "unpublished": status.unpublished,
            "errors": errors,
            "warnings": len(status.problems) - errors - len(taken),
            "problems": [str(one) for one in status.problems if one.severity == "error"][:20],
        }
        if taken:
            facts["taken_out"] = [str(one) for one in taken][:20]
        if better:
            facts["advice"] = better
        if self.followers:
            keys = [follower.source.key for follower in self.followers]
            facts["commits"] = {key: self._sync.commits.get(key, "") for key in keys}
        behind = [follower.error for follower in self.followers if follower.error]
        if said := status.error or "; ".join(behind):
            kept = f" {served} documents of the last sync are served." if served else ""
            detail = f"{said.rstrip('.')}.{kept}"
            return Health("degraded" if served else "failed", detail, facts)
        stands_in = bool(served) and self._sync.index.has_stand_in
        if not stands_in and not (status.ready and all(one.is_served for one in self.followers)):
            return Health("starting", _indexing(status) or "Reading the notes.", facts)
        if errors:
            first = next(one for one in status.problems if one.severity == "error")
            notes = "1 note" if errors == 1 else f"{errors} notes"
            detail = (
                f"{notes} cannot be served; `porch knowledge check DIR` names them. "
                f"The first: {first}."
            )
            return Health("degraded", detail, facts)
        if not served and not taken:
            return Health("ok", self._why_nothing(), facts)
        told = (_indexing(status), _STANDS_IN * stands_in, _taken_out(taken), better)
        return Health("ok", " ".join(filter(None, told)), facts)

    async def _advice(self) -> str:
        """What is better done about the model; told again only where documents have changed."""
        embedder, entries = self._host.embedder, self._store.entries(Tier.MEMBERS)
        if embedder is None:
            return ""
        if self._advised[0] is not entries and not self._sync.is_running:
            with suppress(Exception):  # it is told once the vector store answers
                foreign = await self._sync.index.documents_in(FOREIGN_LANGUAGES)
                self._advised = entries, advice(embedder.model, entries, foreign)
        return self._advised[1]

    @property
    def _taken(self) -> Sequence[Problem]:
        """The secrets that were taken out of notes."""
        return [one for one in self._sync.status.problems if one.severity == "secret"]

    def _name_secrets(self) -> None:
        """Name each secret that was taken out to the admin, once; never the secret itself."""
        for one in self._taken:
            if one not in self._named and len(self._named) < MAX_LOGGED_SECRETS:
                self._named.add(one)
                place = {"path": one.path, "line": one.line}
                self._host.log.warning(
                    "secret_taken_out", **place, kind=one.reason.removesuffix(TAKEN_OUT)
                )

    def _why_nothing(self) -> str:
        if not self._sources:
            return "No source is configured."
        status = self._sync.status
        if indexing := _indexing(status):
            return indexing
        if not status.notes:
            return "Nothing is served: the sources hold no notes."
        return f"Nothing is served: {none_published(status.notes)}."

    def _announce(self, outcome: Outcome) -> None:
        self._host.log.info(
            "synced",
            written=len(outcome.written),
            removed=len(outcome.removed),
            problems=len(self._sync.status.problems),
        )
        keys = outcome.changed if len(outcome.changed) <= MAX_ANNOUNCED else ()
        for path in ("data/groups", "data/releases", *(f"documents/{key}" for key in keys)):
            uri = f"{self._base}/{quote(path)}"
            self._host.changed(Change(self._host.plugin, "resource", uri))

    def _log_failure(self, error: Exception) -> None:
        """Log a failure, with its traceback if it is no one's fault."""
        reason = str(error) or type(error).__name__
        self._log_once("sync failed, trying again", reason, log_fields(error))

    def _log_once(self, event: str, reason: str, told: Mapping[str, Any] | None = None) -> None:
        """Log what goes wrong, but not again at every retry."""
        if reason != self._logged:
            self._host.log.error(event, **{**(told or {}), "reason": reason})
            self._logged = reason


def _indexing(status: Status) -> str:
    """How far documents have come that cannot be found yet, or an empty text."""
    if status.done >= status.total:
        return ""
    return f"Indexing: {status.done} of {status.total} documents."


def _taken_out(taken: Sequence[Problem]) -> str:
    if not taken:
        return ""
    notes = len({one.path for one in taken})
    return f"Secrets were taken out of {notes} note{'s' * (notes != 1)}: have them replaced."
