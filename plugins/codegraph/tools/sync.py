"""The tool that receives a person's uncommitted work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolFailed, ToolResult
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import SETS, Repo, Wire
from plugins.codegraph.workspaces.sync import SyncRequest, SyncResult, WorkspaceSync
from plugins.codegraph.workspaces.workspaces import Place

MAX_LISTED = 100
"""The most paths of one kind that an answer lists."""
_NAME = "sync_local_diff"


class FileReason(ToolResult):
    """A file, and why it is not as you have it."""

    file: str
    reason: str


class SyncAnswer(ToolResult):
    """What became of a diff."""

    repo: str
    branch: str
    updated: int = Field(description="Functions, classes and files that differ from the index.")
    files: list[str] = Field(description="Files that differ from the index.")
    stripped: list[str] = Field(description="Lockfiles and build output, which are left out.")
    conflicts: list[FileReason] = Field(
        description="Files whose changes do not fit what is indexed; for them the index holds."
    )
    skipped: list[FileReason] = Field(description="Files whose content is not in a diff.")
    unchanged: bool = Field(description="true: this was sent before; only its time was renewed.")
    indexed_branch: str | None = Field(description="The branch that the diff was laid over.")
    indexed_commit: str | None
    base_matches: bool = Field(
        description="Whether the indexed commit is your baseSha; if not, files that differ between "
        "the two, and are not in the diff, are as they are indexed."
    )
    synced_at: datetime
    expires_at: datetime


def tools(access: Access, workspace_sync: WorkspaceSync) -> list[Tool]:
    """The tools of this group."""

    async def sync_local_diff(
        diff: Annotated[
            str,
            Field(
                description="The whole output of `git add -N . && git diff HEAD`, lockfiles and "
                "build output left out; empty where nothing is changed."
            ),
        ],
        branch: Annotated[str, Field(description="What `git branch --show-current` prints.")],
        base_sha: Annotated[
            str, Field(alias="baseSha", description="What `git rev-parse HEAD` prints.")
        ],
        repo: Repo = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Send your uncommitted changes, so that every other tool answers with them, for you alone.
        Call it before you begin a task and after you have edited files; each call
        replaces the one before. An empty diff ends it. It is kept for some hours after the last
        call. At most 50 KB."""
        if caller.person is None:
            raise ToolFailed("authentication_required", "Sign in: a workspace is one person's own.")
        known = await access.repository(caller, repo)
        place = Place(known.org, known.id, caller.person)
        done = await workspace_sync.sync(place, known.name, SyncRequest(diff, branch, base_sha))
        return (await _answer(access, caller, known, done)).wire()

    return [
        Tool.of(
            sync_local_diff,
            title="Send uncommitted changes",
            result=SyncAnswer,
            tier=Tier.PUBLIC,
            floor=Tier.PUBLIC,
            annotations=SETS,
        )
    ]


async def _answer(
    access: Access, caller: Caller, known: Repository, done: SyncResult
) -> SyncAnswer:
    workspace, view = done.workspace, done.view
    updated = 0
    if workspace.layer is not None:
        graph = (await access(caller, known.name)).graph
        base = access.open(view)
        for path in workspace.files:
            updated += await _updated(graph, base, path)
    sha = workspace.base_sha
    return SyncAnswer(
        repo=known.name,
        branch=workspace.branch,
        updated=updated,
        files=list(workspace.files[:MAX_LISTED]),
        stripped=list(done.stripped.stripped[:MAX_LISTED]),
        conflicts=_reasons(list(workspace.conflicts.items())),
        skipped=_reasons(list(done.skipped.items())),
        unchanged=done.repeated,
        indexed_branch=view.branch or None,
        indexed_commit=view.commit[:12] or None,
        base_matches=bool(view.commit) and view.commit.lower().startswith(sha),
        synced_at=workspace.synced,
        expires_at=workspace.expires,
    )


async def _updated(graph: Graph, base: Graph, path: str) -> int:
    """The number of a file's entities, itself included, that differ from the index."""
    now, before = await _texts(graph, path), await _texts(base, path)
    return sum(now.get(key) != before.get(key) for key in now.keys() | before.keys())


async def _texts(graph: Graph, path: str) -> dict[int, bytes]:
    lines = (await graph.source(path) or b"").split(b"\n")
    return {
        each.key: b"\n".join(lines[each.line - 1 : each.end_line])
        for each in await graph.in_file(path)
    }


def _reasons(found: Sequence[tuple[str, str]]) -> list[FileReason]:
    return [FileReason(file=file, reason=reason) for file, reason in found[:MAX_LISTED]]
