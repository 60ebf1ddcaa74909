"""The graph store: views of repositories, their graphs, and deletion."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Select, Text, bindparam, select

from gateway.contract import Database
from plugins.codegraph.store.graph import OverlayView, RepositoryView
from plugins.codegraph.store.known_names import KnownNames
from plugins.codegraph.store.layers import Layers
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.store.sweeper import GRACE, Sweeper
from plugins.codegraph.store.tables import layers, repositories


class GraphStore:
    """The graphs of all repositories, in one database.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._names = KnownNames()
        self._sweeper = Sweeper(database)

    async def view(
        self, org: str, repo: str, overlay: tuple[str, str | None] | None = None
    ) -> RepositoryView | None:
        """A repository as it is served now, or None if it has no index.

        Args:
            org: its organisation.
            repo: its id.
            overlay: the person and branch whose overlay to apply; branch None for the one that the
                repository is on. If there is no such overlay, the view is the base alone.
        """
        async with self.database.read() as connection:
            row = (await connection.execute(_served(), {"org": org, "repo": repo})).first()
        if row is None:
            return None
        view = RepositoryView(
            id=row.id,
            org=row.org,
            name=row.name,
            layer=row.layer,
            generation=row.generation,
            commit=row.commit or "",
            branch=row.branch or "",
            indexed=row.indexed,
            problem=row.problem,
            embedded=(row.embedded_layer, row.embedded_generation) == (row.layer, row.generation),
            scip=row.scip,
        )
        return view if overlay is None else await self._with(view, *overlay)

    def open(self, view: RepositoryView) -> Graph:
        """The graph of a view."""
        return Graph(self.database, view, self._names)

    def layers(self, owner: Owner) -> Layers:
        """The writer of a repository's layers."""
        return Layers(self.database, owner)

    async def sweep(self, grace: timedelta = GRACE) -> int:
        """Delete rows that nobody reads any more; returns how many. Call it periodically."""
        return await self._sweeper.sweep(grace)

    async def purge(self, org: str, repo: str) -> dict[str, int]:
        """Delete every row of a repository except the registry's; returns the counts by table.

        It may be called again, for example after it was interrupted.
        """
        return await self._sweeper.purge(Owner(org, repo))

    async def leftovers(self, org: str, repo: str) -> dict[str, int]:
        """The row counts of a repository by table; empty if there are none."""
        return await self._sweeper.leftovers(Owner(org, repo))

    async def _with(self, view: RepositoryView, person: str, branch: str | None) -> RepositoryView:
        query = (
            select(layers)
            .where(
                *(layers.c.org == view.org, layers.c.repo == view.id, layers.c.kind == "overlay"),
                *(layers.c.person == person, layers.c.state == "ready"),
                layers.c.branch == (view.branch if branch is None else branch),
                layers.c.expires > datetime.now(UTC),
            )
            .order_by(layers.c.id.desc())
            .limit(1)
        )
        async with self.database.read() as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            return view
        stale = (row.base, row.base_generation) != (view.layer, view.generation)
        overlay = OverlayView(row.id, person, row.branch, row.created, row.expires, stale)
        return replace(view, overlay=overlay)


@cache
def _served() -> Select[Any]:
    """The query for a repository and its base layer; cached, since every tool call runs it."""
    org, repo = bindparam("org", type_=Text()), bindparam("repo", type_=Text())
    return select(repositories, layers.c.generation).where(
        repositories.c.org == org,
        repositories.c.id == repo,
        repositories.c.state == "active",
        layers.c.id == repositories.c.layer,
        layers.c.org == org,
        layers.c.repo == repo,
    )
