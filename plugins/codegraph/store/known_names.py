"""The names of a layer's entities, kept in memory while they are asked for."""

from __future__ import annotations

from collections import OrderedDict

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.codegraph.store.tables import entities
from plugins.codegraph.store.visibility import Visibility

CACHE_SIZE = 8
"""Of how many states of repositories the names are kept."""


class KnownNames:
    """Distinct names by the state of a repository; the one asked for longest ago is forgotten."""

    def __init__(self) -> None:
        self._names: OrderedDict[tuple[int, ...], list[str]] = OrderedDict()

    async def of(
        self, connection: AsyncConnection, visibility: Visibility, version: tuple[int, ...]
    ) -> list[str]:
        """The names that a view sees.

        Args:
            connection: where to read.
            visibility: what the view sees.
            version: what changes whenever the names may.
        """
        if version not in self._names:
            query = select(entities.c.name).where(*visibility.shown(entities)).distinct()
            self._names[version] = sorted(await connection.scalars(query))
            while len(self._names) > CACHE_SIZE:
                self._names.popitem(last=False)
        self._names.move_to_end(version)
        return self._names[version]
