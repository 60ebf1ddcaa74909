"""The tool that shows a person's uncommitted work as the portal has it, and who else is at work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from difflib import unified_diff

from pydantic import Field

from gateway.contract import Caller, People, Tier, Tool, ToolResult
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import READS, Repo, Wire
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.workspaces.workspaces import Workspace

MAX_FILES, MAX_LINES = 50, 400
"""The most files of an answer, and lines of the difference of one."""
MAX_COMPARED_BYTES = 200_000
"""The largest file whose lines are compared."""
MAX_PRESENT = 50
"""The most other people that an answer names."""


class ChangedFile(ToolResult):
    """A file that differs from the index."""

    file: str
    added: int = Field(description="Lines that are new.")
    removed: int = Field(description="Lines that are gone.")
    diff: str | None = Field(None, description="What differs; null for a file too large for it.")
    cut: bool | None = Field(None, description="true: there are more lines than these.")


class Present(ToolResult):
    """Somebody else who has sent uncommitted work."""

    name: str
    branch: str
    synced_at: datetime


class WorkspaceAnswer(ToolResult):
    """What the portal has of a person's uncommitted work."""

    branch: str | None = Field(None, description="null: nothing is kept of yours.")
    synced_at: datetime | None = None
    expires_at: datetime | None = None
    changed: list[ChangedFile] = Field(description="Files that differ from the index.")
    left_out: int = Field(description="How many more files differ.")
    conflicts: dict[str, str] = Field(
        description="Files whose changes do not fit what is indexed, and why: for them the index "
        "holds."
    )
    others: list[Present] = Field(
        description="Who else has uncommitted work in this repository now. Of theirs you see the "
        "branch and the time alone."
    )
    meta: Note


def tools(access: Access, people: People) -> list[Tool]:
    """The tools of this group."""

    async def get_workspace(repo: Repo = None, *, caller: Caller) -> Wire:
        """Your uncommitted work as the portal has it: which files differ from the index and how,
        until when it is kept, and who else is at work in the repository, on which branch. Use it to
        check what other answers include, or before you begin what somebody may be doing already."""
        opened = await access(caller, repo)
        mine = opened.workspace
        changed = [] if mine is None else await _changed(access, opened, mine)
        return WorkspaceAnswer(
            branch=None if mine is None else mine.branch,
            synced_at=None if mine is None else mine.synced,
            expires_at=None if mine is None else mine.expires,
            changed=changed,
            left_out=0 if mine is None else len(mine.files) - len(changed),
            conflicts={} if mine is None else mine.conflicts,
            others=await _others(access, people, opened, caller.person),
            meta=noted(opened),
        ).wire()

    return [
        Tool.of(
            get_workspace,
            title="Your uncommitted work",
            result=WorkspaceAnswer,
            tier=Tier.PUBLIC,
            floor=Tier.PUBLIC,
            annotations=READS,
        )
    ]


async def _changed(access: Access, opened: Opened, mine: Workspace) -> list[ChangedFile]:
    repo = opened.graph.repo
    view = await access.store.view(repo.org, repo.id)
    if view is None:  # the repository was removed in the meantime
        return []
    base = access.open(view)
    return [await _difference(base, opened.graph, path) for path in mine.files[:MAX_FILES]]


async def _difference(base: Graph, graph: Graph, path: str) -> ChangedFile:
    before, now = await base.source(path) or b"", await graph.source(path) or b""
    if max(len(before), len(now)) > MAX_COMPARED_BYTES:
        added = max(0, now.count(b"\n") - before.count(b"\n"))
        removed = max(0, before.count(b"\n") - now.count(b"\n"))
        return ChangedFile(file=path, added=added, removed=removed)
    lines = await asyncio.to_thread(_compared, before, now)
    return ChangedFile(
        file=path,
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        diff="\n".join(lines[:MAX_LINES]),
        cut=len(lines) > MAX_LINES or None,
    )


def _compared(before: bytes, now: bytes) -> Sequence[str]:
    """The lines of a unified difference, without its header."""
    old, new = (text.decode(errors="replace").splitlines() for text in (before, now))
    return list(unified_diff(old, new, lineterm=""))[2:]


async def _others(
    access: Access, people: People, opened: Opened, person: str | None
) -> list[Present]:
    """Who else is at work; a token that is nobody's hears of nobody."""
    if person is None:
        return []
    repo = opened.graph.repo
    present = await access.workspaces.present(repo.org, repo.id, MAX_PRESENT + 1)
    others = [(whose, each) for whose, each in present if whose != person][:MAX_PRESENT]
    names = await people.names([whose for whose, _ in others])
    return [
        Present(name=names[whose], branch=each.branch, synced_at=each.synced)
        for whose, each in others
        if whose in names
    ]
