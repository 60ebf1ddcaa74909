"""Documents without a question: listed, counted by what one can narrow to, the newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from gateway.contract import Tier
from plugins.knowledge.facets import counted
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.fields import When
from plugins.knowledge.permalinks import Permalinks
from plugins.knowledge.results import DocumentList, ListedDocument
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.standing import Standings
from plugins.knowledge.store import Store

Order = Literal["title", "date", "changed"]

_ORDERS: dict[Order, Callable[[DocumentEntry], Any]] = {
    "title": lambda entry: (one_line(entry.title).lower(), entry.key),
    "date": lambda entry: (-entry.written.timestamp(), entry.key),
    "changed": lambda entry: (-entry.synced_at.timestamp(), entry.key),
}


class ListFilters(SearchFilters):
    """What a list is narrowed to; its order and its length are arguments of their own."""

    changed_since: When | None = Field(
        default=None, description="Only documents taken in at this moment or later."
    )

    def admits(self, entry: DocumentEntry) -> bool:
        """Whether an entry passes."""
        since = self.changed_since
        return super().admits(entry) and (since is None or entry.synced_at >= since)


class Listing:
    """Lists documents.

    Args:
        store: the catalogue.
        permalinks: where documents stand.
        standings: which documents hold.
    """

    def __init__(self, store: Store, permalinks: Permalinks, standings: Standings) -> None:
        self._store = store
        self._permalinks = permalinks
        self._standings = standings

    def __call__(
        self, filters: ListFilters, order: Order, page: tuple[int, int], up_to: Tier, note: str
    ) -> DocumentList:
        """A page of the documents that pass, and what all that pass have.

        Args:
            filters: what to narrow the list to.
            order: by title, or the newest first: by date, or by when a change was taken in.
            page: how many documents to skip, and how many to list at most.
            up_to: the tier of the caller.
            note: what to know about the list, or an empty text.
        """
        offset, limit = page
        moment, held_at = filters.as_of, self._standings.held_at
        passing = [
            entry
            for entry in self._store.entries(up_to)
            if filters.admits(entry) and (moment is None or held_at(entry, moment, up_to))
        ]
        passing.sort(key=_ORDERS[order])
        shown = passing[offset : offset + limit]
        return DocumentList(
            documents=[self.brief(entry, up_to) for entry in shown],
            total=len(passing),
            next_offset=offset + len(shown) if offset + len(shown) < len(passing) else None,
            facets=counted(passing),
            note=note or None,
        )

    def brief(self, entry: DocumentEntry, up_to: Tier) -> ListedDocument:
        """A document in a list."""
        return ListedDocument(
            title=one_line(entry.title),
            content_type=entry.content_type,
            id=entry.id,
            description=entry.description or None,
            tags=list(entry.tags) or None,
            path=entry.path,
            commit=entry.commit_sha or None,
            permalink=self._permalinks.of(entry),
            date=entry.metadata.date,
            synced_at=entry.synced_at,
            standing=self._standings.of(entry, up_to),
        )
