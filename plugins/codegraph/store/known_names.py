"""An in-memory cache of the entity names of recently used views."""

from __future__ import annotations

from collections import OrderedDict

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.codegraph.store.tables import entities
from plugins.codegraph.store.visibility import Visibility

CACHE_SIZE = 8
"""The most repository states whose names are cached."""


class KnownNames:
    """Distinct entity names by repository state; drops the least recently used."""

    def __init__(self) -> None:
        self._names: OrderedDict[tuple[int, ...], list[str]] = OrderedDict()

    async def of(
        self, connection: AsyncConnection, visibility: Visibility, version: tuple[int, ...]
    ) -> list[str]:
        """The names of a view's entities.

        Args:
            connection: where to read.
            visibility: the view's visibility.
            version: the cache key: changes whenever the names may.
        """
        if version not in self._names:
            query = select(entities.c.name).where(*visibility.shown(entities)).distinct()
            self._names[version] = sorted(await connection.scalars(query))
            while len(self._names) > CACHE_SIZE:
                self._names.popitem(last=False)
        self._names.move_to_end(version)
        return self._names[version]
