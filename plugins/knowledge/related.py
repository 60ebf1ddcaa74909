"""What stands around a document: where it leads, what leads to it, and what is near in meaning."""

from __future__ import annotations

import asyncio

from gateway.contract import Tier
from gateway.toolkit.questions import MAX_QUESTION_CHARACTERS
from plugins.knowledge.links import Link, Links
from plugins.knowledge.listing import Listing
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.results import Related, WrittenLink
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.points import prepare
from plugins.knowledge.retrieval.questions import plain
from plugins.knowledge.retrieval.search import Search
from plugins.knowledge.store import Store

_MAX_NEAR = 8
_READ_CHARACTERS = 50_000
"""Of a document the beginning says what it is about, and is read at each call."""


class Neighbours:
    """Finds what is related to a document.

    Args:
        store: the catalogue.
        links: which documents lead to which.
        search: finds what is near.
        listing: how documents stand in a list.
    """

    def __init__(self, store: Store, links: Links, search: Search, listing: Listing) -> None:
        self._store = store
        self._links = links
        self._search = search
        self._listing = listing

    async def of(self, document: Document, up_to: Tier) -> Related:
        """What is related to a document, as a caller of this tier may see.

        Args:
            document: the document, which the caller may read.
            up_to: the tier of the caller.
        """
        await self._links.follow()
        entry = document.entry()
        leads_to, dangling = self._links.out(entry, up_to)
        back = self._links.back(entry, up_to)
        linked = {one.key for one in (*leads_to, *back, entry)}
        near = [one for one in await self._near(document, up_to) if one not in linked]
        found = (self._store.entry(key, up_to) for key in near[:_MAX_NEAR])
        brief = self._listing.brief
        return Related(
            links=[brief(one, up_to) for one in leads_to],
            backlinks=[brief(one, up_to) for one in back],
            near=[brief(one, up_to) for one in found if one is not None],
            dangling=dangling or None,
            note=self._search.unfinished() or None,
        )

    def called(self, name: str, up_to: Tier) -> DocumentEntry | None:
        """The document that a wiki link of that name leads to for a caller of this tier."""
        return self._links.targets(up_to).of(Link((name,), False, name))

    def written(self, document: Document, up_to: Tier) -> list[WrittenLink]:
        """Where the links in a document's text lead for a caller of this tier."""
        return [
            WrittenLink(written=written, content_type=to.content_type, id=to.id)
            for written, to in self._links.written(document, up_to).items()
        ]

    async def _near(self, document: Document, up_to: Tier) -> list[str]:
        head = await asyncio.to_thread(_head, document)
        found = await self._search(
            head or document.id, SearchFilters(limit=_MAX_NEAR * 2), up_to, floor=True
        )
        return [f"{one.content_type}/{one.id}" for one in found.results]


def _head(document: Document) -> str:
    """What a document is called and says of itself, as a question."""
    beginning = document.model_copy(update={"content": document.content[:_READ_CHARACTERS]})
    return " ".join(plain(prepare(beginning).head).split())[:MAX_QUESTION_CHARACTERS]
