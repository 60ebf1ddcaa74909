"""Vectors of one transaction's entries: computed before it, searchable after its commit."""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from plugins.knowledge.memory.store.vectors import MemoryVectors

if TYPE_CHECKING:
    from plugins.knowledge.memory.model.record import Record
    from plugins.knowledge.memory.store.vectors import Vector


class DeferredVectors(MemoryVectors):
    """Vectors that wait until what they belong to is committed.

    Args:
        over: the vector store.
        made: vectors by their texts; one that is None could not be made.

    Attributes:
        waiting: what is to be done then, in order; cut short where a write is undone.
    """

    def __init__(self, over: MemoryVectors, made: Mapping[str, Vector | None]) -> None:
        self.embedder, self.kept = over.embedder, over.kept
        self.waiting: list[tuple[str, Any]] = []
        self._over, self._made = over, made

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts; those that were made before cost nothing.

        Raises:
            ValueError: one could not be made before.
        """
        missing = [each for each in texts if each not in self._made]
        found = dict(zip(missing, await self._over.embed(missing), strict=True)) if missing else {}
        vectors = [found[each] if each in found else self._made[each] for each in texts]
        if any(each is None for each in vectors):
            raise ValueError("the text cannot be embedded")
        return [each for each in vectors if each is not None]

    async def show(self, vectors: Sequence[tuple[Record, Vector]]) -> bool:
        """As ``MemoryVectors.show``, later."""
        self.waiting += (("show", each) for each in vectors)
        return True

    async def follow(self, records: Sequence[Record]) -> None:
        """As ``MemoryVectors.follow``, later."""
        self.waiting += (("follow", each) for each in records)

    async def hide(self, ids: Ids[str]) -> None:
        """As ``MemoryVectors.hide``, later."""
        self.waiting += (("hide", each) for each in sorted(ids))

    async def catch_up(self) -> None:
        """Do all that waits, much of it at once; call it after the commit."""
        for what, some in groupby(self.waiting, key=lambda each: each[0]):
            await getattr(self._over, what)([each for _, each in some])


async def embed_all(vectors: MemoryVectors, texts: Sequence[str]) -> dict[str, Vector | None]:
    """The vectors of texts, all at once; where that fails, of those of which one can be made."""
    wanted = list(dict.fromkeys(texts))
    try:
        return dict(zip(wanted, await vectors.embed(wanted), strict=True)) if wanted else {}
    except Exception:
        return {each: await _one(vectors, each) for each in wanted}


async def _one(vectors: MemoryVectors, text: str) -> Vector | None:
    try:
        return (await vectors.embed([text]))[0]
    except Exception:
        return None
