"""Follows a branch on GitHub: what is there now, what of it to fetch, and taking it in.

Every decision is a step's result, so that a job which is taken up again after a crash repeats
none of them; and what a step does can be done twice. The bytes of notes are kept as objects until
the sync has them, so that nothing is fetched twice either.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway.repositories import GithubRepository, NotModified, SourceFailed
from plugins.knowledge.sync.github import GithubSource, blob_id
from plugins.knowledge.sync.listing import Listed, Listing
from plugins.knowledge.sync.patience import Patience
from plugins.knowledge.sync.sync import Sync

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

SINGLE = 50
"""Up to so many notes are fetched one by one; more come as one tarball."""

Step = Callable[..., Awaitable[Any]]
"""``await step(name, function, *args)``, as a job's ``run.step``."""
Serve = Callable[[], Awaitable[bool]]
Report = dict[str, Any]


async def at_once(name: str, function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
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
        patience: how often GitHub is asked again.

    Attributes:
        error: why the source is behind its branch, or an empty text.
        looked: when GitHub last answered, or None.
    """

    def __init__(
        self,
        source: GithubSource,
        repository: GithubRepository,
        sync: Sync,
        serve: Serve,
        log: FilteringBoundLogger,
        patience: Patience,
    ) -> None:
        self.source = source
        self.error = ""
        self.looked: datetime | None = None
        self._repository = repository
        self._sync = sync
        self._serve = serve
        self._log = log
        self._patience = patience
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._after = ""
        self._dates: dict[str, datetime] = {}

    @property
    def is_busy(self) -> bool:
        """Whether it is being followed just now."""
        return self._turn.locked()

    async def follow(
        self, step: Step = at_once, after: str = "", dates: Mapping[str, datetime] | None = None
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
            self._tell(str(done.get("error", "")))
            return {"source": self.source.key, **done}
        finally:
            self._turn.release()

    async def _follow(self, step: Step) -> Report:
        todo = await step("list", self._list)
        if "commit" not in todo:
            return dict(todo)
        commit, wanted = todo["commit"], todo["wanted"]
        if len(wanted) > SINGLE:
            if failed := await step("fetch everything", self._fetch_all, commit, wanted):
                return dict(failed)
        else:
            for path, sha in wanted:
                if failed := await step(f"fetch {path}", self._fetch, commit, path, sha):
                    return dict(failed)
        return dict(await step("serve", self._take_in, commit, todo["base"]))

    # What there is to do.

    async def _list(self) -> Report:
        """Where the branch is, and which notes of it have to be fetched."""
        known = self.source.listing
        try:
            head = await self._head(known.commit)
            if head is None:
                return {"error": f"{self.source.key}: the branch is gone; give it back, or name "
                        "another under plugins.knowledge.sources in portal.yaml"}  # fmt: skip
            listing = known if head == known.commit else await self._listed(head, known)
        except SourceFailed as failure:
            return {"error": failure.message.rstrip(".")}
        self.looked = datetime.now(UTC)
        if listing is not known:
            await self.source.draft(listing)
        wanted = [list(one) for one in await self._wanted(listing)]
        return {"commit": listing.commit, "base": known.commit, "wanted": wanted}

    async def _head(self, known: str) -> str | None:
        """The branch's commit; or the pushed one, where GitHub's API does not know of it yet."""
        head = await self._patience.ask(self._repository.head)
        after, self._after = self._after, ""
        if head is not None and after and head != after and head == known:
            try:
                ahead = await self._repository.compare(head, after)
            except SourceFailed:
                return head
            return after if ahead.status == "ahead" else head
        return head

    async def _listed(self, commit: str, known: Listing) -> Listing:
        found: dict[str, tuple[str, int]] = {}
        left_out: dict[str, str] = {}
        async for path, sha, size in self._files(commit, known, left_out):
            if self.source.is_note(path):
                found[path] = sha, size
        dates = await self._dated(commit, known, found)
        files = {
            path: Listed(sha=sha, size=size, date=dates[path])
            for path, (sha, size) in found.items()
        }
        notes = {path: why for path, why in left_out.items() if self.source.is_note(path)}
        return Listing(commit=commit, files=files, left_out=notes)

    async def _files(
        self, commit: str, known: Listing, left_out: dict[str, str]
    ) -> AsyncIterator[tuple[str, str, int]]:
        """Path, blob and size of every file at a commit."""
        tree = await self._patience.ask(lambda: self._repository.tree(commit))
        left_out.update({one.path: one.reason for one in tree.left_out})
        if tree.truncated:
            async for found in self._beyond(commit, known):
                yield found
            return
        for file in tree.files:
            yield file.path, file.sha, file.size

    async def _beyond(self, commit: str, known: Listing) -> AsyncIterator[tuple[str, str, int]]:
        """The same for a commit of more files than GitHub lists."""
        changed = await self._changed(known.commit, commit)
        if changed is None:
            async with self._repository.snapshot(commit) as snapshot:
                async with aclosing(snapshot.files()) as files:
                    async for entry in files:
                        yield entry.path, entry.sha, entry.size
            return
        for path in known.files.keys() - changed.keys():
            yield path, known.files[path].sha, known.files[path].size
        for path, sha in changed.items():
            if sha:
                yield path, sha, 0  # no comparison says how large a file is

    async def _changed(self, base: str, head: str) -> dict[str, str] | None:
        """The blobs of changed files; None where the comparison does not lead to the head."""
        if not base:
            return None
        try:
            compared = await self._patience.ask(lambda: self._repository.compare(base, head))
        except SourceFailed as failure:
            if failure.code == "NOT_FOUND":
                return None  # a force push has taken the old commit away
            raise
        return {one.path: one.sha for one in compared.files} if compared.complete else None

    async def _dated(
        self, commit: str, known: Listing, found: Mapping[str, tuple[str, int]]
    ) -> dict[str, datetime]:
        """When each file was last committed: as known, as pushed, as Git says, or else now."""
        told, self._dates = self._dates, {}
        dates = {}
        for path, (sha, _) in found.items():
            before = known.files.get(path)
            if before is not None and before.sha == sha:
                dates[path] = before.date
            elif path in told:
                dates[path] = told[path]
        if len(dates) < len(found):
            now = datetime.now(UTC).replace(microsecond=0)
            history = await self._repository.dates(commit) or {}
            dates = {path: history.get(path, now) for path in found} | dates
        return dates

    async def _wanted(self, listing: Listing) -> Sequence[tuple[str, str]]:
        """The notes whose bytes a sync will ask for and that are not here yet, with their blobs."""
        wanted = []
        for path in await self._sync.needed(self.source, self.source.scan_of(listing)):
            relative = path.removeprefix(self.source.prefix)
            listed = listing.files[relative]
            small = listed.size <= self.source.max_note
            if small and not await self.source.has(path, listed.sha):
                wanted.append((relative, listed.sha))
        return wanted

    # Doing it.

    async def _fetch(self, commit: str, path: str, sha: str) -> Report | None:
        """Fetch one note; what is wrong, where it has to be tried again."""
        try:
            file = await self._patience.ask(lambda: self._repository.read(path, at=commit))
        except SourceFailed as failure:
            if failure.code in {"NOT_FOUND", "INVALID_PATH"}:
                return None  # it is gone by now, and the next sync sees that
            return {"error": failure.message.rstrip(".")}
        if isinstance(file, NotModified) or blob_id(file.content) != sha:
            return {"error": f"{path} in {self.source.key} is not what its tree says"}
        await self.source.keep(sha, file.content)
        return None

    async def _fetch_all(self, commit: str, wanted: Sequence[Sequence[str]]) -> Report | None:
        missing = {sha for _, sha in wanted}

        async def fetch() -> None:
            async with self._repository.snapshot(commit) as snapshot:
                async with aclosing(snapshot.files()) as files:
                    async for entry in files:
                        if entry.content is not None and entry.sha in missing:
                            await self.source.keep(entry.sha, entry.content)
                            missing.discard(entry.sha)

        try:
            await self._patience.ask(fetch)
        except SourceFailed as failure:
            return {"error": failure.message.rstrip(".")}
        return None

    async def _take_in(self, commit: str, base: str) -> Report:
        """Serve the commit, unless another one has overtaken it."""
        now = self.source.listing.commit
        if now not in (base, commit):
            return {"superseded": True}
        listing = self.source.listing if now == commit else await self.source.drafted(commit)
        if listing is None:
            return {"superseded": True}
        synced = datetime.now(UTC)
        if now != commit or listing.synced is None:
            await self.source.adopt(listing.model_copy(update={"synced": synced}))
        if not await self._serve():
            return {"commit": commit, "error": self._sync.status.error or "the sync failed"}
        await self._sync.apart(self.source.clear)
        return {"commit": commit}

    def _tell(self, error: str) -> None:
        if error and error != self.error:
            self._log.error("behind its branch", source=self.source.key, reason=error)
        self.error = error
