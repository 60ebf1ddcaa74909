"""Receives a person's uncommitted work (kap10, ``sync_local_diff``)."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from gateway.contract import Cache, ToolFailed
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.workspaces import locks
from plugins.codegraph.workspaces.changes import (
    MAX_DIFF_BYTES,
    Changes,
    Stripped,
    TooLarge,
    changes,
    stripped,
)
from plugins.codegraph.workspaces.diff import BadDiff
from plugins.codegraph.workspaces.workspaces import Place, Workspace, Workspaces

_SHA = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_MAX_BRANCH_LENGTH = 250


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What a person sends.

    Attributes:
        diff: the output of ``git diff HEAD``.
        branch: the branch that is checked out.
        base_sha: the commit that the diff is against.
    """

    diff: str
    branch: str
    base_sha: str


@dataclass(frozen=True, slots=True)
class Overlaid:
    """What an overlay is made from: the base, the files, and the owner."""

    view: RepositoryView
    files: Mapping[str, bytes | None]
    person: str
    branch: str
    digest: str
    expires: datetime


Write = Callable[[Overlaid], Awaitable[int]]
"""``await write(overlaid)``: links the files and writes the overlay; returns its layer's number."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync.

    Attributes:
        workspace: the workspace as it is now.
        view: the base that it lies over.
        stripped: the diff, and what was stripped from it.
        skipped: why some files' content is not in the diff, by path.
        repeated: whether the diff and the index were the same as before.
    """

    workspace: Workspace
    view: RepositoryView
    stripped: Stripped
    skipped: Mapping[str, str]
    repeated: bool = False


@dataclass(eq=False, repr=False)
class WorkspaceSync:
    """Receives diffs.

    Attributes:
        store: the graphs.
        workspaces: stores what was sent.
        cache: holds the lock that replicas share.
        write: writes overlays.
        lifetime: how long a workspace is kept after it was last sent.
        now: the time, in UTC.
    """

    store: GraphStore
    workspaces: Workspaces
    cache: Cache
    write: Write
    lifetime: timedelta
    now: Callable[[], datetime]

    async def sync(self, place: Place, name: str, sent: SyncRequest) -> SyncResult:
        """Take a diff as the person's workspace on a branch, replacing the previous one.

        Args:
            place: the person and the repository.
            name: the repository's name, for errors.
            sent: what was sent.

        Raises:
            ToolFailed: the diff was not accepted; the message says what to do.
        """
        _check(sent)
        found = await asyncio.to_thread(_stripped, sent.diff)
        key = f"{place.repo}/lock/{place.person}/{sent.branch}"
        try:
            async with locks.held(self.cache, key):
                return await self._taken(place, name, sent, found)
        except locks.Busy:
            raise ToolFailed(
                "busy", "Another sync of this branch is running. Send it again in a second."
            ) from None
        except TimeoutError:
            raise ToolFailed(
                "timeout", "Indexing this diff took too long; nothing was changed. Send it again."
            ) from None

    async def _taken(
        self, place: Place, name: str, sent: SyncRequest, found: Stripped
    ) -> SyncResult:
        view = await self.store.view(place.org, place.repo)
        if view is None:
            raise ToolFailed(
                "not_indexed",
                f"The repository {name} has no index yet, so there is nothing to lay a diff over. "
                "Ask again in a minute.",
            )
        digest = _digest(view, sent, found)
        before = await self.workspaces.of_branch(place, sent.branch)
        now = self.now()
        if before is not None and before.digest == digest:
            same = replace(before, synced=now, expires=now + self.lifetime)
            await self.workspaces.put(place, same)
            return SyncResult(same, view, found, {}, repeated=True)
        made = await _changes(found, self.store.open(view))
        workspace = Workspace(
            branch=sent.branch,
            digest=digest,
            base_sha=sent.base_sha.lower(),
            layer=await self._written(place, sent, view, made, digest, now + self.lifetime),
            files=tuple(sorted(made.files)),
            conflicts=made.conflicts,
            synced=now,
            expires=now + self.lifetime,
        )
        await self.workspaces.put(place, workspace)
        if before is not None and before.layer is not None and before.layer != workspace.layer:
            await self.workspaces.end(place, before.layer)
        return SyncResult(workspace, view, found, made.skipped)

    async def _written(
        self,
        place: Place,
        sent: SyncRequest,
        view: RepositoryView,
        made: Changes,
        digest: str,
        expires: datetime,
    ) -> int | None:
        if not made.files:
            return None
        overlaid = Overlaid(view, made.files, place.person, sent.branch, digest, expires)
        return await self.write(overlaid)


def _check(sent: SyncRequest) -> None:
    branch = sent.branch
    if not branch.strip() or len(branch) > _MAX_BRANCH_LENGTH or not branch.isprintable():
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
            f"{MAX_DIFF_BYTES:,} is the most. Commit what is done, or leave out generated files. "
            f"The largest are {files}.",
            {"bytes": large.bytes, "limit": MAX_DIFF_BYTES, "largest": dict(large.largest)},
        ) from None


async def _changes(found: Stripped, graph: Graph) -> Changes:
    try:
        return await changes(found.kept, graph.source)
    except BadDiff as bad:
        raise _bad(bad) from None


def _bad(bad: BadDiff) -> ToolFailed:
    return ToolFailed("bad_diff", str(bad))


def _digest(view: RepositoryView, sent: SyncRequest, found: Stripped) -> str:
    parts: list[Any] = [view.layer, view.generation, sent.base_sha.lower(), found.text]
    joined = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()
