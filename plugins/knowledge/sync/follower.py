"""Follows a branch on GitHub: lists what changed, fetches it, and has it synced.

Every decision is a step's result, so that a job which is taken up again after a crash repeats
none of them; and what a step does can be done twice. The bytes of notes are kept as objects until
the sync has them, so that nothing is fetched twice either. A step says what went wrong instead of
raising it: the job then ends, and the next one begins where it stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway.repositories import (
    FileHistory,
    GithubRepository,
    NotModified,
    Retry,
    SourceFailed,
    TooLarge,
)
from plugins.knowledge.sync.delay import Delay
from plugins.knowledge.sync.github import GithubSource, blob_id
from plugins.knowledge.sync.listing import Listing
from plugins.knowledge.sync.remote_head import RemoteBranch
from plugins.knowledge.sync.sync import Sync

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

MAX_SINGLE_FETCHES = 50
"""Up to so many notes are fetched one by one; more come as one tarball."""
MAX_CONCURRENT_FETCHES = 8
"""So many of them at a time."""
MAX_ROUNDS = 3
"""Attempts at a commit whose fetched notes were deleted before the sync could read them."""
TARBALL_TIMEOUT_S = 600.0
"""How long one attempt to fetch and unpack a tarball may take."""

Step = Callable[..., Awaitable[Any]]
"""``await step(name, function, *args)``, as a job's ``run.step``."""
ServeNotes = Callable[[], Awaitable[bool]]
Report = dict[str, Any]
OnFetched = Callable[[int, int], None]
"""``told(fetched, wanted)``, in notes."""


