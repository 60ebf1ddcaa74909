"""Which rows a view of a repository sees: its base layer, and an overlay over it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Table, and_, bindparam, exists, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.tables import entities, files


class Visibility:
    """The conditions under which a row belongs to a view.

    Args:
        view: the repository, as its caller sees it.
    """

    def __init__(self, view: RepositoryView) -> None:
        self._view = view
        self._hidden: frozenset[int] | None = None
        self.base = view.layer
        self.overlay = view.overlay.layer if view.overlay else None

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of ``in_base``."""
        return {"layer": self.base, "org": self._view.org, "repo": self._view.id}

    @property
    def layers(self) -> list[int]:
        """The layers that are read."""
        return [self.base] if self.overlay is None else [self.base, self.overlay]

    def of(self, table: Table) -> tuple[ColumnElement[bool], ...]:
        """Rows of the repository in the view's layers, including those that the overlay hides."""
        return (
            table.c.layer.in_(self.layers) if self.overlay else table.c.layer == self.base,
            table.c.org == self._view.org,
            table.c.repo == self._view.id,
        )

    def shown(self, table: Table) -> tuple[ColumnElement[bool], ...]:
        """Rows of the repository whose path the overlay does not hide."""
        if self.overlay is None:
            return self.of(table)
        # A correlated subquery: the overlay's file rows are the paths that it hides.
        over = files.alias("over")
        masked = exists(select(1).where(over.c.layer == self.overlay, over.c.path == table.c.path))
        return *self.of(table), or_(table.c.layer == self.overlay, and_(~masked))

    async def hidden_keys(self, connection: AsyncConnection) -> frozenset[int]:
        """The keys of the base's entities in files that the overlay hides."""
        if self._hidden is None:
            over: Any = select(files.c.path).where(
                files.c.layer == self.overlay, files.c.repo == self._view.id
            )
            query = select(entities.c.key).where(
                entities.c.layer == self.base,
                entities.c.repo == self._view.id,
                entities.c.path.in_(over),
            )
            self._hidden = frozenset(await connection.scalars(query))
        return self._hidden


def in_base(table: Table) -> tuple[ColumnElement[bool], ...]:
    """Rows of a view's base, for a statement that is cached for all views; see
    ``Visibility.values``.

    Building a statement takes longer than running one that reads a few rows.
    """
    return (
        table.c.layer == bindparam("layer"),
        table.c.org == bindparam("org"),
        table.c.repo == bindparam("repo"),
    )
