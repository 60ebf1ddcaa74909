"""How the documents of the base hang together: the most linked ones, and the links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from gateway.contract import Tier
from gateway.toolkit.time_slices import in_turns
from plugins.knowledge.facets import counted
from plugins.knowledge.links import Links
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.fields import Maybe
from plugins.knowledge.results import FacetValue, Result
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.store import Store

MAX_SHOWN = 200
"""The most documents of one map: a picture of more is read by nobody."""
MAX_LINKS = 600
"""The most links of one map; those between its most linked documents come first."""

Edge = tuple[str, str]


class MappedDocument(Result):
    """A document of the map."""

    title: str
    content_type: ContentType
    id: str
    group: Maybe[str] = None
    links: int = Field(description="How many links lead from it or to it, as far as you may see.")


class MappedLink(Result):
    """A link from one document to another, each named as contentType/id."""

    source: str
    target: str


class DocumentMap(Result):
    """The most linked documents that pass, and the links between them."""

    documents: list[MappedDocument] = Field(description="The most linked first.")
    links: list[MappedLink] = Field(description="Between the documents above.")
    total: int = Field(description="How many documents pass; those above are the most linked.")
    total_links: int = Field(description="How many links there are between all that pass.")
    facets: dict[str, list[FacetValue]] = Field(
        description="What all that pass have, the most frequent values first, 20 at most each."
    )
    note: Maybe[str] = Field(default=None, description="What to know about this map.")


class Cartography:
    """Makes maps of the documents. What a caller may not see is on none, and counts nowhere.

    Args:
        store: the catalogue.
        links: which documents lead to which.
    """

    def __init__(self, store: Store, links: Links) -> None:
        self._store = store
        self._links = links
        self._kept: dict[Tier, tuple[Sequence[DocumentEntry], Sequence[Edge]]] = {}

    async def map(self, filters: SearchFilters, limit: int, up_to: Tier, note: str) -> DocumentMap:
        """The map of all documents that pass.

        Args:
            filters: what to narrow it to.
            limit: how many documents at most.
            up_to: the tier of the caller.
            note: what to know about the base now, or an empty text.
        """
        entries = self._store.entries(up_to)
        edges = await self._edges(entries, up_to)
        passing = {entry.key: entry for entry in entries if filters.admits(entry)}
        between = [edge for edge in edges if edge[0] in passing and edge[1] in passing]
        degrees = Counter(key for edge in between for key in edge)
        ranked = sorted(passing, key=lambda key: (-degrees[key], key))
        shown = dict.fromkeys(ranked[:limit])
        links = [edge for edge in between if edge[0] in shown and edge[1] in shown]
        links.sort(key=lambda edge: (-degrees[edge[0]] - degrees[edge[1]], edge))
        return DocumentMap(
            documents=[_mapped(passing[key], degrees[key]) for key in shown],
            links=[MappedLink(source=one, target=other) for one, other in links[:MAX_LINKS]],
            total=len(passing),
            total_links=len(between),
            facets=counted(passing.values(), ("contentType", "group", "tags")),
            note=note or None,
        )

    async def _edges(self, entries: Sequence[DocumentEntry], up_to: Tier) -> Sequence[Edge]:
        """All links that a tier may see; found once for each state of the catalogue."""
        kept = self._kept.get(up_to)
        if kept is not None and kept[0] is entries:
            return kept[1]
        await self._links.follow()
        found = await in_turns(self._found(entries, up_to))
        edges = [edge for some in found for edge in some]
        self._kept[up_to] = (entries, edges)
        return edges

    def _found(self, entries: Iterable[DocumentEntry], up_to: Tier) -> Iterator[list[Edge]]:
        targets = self._links.targets(up_to)
        for entry in entries:
            yield [(entry.key, one.key) for one in self._links.leading(entry, targets)]


def _mapped(entry: DocumentEntry, links: int) -> MappedDocument:
    return MappedDocument(
        title=one_line(entry.title),
        content_type=entry.content_type,
        id=entry.id,
        group=entry.group or None,
        links=links,
    )
