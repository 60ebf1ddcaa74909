"""What one can narrow documents to: the values that filters take, and how many have each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from plugins.knowledge.notes.content_types import ContentType, matching
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.results import FacetValue

_MAX_VALUES = 20

_FACETS: Mapping[str, Callable[[DocumentEntry], Iterable[str]]] = {
    "contentType": lambda entry: (str(entry.content_type),),
    "tags": lambda entry: {tag.lower() for tag in entry.tags},
    "group": lambda entry: (entry.group.lower(),),
    "release": lambda entry: (entry.release.lower(),),
    "status": lambda entry: (entry.status.lower(),),
    "year": lambda entry: (str(entry.metadata.date.year),),
}

NARROWING = ("contentType", "group", "tags", "status", "release")
"""The filters of a search that have values to choose from."""


def counted(
    entries: Collection[DocumentEntry], names: Iterable[str] = tuple(_FACETS)
) -> dict[str, list[FacetValue]]:
    """The values of documents, the most frequent first, 20 at most for each filter.

    Args:
        entries: the documents, all of which the caller may see.
        names: the filters.
    """
    return {name: _values(entries, name) for name in names}


def _values(entries: Iterable[DocumentEntry], name: str) -> list[FacetValue]:
    counts = Counter(value for entry in entries for value in _FACETS[name](entry) if value)
    if name == "contentType":  # as a filter, a type finds those below it too
        counts = Counter(
            {one: sum(counts[each] for each in matching(ContentType(one))) for one in counts}
        )
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [FacetValue(value=value, documents=n) for value, n in ranked[:_MAX_VALUES]]
