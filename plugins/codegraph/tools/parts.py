"""Builds what the tools depend on, for ``offer.py``; imported late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from gateway.contract import Host, Job, People, Tool
from plugins.codegraph.branches.branch_graphs import BranchGraphs
from plugins.codegraph.branches.builder import BranchBuilder
from plugins.codegraph.changes.history import ChangeHistory
from plugins.codegraph.health.reports import HealthReports
from plugins.codegraph.justification.corrections import Corrections
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.owners.owners import Owners
from plugins.codegraph.repositories.build import IndexBuilder
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.search.embedder import EntityEmbedder
from plugins.codegraph.search.overlay_vectors import embed_in_time
from plugins.codegraph.search.search import Search
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.tools import (
    blueprint,
    business,
    call_graph,
    code_map,
    correction,
    health,
    impact,
    lookup,
    paths_between,
    recent_changes,
    references,
    routes,
    safety,
    stats,
    sync,
    traversal,
    workspace,
)
from plugins.codegraph.tools import search as search_tools
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.judgements import Judgements
from plugins.codegraph.workspaces.sync import Overlaid, WorkspaceSync
from plugins.codegraph.workspaces.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class ToolParts:
    """What the tools depend on.

    Attributes:
        access: opens graphs for callers.
        search: answers questions.
        embedder: makes vectors for repositories; a light job calls it after indexing.
        workspaces: people's uncommitted work; a light job sweeps it.
        workspace_sync: receives people's uncommitted work.
        health: makes and keeps health reports; a light job makes them after a full index.
        people: what the portal calls people.
        judgements: why the code exists.
        owners: who works on it, or None.
        history: what the last indexes changed.
        now: the time, in UTC.
    """

    access: Access
    search: Search
    embedder: EntityEmbedder
    workspaces: Workspaces
    workspace_sync: WorkspaceSync
    health: HealthReports
    people: People
    judgements: Judgements
    owners: Owners | None
    history: ChangeHistory
    now: Callable[[], datetime]

    @classmethod
    def of(
        cls,
        host: Host,
        registry: Repositories,
        store: GraphStore,
        overlays: Indexes,
        workspace_hours: int,
        clock: Callable[[], datetime],
        builder: IndexBuilder | None = None,
    ) -> ToolParts:
        """Build the parts on a portal's services.

        Args:
            host: the plugin's services.
            registry: the repositories.
            store: the graphs.
            overlays: links a person's files into an overlay.
            workspace_hours: how many hours a workspace is kept after it was last sent, 1 to 24.
            clock: the time, in UTC.
            builder: knows where a repository's files are, to read its branches, and to tell who
                works on code; None where there are none.
        """
        vectors = None if host.embedder is None else CodeVectors(host, host.embedder)
        embedder = EntityEmbedder(host.database, store, vectors)
        writer = _Writer(host, store, overlays, embedder)
        workspaces = Workspaces(host.database, clock, writer.end)
        lifetime = timedelta(hours=workspace_hours)
        branches = owners = None
        if builder is not None:
            making = BranchBuilder.of(host, store, builder, embedder, clock)
            branches = BranchGraphs.of(host, registry, making)
            owners = Owners(partial(_root, registry, builder))
        return cls(
            access=Access(registry, store, workspaces, host.exchange, branches),
            search=Search(vectors),
            embedder=embedder,
            workspaces=workspaces,
            people=host.people,
            owners=owners,
            health=HealthReports(host.database, store, clock),
            judgements=Judgements(
                StatementStore(host.database),
                Corrections(host.database),
                Opinions(host.database),
                host.people,
            ),
            history=ChangeHistory(host.database),
            now=clock,
            workspace_sync=WorkspaceSync(
                store, workspaces, host.cache, writer.write, lifetime, clock
            ),
        )

    def jobs(self) -> list[Job]:
        """The jobs that tools begin."""
        return [] if self.access.branches is None else self.access.branches.declared()

    def tools(self) -> list[Tool]:
        """The tools, in the order in which an agent should consider them."""
        return [
            *search_tools.tools(self.access, self.search),
            *lookup.tools(self.access),
            *traversal.tools(self.access),
            *references.tools(self.access),
            *paths_between.tools(self.access),
            *call_graph.tools(self.access),
            *routes.tools(self.access),
            *impact.tools(self.access, self.judgements, self.owners),
            *business.tools(self.access, self.search, self.judgements, self.history, self.owners),
            *blueprint.tools(self.access, self.judgements),
            *correction.tools(self.access, self.judgements.corrections, self.now),
            *safety.tools(self.access),
            *code_map.tools(self.access),
            *recent_changes.tools(self.access, self.history),
            *health.tools(self.access, self.health),
            *stats.tools(self.access, self.search),
            *sync.tools(self.access, self.workspace_sync),
            *workspace.tools(self.access, self.people),
        ]


async def _root(registry: Repositories, builder: IndexBuilder, repo: str) -> Path | None:
    """The directory with a repository's files; None where it was removed."""
    found = await registry.by_id(repo)
    return None if found is None else builder.root(found)


class _Writer:
    """Writes overlays with their vectors, and deletes both."""

    def __init__(
        self, host: Host, store: GraphStore, overlays: Indexes, embedder: EntityEmbedder
    ) -> None:
        self._host, self._store = host, store
        self._overlays, self._embedding = overlays, embedder

    async def write(self, overlaid: Overlaid) -> int:
        """Link the files and write the overlay; returns its layer's number."""
        view = overlaid.view
        await self._overlays.overlay(
            Owner(view.org, view.id),
            overlaid.files,
            overlaid.person,
            overlaid.branch,
            overlaid.digest,
            overlaid.expires,
        )
        whose = overlaid.person, overlaid.branch
        seen = await self._store.view(view.org, view.id, overlay=whose)
        if seen is None or seen.overlay is None:
            raise RuntimeError(f"The overlay of {view.name} was written, and is not there.")
        await embed_in_time(self._embedding, seen, list(overlaid.files), self._host.log)
        return seen.overlay.layer

    async def end(self, org: str, repo: str, layer: int) -> None:
        """Let go of an overlay that is no longer used; a sweep deletes it, with its vectors."""
        await self._store.layers(Owner(org, repo)).drop(layer)
