"""The knowledge base as tools, resources, prompts and routes use it: one facade, one truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.contract import Host, Tier, ToolFailed
from plugins.knowledge import overview
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.document_map import Cartography, DocumentMap
from plugins.knowledge.history.history import DocumentHistory, Histories
from plugins.knowledge.history.versions import ReadRemote, Versions
from plugins.knowledge.lexicon import Lexicon
from plugins.knowledge.links import Links
from plugins.knowledge.listing import ListFilters, Listing, Order
from plugins.knowledge.moved import moved
from plugins.knowledge.notes.content_types import ContentType, matching
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.permalinks import Permalinks
from plugins.knowledge.related import Neighbours
from plugins.knowledge.results import (
    DocumentAnswer,
    DocumentList,
    EntryList,
    Groups,
    Related,
    Releases,
    SectionOf,
)
from plugins.knowledge.retrieval.filters import Filters, SearchFilters
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.retrieval.search import Search
from plugins.knowledge.sections import Section, also_called, called, sections
from plugins.knowledge.standing import Standings
from plugins.knowledge.store import Store
from plugins.knowledge.sync.sources import NoteSource

_MAX_NAMED = 30
MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(slots=True)
class Knowledge:
    """Everything that reads the knowledge base. Every method takes the caller's tier.

    Attributes:
        portal: the portal's name, for texts.
        namespace: the community's part of the resource URIs.
        store: the catalogue and the documents.
        index: what the sync fills and search reads.
        names: what documents are called.
        search: answers questions.
        lexicon: defines terms.
        neighbours: finds what is related to a document.
        permalinks: where documents stand.
        listing: lists documents.
        standings: which documents hold.
        histories: what documents said before.
        cartography: shows how the documents hang together.
    """

    portal: str
    namespace: str
    store: Store
    index: Index
    names: Names = field(repr=False)
    search: Search = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    neighbours: Neighbours = field(repr=False)
    permalinks: Permalinks = field(repr=False)
    listing: Listing = field(repr=False)
    standings: Standings = field(repr=False)
    histories: Histories = field(repr=False)
    cartography: Cartography = field(repr=False)

    @classmethod
    async def open(
        cls,
        host: Host,
        store: Store,
        namespace: str,
        sources: Sequence[SourceConfig] = (),
        review_days: Mapping[ContentType, int] | None = None,
    ) -> Knowledge:
        """Bring the plugin's tables up to date and open the index.

        Args:
            host: the services.
            store: the catalogue, shared with the sync.
            namespace: the community's part of the resource URIs.
            sources: where the notes come from, for their permalinks.
            review_days: after how many days documents of a type want a look.
        """
        await host.database.migrate(MIGRATIONS)
        index = await Index.open(host)
        names = Names(store)
        permalinks = Permalinks(namespace, sources, host.url)
        standings = Standings(store, names, [one.name for one in sources if one.name], review_days)
        search = Search(host, store, index, names, permalinks, standings)
        listed = Listing(store, permalinks, standings)
        links = Links(store, names)
        neighbours = Neighbours(store, links, search, listed)
        lexicon = Lexicon(store, names, standings)
        return cls(
            portal=host.portal,
            namespace=namespace,
            store=store,
            index=index,
            names=names,
            search=search,
            lexicon=lexicon,
            neighbours=neighbours,
            permalinks=permalinks,
            listing=listed,
            standings=standings,
            histories=Histories(store, standings),
            cartography=Cartography(store, links),
        )

    def set_unfinished(self, unfinished: Callable[[], str]) -> None:
        """Have answers say what is not known yet.

        Args:
            unfinished: what they say while they come from a part of the base; else an empty text.
        """
        self.search.unfinished = self.lexicon.unfinished = unfinished

    def unfinished(self) -> str:
        """What answers say while they come from a part of the base; else an empty text."""
        return self.search.unfinished()

    def not_found(self, message: str, **details: object) -> ToolFailed:
        """The error of a document that is not here, or not yet.

        Args:
            message: what is not found, in a sentence.
            details: what goes with it.
        """
        return ToolFailed("not_found", f"{message} {self.unfinished()}".strip(), details)

    def set_sources(self, sources: Sequence[NoteSource], remote: Mapping[str, ReadRemote]) -> None:
        """Have histories told from where the notes come from.

        Args:
            sources: all sources.
            remote: what reads the histories of those on GitHub, by their keys.
        """
        self.histories.versions = Versions(sources, remote)

    async def document(self, content_type: ContentType, id: str, up_to: Tier) -> Document:
        """One document; a parent type finds the document under any of its children.

        Raises:
            ToolFailed: ``not_found``, and under which other types the id is known; ``lost``, it
                is known and cannot be read.
        """
        for one in matching(content_type):
            if document := await self.store.document(f"{one}/{id}", up_to):
                return document
            if self.store.entry(f"{one}/{id}", up_to):
                raise ToolFailed(
                    "lost",
                    "The document's text is lost here. It is read anew from its source within "
                    "a minute; ask again then.",
                )
        elsewhere = [str(one) for one in ContentType if self.store.entry(f"{one}/{id}", up_to)]
        hint = f" There is one of type {' and of type '.join(elsewhere)}." if elsewhere else ""
        if not hint and (meant := self._meant(id, up_to)):
            hint = f' Did you mean contentType "{meant.content_type}" with id "{meant.id}"?'
        raise self.not_found(f"Document not found.{hint}", contentTypes=elsewhere)

    def _meant(self, id: str, up_to: Tier) -> DocumentEntry | None:
        """The document that somebody means who gives this for an id, or gave it before a move."""
        called = self.store.entry(id, up_to) or self.neighbours.called(id, up_to)
        numbered = called or next(iter(self.names.numbered(id, up_to)), None)
        return numbered or moved(id, self.store.entries(up_to))

    async def answer(self, content_type: ContentType, id: str, up_to: Tier) -> DocumentAnswer:
        """One document, and whether it holds.

        Raises:
            ToolFailed: as :meth:`document`.
        """
        document = await self.document(content_type, id, up_to)
        standing = self.standings.of(document, up_to)
        address = self.permalinks.of(document)
        links = self.neighbours.written(document, up_to) or None
        return DocumentAnswer.model_construct(
            **dict(document), permalink=address, standing=standing, links=links
        )

    async def section(
        self, content_type: ContentType, id: str, section: str, up_to: Tier
    ) -> SectionOf:
        """One section of a document, found by its heading.

        Raises:
            ToolFailed: ``not_found``, with the headings that there are; and as :meth:`document`.
        """
        document = await self.document(content_type, id, up_to)
        found = sections(document.content)
        if (one := called(found, section)) is None:
            there = [" > ".join(each.trail) for each in found]
            hint = f" There are: {_named(found)}." if there else " It has none."
            raise ToolFailed("not_found", f"Section not found.{hint}", {"sections": there})
        others = also_called(found, one, section)
        return SectionOf(
            title=one_line(document.title),
            section=list(one.trail),
            content=one.text,
            path=document.path,
            commit=document.commit_sha or None,
            permalink=self.permalinks.of(document, one.place),
            standing=self.standings.of(document, up_to),
            note=f"Other sections have this heading too: {_named(others)}." if others else None,
        )

    async def related(self, content_type: ContentType, id: str, up_to: Tier) -> Related:
        """What is related to a document.

        Raises:
            ToolFailed: as :meth:`document`.
        """
        return await self.neighbours.of(await self.document(content_type, id, up_to), up_to)

    async def history(
        self, content_type: ContentType, id: str, limit: int, commit: str | None, up_to: Tier
    ) -> DocumentHistory:
        """What has become of a document.

        Raises:
            ToolFailed: ``not_found``, there is no such version; and as :meth:`document`.
        """
        document = await self.document(content_type, id, up_to)
        return await self.histories.of(document, limit, commit, up_to)

    def listed(
        self, filters: ListFilters, order: Order, offset: int, limit: int, up_to: Tier
    ) -> DocumentList:
        """A page of documents, with counts of what one can narrow to."""
        return self.listing(filters, order, (offset, limit), up_to, self.unfinished())

    async def map(self, filters: SearchFilters, limit: int, up_to: Tier) -> DocumentMap:
        """How the documents hang together."""
        return await self.cartography.map(filters, limit, up_to, self.unfinished())

    def entry(self, content_type: ContentType, id: str, up_to: Tier) -> DocumentEntry:
        """All of one document but its body.

        Raises:
            ToolFailed: ``not_found``.
        """
        if entry := self.store.entry(f"{content_type}/{id}", up_to):
            return entry
        raise self.not_found("Document not found.")

    def entries(self, filters: Filters, offset: int, limit: int, up_to: Tier) -> EntryList:
        """A page of the documents that pass the filters, in the order of type and id."""
        found = [entry for entry in self.store.entries(up_to) if filters.admits(entry)]
        page = found[offset : offset + limit]
        note = self.unfinished() or None
        return EntryList(data=page, total=len(found), offset=offset, limit=limit, note=note)

    def groups(self, up_to: Tier) -> Groups:
        """All groups."""
        return overview.groups(self.store, up_to, self.unfinished())

    def releases(self, up_to: Tier) -> Releases:
        """All releases."""
        return overview.releases(self.store, up_to, self.unfinished())


def _named(found: Sequence[Section]) -> str:
    """The names of sections, as many as fit into a sentence."""
    return "; ".join(" > ".join(each.trail) for each in found[:_MAX_NAMED])
