"""Takes in a person's uncommitted work (kap10, ``sync_local_diff``)."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from gateway.contract import Cache, ToolFailed
from plugins.codegraph.shadow import locks
from plugins.codegraph.shadow.changes import LIMIT, Changes, Stripped, TooLarge, changes, stripped
from plugins.codegraph.shadow.diff import BadDiff
from plugins.codegraph.shadow.workspaces import Place, Workspace, Workspaces
from plugins.codegraph.store.graph import Graph, RepositoryView

_SHA = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_LONGEST_BRANCH = 250


class Store(Protocol):
    """The graphs, as far as syncing reads them."""

    async def view(self, org: str, repo: str) -> RepositoryView | None:
        """A repository as it is served, or None."""
        ...

    def open(self, view: RepositoryView) -> Graph:
        """The graph of a view."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """What a person sends.

    Attributes:
        diff: what ``git diff HEAD`` printed.
        branch: the branch that is checked out.
        base_sha: the commit that it was compared with.
    """

    diff: str
    branch: str
    base_sha: str


@dataclass(frozen=True, slots=True)
class Overlaid:
    """What an overlay is made of: the base that it lies over, the files, and whose it is."""

    view: RepositoryView
    files: Mapping[str, bytes | None]
    person: str
    branch: str
    digest: str
    expires: datetime


Write = Callable[[Overlaid], Awaitable[int]]
"""``await write(overlaid)``: links the files and writes the overlay; its layer's number."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of what a person sent.

    Attributes:
        workspace: the workspace as it is now.
        view: the base that it lies over.
        stripped: what the diff had.
        skipped: why some files' content is not in it.
        repeated: whether it was the same as before.
    """

    workspace: Workspace
    view: RepositoryView
    stripped: Stripped
    skipped: Mapping[str, str]
    repeated: bool = False


class Syncing:
    """Takes in diffs.

    Args:
        store: the graphs.
        workspaces: remembers what was sent.
        cache: holds the lock that replicas share.
        write: writes overlays.
        lifetime: how long a workspace is kept after it was last sent.
        now: the time, in UTC.
    """

    def __init__(
        self,
        store: Store,
        workspaces: Workspaces,
        cache: Cache,
        write: Write,
        lifetime: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._workspaces, self._cache = store, workspaces, cache
        self._write, self._lifetime, self._now = write, lifetime, now

    async def sync(self, place: Place, name: str, sent: Sent) -> Synced:
        """Take in a diff, in place of what the person had on that branch.

        Args:
            place: whose, of which repository.
            name: the repository's name, for errors.
            sent: what was sent.

        Raises:
            ToolFailed: it cannot be taken; the message says what to do.
        """
        _check(sent)
        found = await asyncio.to_thread(_stripped, sent.diff)
        key = f"{place.repo}/lock/{place.person}/{sent.branch}"
        try:
            async with locks.held(self._cache, key):
                return await self._taken(place, name, sent, found)
        except locks.Busy:
            raise ToolFailed(
                "busy", "Another sync of this branch is running. Send it again in a second."
            ) from None
        except TimeoutError:
            raise ToolFailed(
                "timeout", "Indexing this diff took too long; nothing was changed. Send it again."
            ) from None

    async def _taken(self, place: Place, name: str, sent: Sent, found: Stripped) -> Synced:
        view = await self._store.view(place.org, place.repo)
        if view is None:
            raise ToolFailed(
                "not_indexed",
                f"The repository {name} has no index yet, so there is nothing to lay a diff over. "
                "Ask again in a minute.",
            )
        digest = _digest(view, sent, found)
        before = await self._workspaces.of_branch(place, sent.branch)
        now = self._now()
        if before is not None and before.digest == digest:
            same = replace(before, synced=now, expires=now + self._lifetime)
            await self._workspaces.put(place, same)
            return Synced(same, view, found, {}, repeated=True)
        made = await _changes(found, self._store.open(view))
        workspace = Workspace(
            branch=sent.branch,
            digest=digest,
            base_sha=sent.base_sha.lower(),
            layer=await self._written(place, sent, view, made, digest, now + self._lifetime),
            files=tuple(sorted(made.files)),
            conflicts=made.conflicts,
            synced=now,
            expires=now + self._lifetime,
        )
        await self._workspaces.put(place, workspace)
        if before is not None and before.layer is not None and before.layer != workspace.layer:
            await self._workspaces.end(place, before.layer)
        return Synced(workspace, view, found, made.skipped)

    async def _written(
        self,
        place: Place,
        sent: Sent,
        view: RepositoryView,
        made: Changes,
        digest: str,
        expires: datetime,
    ) -> int | None:
        if not made.files:
            return None
        overlaid = Overlaid(view, made.files, place.person, sent.branch, digest, expires)
        return await self._write(overlaid)


def _check(sent: Sent) -> None:
    branch = sent.branch
    if not branch.strip() or len(branch) > _LONGEST_BRANCH or not branch.isprintable():
        raise ToolFailed(
            "bad_input", "branch must be what `git branch --show-current` prints, or HEAD."
        )
    if not _SHA.fullmatch(sent.base_sha):
        raise ToolFailed("bad_input", "baseSha must be what `git rev-parse HEAD` prints.")


def _stripped(diff: str) -> Stripped:
    try:
        return stripped(diff)
    except BadDiff as bad:
        raise _bad(bad) from None
    except TooLarge as large:
        files = ", ".join(f"{path} ({size:,} bytes)" for path, size in large.largest)
        raise ToolFailed(
            "diff_too_large",
            f"The diff has {large.bytes:,} bytes after lockfiles and build output were left out; "
            f"{LIMIT:,} is the most. Commit what is done, or leave out generated files. The "
            f"largest are {files}.",
            {"bytes": large.bytes, "limit": LIMIT, "largest": dict(large.largest)},
        ) from None


async def _changes(found: Stripped, graph: Graph) -> Changes:
    try:
        return await changes(found.kept, graph.source)
    except BadDiff as bad:
        raise _bad(bad) from None


def _bad(bad: BadDiff) -> ToolFailed:
    return ToolFailed("bad_diff", str(bad))


def _digest(view: RepositoryView, sent: Sent, found: Stripped) -> str:
    parts: list[Any] = [view.layer, view.generation, sent.base_sha.lower(), found.text]
    joined = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()
