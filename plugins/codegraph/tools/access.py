"""Opens the graph that a tool answers from: the named repository, as its caller sees it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from gateway.contract import Caller, Exchange, ToolFailed
from plugins.codegraph.branches.branch_graphs import BranchGraphs
from plugins.codegraph.branches.branches import Branch
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.workspaces.workspaces import Workspace, Workspaces

WAIT_TIMEOUT_S = 20.0
"""Seconds that a call waits for the first index of a repository; less than the limit of a call."""
_POLL_INTERVAL_S = 0.5


@dataclass(frozen=True, slots=True)
class Opened:
    """A graph to answer from.

    Attributes:
        graph: the graph, with the caller's overlay if there is one.
        workspace: the workspace of that overlay.
        state: what is happening to the repository's index, or "".
        branch: the branch that was asked for, if it is another than the indexed one.
    """

    graph: Graph
    workspace: Workspace | None
    state: str
    branch: Branch | None = None

    @property
    def differing(self) -> Collection[str]:
        """The paths of the files that differ from what is indexed."""
        over = self.workspace or self.branch
        return () if over is None else over.files


@dataclass(eq=False, repr=False)
class Access:
    """Opens graphs for callers.

    Attributes:
        registry: the repositories.
        store: the graphs.
        workspaces: people's uncommitted work.
        exchange: gives the running call, whose client receives progress of an index.
        branches: opens branches other than the indexed one, or None if nobody can.
    """

    registry: Repositories
    store: GraphStore
    workspaces: Workspaces
    exchange: Callable[[], Exchange]
    branches: BranchGraphs | None = None

    async def repository(self, caller: Caller, name: str | None) -> Repository:
        """The repository that a caller names; raises as :meth:`Repositories.named`."""
        return await self.registry.named(caller, name)

    async def __call__(self, caller: Caller, name: str | None, branch: str | None = None) -> Opened:
        """Open the graph of a repository, as the caller sees it.

        If its first index is being made, wait for up to :data:`WAIT_TIMEOUT_S`, and report progress
        to the client.

        Args:
            caller: who asks.
            name: the repository's name; None if the caller may see only one.
            branch: another branch than the indexed one, which is asked without uncommitted work.

        Raises:
            ToolFailed: there is no such repository or branch, the name is missing, or it has no
                index yet.
        """
        known = await self.registry.named(caller, name)
        state = str(await self.registry.state(known.id))
        if branch is not None and branch != (await self._indexed(caller, known)).branch:
            view, found = await self._on_branch(known, branch)
            return Opened(self.store.open(view), None, state, found)
        workspace = await self.workspaces.current(known.org, known.id, caller.person)
        of = None if workspace is None or workspace.layer is None else workspace.branch
        overlay = None if caller.person is None or of is None else (caller.person, of)
        view = await self._indexed(caller, known, overlay)
        seen = workspace if view.overlay is not None else None
        return Opened(self.store.open(view), seen, state)

    async def all_graphs(self, caller: Caller, opened: Opened) -> list[Graph]:
        """The graphs of all repositories that a caller may see and that have an index: the opened
        one as it is, then the others, by name, without uncommitted work."""
        mine = opened.graph
        others = [each for each in await self.registry.visible(caller) if each.id != mine.repo.id]
        views = [await self.store.view(each.org, each.id) for each in others]
        return [mine, *(self.store.open(view) for view in views if view is not None)]

    def open(self, view: RepositoryView) -> Graph:
        """The graph of a view."""
        return self.store.open(view)

    async def _indexed(
        self, caller: Caller, known: Repository, overlay: tuple[str, str] | None = None
    ) -> RepositoryView:
        """A repository as it is served, once it is."""
        view = await self.store.view(known.org, known.id, overlay) or await self._awaited(known)
        if view is None:
            # Perhaps another process has just removed it, and the list read before is older.
            known = await self.registry.named(caller, known.name, fresh=True)
            raise not_indexed(known.name, str(await self.registry.state(known.id)))
        return view

    async def _on_branch(self, known: Repository, branch: str) -> tuple[RepositoryView, Branch]:
        if self.branches is None:
            raise ToolFailed("no_such_branch", "Only the indexed branch is served here.")
        return await self.branches.open(known, branch)

    async def _awaited(self, known: Repository) -> RepositoryView | None:
        """Wait for a repository's first index; None on timeout."""
        began = time.monotonic()
        while (waited := time.monotonic() - began) < WAIT_TIMEOUT_S:
            doing = await self.registry.state(known.id)
            # The index may have been finished since the last check.
            view = await self.store.view(known.org, known.id)
            if view is not None or not doing.under_way:
                return view
            await self.exchange().progress(waited, message=f"{known.name}: {doing}")
            await asyncio.sleep(_POLL_INTERVAL_S)
        return None


def not_indexed(name: str, state: str) -> ToolFailed:
    """The error for a repository that has no index yet."""
    doing = f" ({state})" if state else ""
    return ToolFailed(
        "not_indexed",
        f"The repository {name} has no index yet{doing}. Ask again in a minute; if it stays so, "
        "an admin runs `porch codegraph list` to see why.",
    )
