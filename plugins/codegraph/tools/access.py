"""Which graph a tool answers from: the repository that was named, as its caller sees it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from gateway.contract import Caller, Exchange, ToolFailed
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.workspaces.workspaces import Workspace, Workspaces

WAIT_TIMEOUT_S = 20.0
"""Seconds that a call waits for the first index of a repository; less than a call may take."""
_POLL_INTERVAL_S = 0.5


@dataclass(frozen=True, slots=True)
class Opened:
    """A graph to answer from.

    Attributes:
        graph: the graph, with the caller's overlay where there is one.
        workspace: what is known of that overlay.
        state: what is being done to the repository's index, "" for nothing.
    """

    graph: Graph
    workspace: Workspace | None
    state: str


@dataclass(eq=False, repr=False)
class Access:
    """Opens graphs for callers.

    Attributes:
        registry: the repositories.
        store: the graphs.
        workspaces: what people have sent of their uncommitted work.
        exchange: gives the call that is running, whose client is told how far an index is.
    """

    registry: Repositories
    store: GraphStore
    workspaces: Workspaces
    exchange: Callable[[], Exchange]

    async def repository(self, caller: Caller, name: str | None) -> Repository:
        """The repository that a caller names; raises as ``Repositories.named``."""
        return await self.registry.named(caller, name)

    async def __call__(self, caller: Caller, name: str | None) -> Opened:
        """The graph of the repository that a caller names, as that caller sees it.

        Where its first index is being made, the call waits for a while, and its client is told
        how far that is.

        Args:
            caller: who asks.
            name: the repository's name; None where the caller may see only one.

        Raises:
            ToolFailed: there is none, none was named, or it has not been indexed yet.
        """
        known = await self.registry.named(caller, name)
        state = str(await self.registry.state(known.id))
        workspace = await self.workspaces.current(known.org, known.id, caller.person)
        branch = None if workspace is None or workspace.layer is None else workspace.branch
        overlay = None if caller.person is None or branch is None else (caller.person, branch)
        view = await self.store.view(known.org, known.id, overlay) or await self._awaited(known)
        if view is None:
            raise not_indexed(known.name, str(await self.registry.state(known.id)))
        seen = workspace if view.overlay is not None else None
        return Opened(self.store.open(view), seen, state)

    def open(self, view: RepositoryView) -> Graph:
        """The graph of a view."""
        return self.store.open(view)

    async def _awaited(self, known: Repository) -> RepositoryView | None:
        """A repository as it is served once its first index is made; None if that takes long."""
        began = time.monotonic()
        while (waited := time.monotonic() - began) < WAIT_TIMEOUT_S:
            doing = await self.registry.state(known.id)
            # It may have ended since it was last looked for.
            view = await self.store.view(known.org, known.id)
            if view is not None or not doing.under_way:
                return view
            await self.exchange().progress(waited, message=f"{known.name}: {doing}")
            await asyncio.sleep(_POLL_INTERVAL_S)
        return None


def not_indexed(name: str, state: str) -> ToolFailed:
    """The repository is known, and there is no graph of it yet."""
    doing = f" ({state})" if state else ""
    return ToolFailed(
        "not_indexed",
        f"The repository {name} has no index yet{doing}. Ask again in a minute; if it stays so, "
        "an admin runs `porch codegraph list` to see why.",
    )
