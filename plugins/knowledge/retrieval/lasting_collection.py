"""A collection that is opened again, and so made anew, where another process has removed it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

from gateway.contract import (
    Collection,
    CollectionSpec,
    Condition,
    Hit,
    Point,
    VectorQuery,
    Vectors,
)

Result = TypeVar("Result")


class LastingCollection:
    """A collection of the vector store, whatever happens to it there.

    What fails is done once more where the collection has another identity by now: it was gone, and
    is made anew. What it held is not in it then, and ``lost`` hears of it.

    Args:
        vectors: the store.
        name: the collection's.
        spec: what it holds.
        opened: it.
        lost: called where it was made anew.
    """

    def __init__(
        self,
        vectors: Vectors,
        name: str,
        spec: CollectionSpec,
        opened: Collection,
        lost: Callable[[], None],
    ) -> None:
        self._vectors = vectors
        self._name = name
        self._spec = spec
        self._opened = opened
        self._lost = lost
        self._turn = asyncio.Lock()

    @classmethod
    async def open(
        cls, vectors: Vectors, name: str, spec: CollectionSpec, lost: Callable[[], None]
    ) -> LastingCollection:
        """Open a collection, made if it is not there; like ``Vectors.collection``."""
        return cls(vectors, name, spec, await vectors.collection(name, spec), lost)

    @property
    def identity(self) -> str:
        """As in the port; another one once it was made anew."""
        return self._opened.identity

    async def upsert(self, points: Sequence[Point]) -> None:
        """As in the port."""
        await self._tried(lambda opened: opened.upsert(points))

    async def delete(self, where: Sequence[Condition]) -> None:
        """As in the port."""
        await self._tried(lambda opened: opened.delete(where))

    async def search(self, queries: Sequence[VectorQuery]) -> list[list[Hit]]:
        """As in the port."""
        return await self._tried(lambda opened: opened.search(queries))

    async def count(self, where: Sequence[Condition] = ()) -> int:
        """As in the port."""
        return await self._tried(lambda opened: opened.count(where))

    async def walk(self, payload: Sequence[str] = ()) -> AsyncIterator[Any]:
        """As in the port; one that was gone is found to be so before the walk."""
        await self.count([])
        async for point in self._opened.walk(payload):
            yield point

    async def flush(self) -> None:
        """As in the port."""
        await self._tried(lambda opened: opened.flush())

    async def _tried(self, work: Callable[[Collection], Awaitable[Result]]) -> Result:
        held = self._opened
        try:
            return await work(held)
        except Exception:
            if not await self._is_made_anew(held):
                raise
            return await work(self._opened)

    async def _is_made_anew(self, held: Collection) -> bool:
        async with self._turn:
            if self._opened is held:
                opened = await self._vectors.collection(self._name, self._spec)
                if opened.identity == held.identity:
                    return False
                self._opened = opened
                self._lost()
            return True
