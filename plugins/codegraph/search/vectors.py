"""Vectors of entities in the vector store: each one, and every query, carries its owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gateway.contract import (
    Collection,
    CollectionSpec,
    Condition,
    Embedder,
    Host,
    Point,
    VectorQuery,
)
from gateway.toolkit.vectors import embed_parts
from plugins.codegraph.model import parse_key, shown_key
from plugins.codegraph.search.texts import Texts
from plugins.codegraph.store.graph import RepositoryView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

LAYOUT = 1
"""The version of what is embedded and stored; raising it re-embeds every entity."""
BASE = 0
"""The overlay number of base layers, which everybody sees."""
CODE = "code"
_NAME = "entities"
_INDEXED = dict.fromkeys(("org", "repo", "scope", "key"), "keyword")
"""``scope`` combines organisation, repository and overlay, so that a search filters on one
field."""


class CodeVectors:
    """The vectors of all repositories.

    Args:
        host: the plugin's services; they must include a model.
        embedder: the model.
    """

    def __init__(self, host: Host, embedder: Embedder) -> None:
        self._host, self.embedder = host, embedder
        self._collection: Collection | None = None

    async def collection(self) -> Collection:
        """The collection, opened at first use."""
        if self._collection is None:
            spec = CollectionSpec(dense={CODE: self.embedder.dimensions}, indexed=_INDEXED)
            self._collection = await self._host.vectors.collection(_NAME, spec)
        return self._collection

    async def mark(self) -> str:
        """An identifier that compatible vectors share."""
        collection = await self.collection()
        return f"{self.embedder.model} {collection.identity} {LAYOUT}"

    async def embed(self, texts: Sequence[Texts]) -> list[Vector]:
        """The vectors of entities: each the average of those of its two texts."""
        parts = [(each.head, each.words or each.head) for each in texts]
        return await embed_parts(self.embedder, parts)

    async def put(
        self, org: str, repo: str, vectors: Mapping[int, Vector], overlay: int = BASE
    ) -> None:
        """Store the vectors of entities, by key."""
        points = [
            Point(
                id=f"{_scope(org, repo, overlay)}\n{shown_key(key)}",
                dense={CODE: vector},
                payload={
                    **{"org": org, "repo": repo, "overlay": overlay},
                    **{"scope": _scope(org, repo, overlay), "key": shown_key(key)},
                },
            )
            for key, vector in vectors.items()
        ]
        if points:
            await (await self.collection()).upsert(points)

    async def remove(self, org: str, repo: str, keys: Iterable[int]) -> None:
        """Delete vectors of entities in the base."""
        shown = tuple(shown_key(key) for key in keys)
        if shown:
            own = (Condition("scope", (_scope(org, repo, BASE),)), Condition("key", shown))
            await (await self.collection()).delete(own)

    async def remove_overlay(self, org: str, repo: str, overlay: int) -> None:
        """Delete the vectors of an overlay."""
        own = Condition("scope", (_scope(org, repo, overlay),))
        await (await self.collection()).delete([own])

    async def purge(self, org: str, repo: str) -> int:
        """Delete all vectors of a repository; returns their number."""
        collection = await self.collection()
        count = await collection.count(_of(org, repo))
        await collection.delete(_of(org, repo))
        return count

    async def count(self, org: str, repo: str) -> int:
        """The number of a repository's vectors."""
        return await (await self.collection()).count(_of(org, repo))

    async def nearest(self, view: RepositoryView, vector: Vector, limit: int) -> dict[int, float]:
        """The similarity of the entities nearest to a vector in a view, by key.

        For an entity that the view's overlay replaces, the overlay's vector counts.
        """
        overlays = [BASE] if view.overlay is None else [BASE, view.overlay.layer]
        scopes = tuple(_scope(view.org, view.id, each) for each in overlays)
        where = (Condition("scope", scopes),)
        query = VectorQuery(CODE, vector, where, limit, ("key", "overlay"))
        (hits,) = await (await self.collection()).search([query])
        ordered = sorted(hits, key=lambda hit: hit.payload["overlay"] != BASE)
        return {parse_key(hit.payload["key"]): hit.score for hit in ordered}


def _scope(org: str, repo: str, overlay: int) -> str:
    return f"{org}\n{repo}\n{overlay}"


def _of(org: str, repo: str) -> tuple[Condition, Condition]:
    return Condition("org", (org,)), Condition("repo", (repo,))