async def run_step(name: str, function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """A step outside of a job."""
    return await function(*args)


class Follower:
    """Keeps one source at the head of its branch.

    Args:
        source: where it is kept.
        repository: its branch.
        sync: takes in what was fetched.
        serve: runs the sync and tells of it; false where that failed.
        log: for the admin.
        retry: how often GitHub is asked again.

    Attributes:
        looked: when GitHub last answered, or None.
        is_served: whether all of a commit was taken in, by this process or an earlier one; until
            then the portal is only starting.
        tell: told how many notes are fetched.
        delay: why GitHub has it wait for long just now, if it does.
    """

    def __init__(
        self,
        source: GithubSource,
        repository: GithubRepository,
        sync: Sync,
        serve: ServeNotes,
        log: FilteringBoundLogger,
        retry: Retry,
    ) -> None:
        self.source = source
        self.looked: datetime | None = None
        self.is_served = bool(source.listing.commit)
        self.tell: OnFetched = lambda fetched, wanted: None
        self.delay = Delay(source.key, log)
        retry = replace(retry, told=self.delay.begins)
        self._repository = repository
        self._branch = RemoteBranch(source, repository, retry)
        self._sync = sync
        self._serve = serve
        self._log = log
        self._retry = retry
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._after = ""
        self._dates: dict[str, datetime] = {}
        self._error = ""
        self._failed: datetime | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it is being followed just now."""
        return self._turn.locked()

    @property
    def error(self) -> str:
        """Why the source is behind its branch, or an empty text.

        What another process has synced since makes up for a failure of this one.
        """
        synced = self.source.listing.synced
        made_up = synced is not None and self._failed is not None and synced > self._failed
        return self.delay.reason or ("" if made_up else self._error)

    async def head(self) -> str | None:
        """The branch's commit now; raises ``SourceFailed``."""
        return await self._branch.head("")

    async def file_history(self, path: str, most: int) -> FileHistory:
        """The commits that touched a file, up to the one that is served; raises ``SourceFailed``.

        Args:
            path: in the repository.
            most: how many at most.
        """
        return await self._repository.file_history(path, self.source.listing.commit, most)

    async def follow(
        self, step: Step = run_step, after: str = "", dates: Mapping[str, datetime] | None = None
    ) -> Report:
        """Bring the source to the head of its branch; one at a time, and the newest wins.

        Args:
            step: makes what it is given durable.
            after: the commit that a push told of.
            dates: when that push's commits wrote its files, by their paths.

        Returns:
            The ``source`` and its ``commit``, and an ``error`` where it stays behind.
        """
        self._after = after or self._after
        self._dates.update(dates or {})
        if self._waiting:
            return {"source": self.source.key, "superseded": True}
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            done: Report = await self._follow(step)
            self._note(str(done.get("error", "")))
            return {"source": self.source.key, **done}
        finally:
            self._turn.release()

    async def _follow(self, step: Step) -> Report:
        done: Report = {}
        for _ in range(MAX_ROUNDS):
            done = await self._follow_once(step)
            if not done.pop("incomplete", False):
                return done
        return {"error": f"{self.source.key}: notes were gone each time that they were fetched"}

    async def _follow_once(self, step: Step) -> Report:
        todo = await step("list", self._reported, self._list)
        if "error" in todo:
            return dict(todo)
        commit, wanted = todo["commit"], todo["wanted"]
        if len(wanted) > MAX_SINGLE_FETCHES:
            fetch = self._fetch_all
            fetched = [await step("fetch everything", self._reported, fetch, commit, wanted)]
        else:
            fetched = await self._fetch_each(step, commit, wanted)
        for one in fetched:
            if "error" in one:
                return dict(one)
        sizes = {path: size for one in fetched for path, size in one.get("sizes", {}).items()}
        serve = self._take_in
        return dict(await step("serve", self._reported, serve, commit, todo["base"], sizes))

    async def _reported(self, work: Callable[..., Awaitable[Report]], *args: Any) -> Report:
        """Do a step's work; what goes wrong is in its report."""
        try:
            return await work(*args)
        except SourceFailed as failure:
            return {"error": failure.message.rstrip(".")}
        except Exception as error:
            reason = str(error) or type(error).__name__
            if not isinstance(error, OSError):  # nobody who runs the portal can mend it
                self._log.error("not synced", source=self.source.key, exc_info=error)
            return {"error": f"{self.source.key} cannot be taken in: {reason}".rstrip(".")}

    # What there is to do.

    async def _list(self) -> Report:
        """Where the branch is, and which notes of it have to be fetched."""
        await self.source.refresh()
        known = self.source.listing
        after, self._after = self._after, ""
        head = await self._branch.head(known.commit, after)
        if head is None:
            return {"error": f"{self.source.key}: the branch is gone; give it back, or name "
                    "another under plugins.knowledge.sources in portal.yaml"}  # fmt: skip
        listing = known
        if head != known.commit:
            told, self._dates = self._dates, {}
            listing = await self._branch.listed(head, known, told)
        self.looked = datetime.now(UTC)
        if listing is not known:
            await self.source.draft(listing)
        wanted = [list(one) for one in await self._wanted(listing)]
        return {"commit": listing.commit, "base": known.commit, "wanted": wanted}

    async def _wanted(self, listing: Listing) -> Sequence[tuple[str, str]]:
        """The notes whose bytes a sync will ask for and that are not here yet, with their blobs."""
        wanted = []
        for relative in await self._unread(listing):
            sha = listing.files[relative].sha
            if not await self.source.has(self.source.prefix + relative, sha):
                wanted.append((relative, sha))
        return wanted

    async def _unread(self, listing: Listing) -> list[str]:
        """The notes whose bytes a sync will ask for."""
        needed = await self._sync.needed(self.source, self.source.scan_of(listing))
        paths = [path.removeprefix(self.source.prefix) for path in needed]
        return [path for path in paths if listing.files[path].size <= self.source.max_note]

    # Doing it.

    async def _fetch_each(
        self, step: Step, commit: str, wanted: Sequence[tuple[str, str]]
    ) -> list[Report]:
        """Fetch notes one by one, some at a time, and none more once one has failed.

        The steps begin in the order of the notes, as a job that is taken up again must repeat it.
        """
        room, failed, fetched = asyncio.Semaphore(MAX_CONCURRENT_FETCHES), Report(), 0

        async def fetch(path: str, sha: str) -> Report:
            nonlocal failed, fetched
            async with room:
                if failed:
                    return failed
                done = await self._reported(self._fetch, commit, path, sha)
                failed = done if "error" in done else failed
                fetched += 1
                self.tell(fetched, len(wanted))
                return done

        tasks = [
            asyncio.create_task(_awaited(step(f"fetch {path}", fetch, path, sha)))
            for path, sha in wanted
        ]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _fetch(self, commit: str, path: str, sha: str) -> Report:
        """Fetch one note."""
        try:
            file = await self._retry.ask(lambda: self._repository.read(path, at=commit))
        except TooLarge as failure:
            return {"sizes": {path: failure.size}}
        except SourceFailed as failure:
            if failure.code in {"NOT_FOUND", "INVALID_PATH"}:
                return {}  # it is gone by now, and the next sync sees that
            raise
        if isinstance(file, NotModified) or blob_id(file.content) != sha:
            return {"error": f"{path} in {self.source.key} is not what its tree says"}
        await self.source.keep(sha, file.content)
        return {}

    async def _fetch_all(self, commit: str, wanted: Sequence[Sequence[str]]) -> Report:
        """Fetch many notes, as one tarball."""
        missing = {sha: path for path, sha in wanted}
        sizes: dict[str, int] = {}

        async def fetch() -> None:
            async with self._repository.snapshot(commit) as snapshot:
                async with aclosing(snapshot.files()) as files:
                    async for entry in files:
                        if entry.sha not in missing:
                            continue
                        if entry.content is None:
                            sizes[entry.path] = entry.size
                        else:
                            await self.source.keep(entry.sha, entry.content)
                            missing.pop(entry.sha)
                            self.tell(len(wanted) - len(missing), len(wanted))

        await replace(self._retry, timeout_s=TARBALL_TIMEOUT_S).ask(fetch)
        return {"sizes": sizes}

    async def _take_in(self, commit: str, base: str, sizes: Mapping[str, int]) -> Report:
        """Serve the commit, unless another one has overtaken it."""
        await self.source.refresh()
        now = self.source.listing.commit
        if now not in (base, commit):
            return {"superseded": True}
        listing = self.source.listing if now == commit else await self.source.drafted(commit)
        if listing is None:
            return {"superseded": True}
        if sizes:
            files = {
                path: listing.files[path].model_copy(update={"size": size})
                for path, size in sizes.items()
                if path in listing.files
            }
            listing = listing.model_copy(update={"files": {**listing.files, **files}})
        if now != commit or sizes or listing.synced is None:
            await self.source.adopt(listing.model_copy(update={"synced": datetime.now(UTC)}))
        if not await self._serve():
            return {"commit": commit, "error": self._sync.status.error or "the sync failed"}
        if await self._unread(self.source.listing):  # gone before they were taken in
            return {"commit": commit, "incomplete": True}
        self.is_served = True
        await self._sync.exclusively(self.source.clear)
        return {"commit": commit}

    def _note(self, error: str) -> None:
        if error and error != self.error:
            self._log.error("behind its branch", source=self.source.key, reason=error)
        self.delay.end()
        self._error, self._failed = error, datetime.now(UTC) if error else None


async def _awaited(step: Awaitable[Report]) -> Report:
    return await step
