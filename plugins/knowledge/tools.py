"""The tools: the specification's seven (section 7.4), and what leads on. All of them only read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp_types import ToolAnnotations
from pydantic import Field

from gateway.contract import Caller, Tier, Tool
from gateway.toolkit.questions import Question
from plugins.knowledge.document_map import MAX_SHOWN, DocumentMap
from plugins.knowledge.history.history import DocumentHistory
from plugins.knowledge.history.versions import MAX_VERSIONS
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.listing import ListFilters, Order
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.results import (
    Definition,
    DocumentAnswer,
    DocumentList,
    Groups,
    Related,
    Releases,
    SearchResults,
    SectionOf,
    Terms,
)
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters

_READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def tools(knowledge: Knowledge) -> list[Tool]:
    """The tools over a knowledge base, in the order in which a model should consider them."""
    return [*_searching(knowledge), *_defining(knowledge), *_listing(knowledge)]


def _searching(knowledge: Knowledge) -> list[Tool]:
    async def search_knowledge(
        query: Question,
        filters: SearchFilters | None = None,
        facets: bool = False,
        *,
        caller: Caller,
    ) -> SearchResults:
        """Search the knowledge base for documents: patterns, practices, playbooks, questions,
        stories, lexicon terms, groups and projects. Finds by meaning and by exact words. Each
        result has the passage that answers best; its `contentType` and `id` name the document
        for `get_document`. What holds comes first; `standing` says of the rest why it may not.
        Where nothing fits, there are no results, and `note` names what is nearest.

        Args:
            query: What to look for: a question, a topic, a title or a phrase.
            filters: What to narrow the search to, the order and the number of results.
            facets: Whether to count what one can narrow to, over all that match.
        """
        narrowed = filters or SearchFilters()
        return await knowledge.search(query, narrowed, caller.tier, facets=facets)

    async def search_with_documents(
        query: Question, filters: SearchFilters | None = None, *, caller: Caller
    ) -> SearchResults:
        """Search as `search_knowledge` does, and return each result with its whole document.
        Use it where passages are not enough; ask for few results, as documents are long.

        Args:
            query: What to look for: a question, a topic, a title or a phrase.
            filters: What to narrow the search to, the order and the number of results.
        """
        narrowed = filters or SearchFilters()
        return await knowledge.search(query, narrowed, caller.tier, documents=True)

    async def get_document(
        content_type: Annotated[
            ContentType,
            Field(alias="contentType", description="The content type of the document."),
        ],
        id: str,
        *,
        caller: Caller,
    ) -> DocumentAnswer:
        """Get a whole document, its metadata and its markdown, by what names it in results.

        Args:
            id: The id of the document.
        """
        return await knowledge.answer(content_type, id, caller.tier)

    return [
        _tool(search_knowledge, "Search the knowledge base"),
        _tool(search_with_documents, "Search for whole documents", Tier.MEMBERS),
        _tool(get_document, "Get a document", Tier.MEMBERS),
        *_reading(knowledge),
    ]


def _reading(knowledge: Knowledge) -> list[Tool]:
    async def get_section(
        content_type: Annotated[
            ContentType,
            Field(alias="contentType", description="The content type of the document."),
        ],
        id: str,
        section: str,
        *,
        caller: Caller,
    ) -> SectionOf:
        """Get one section of a document, with the sections below it, where the whole is long. A
        result's `section` names it; a heading that is not there is answered with those that are.
        Where a heading comes again in the same place, the second is named "Heading (2)".

        Args:
            id: The id of the document.
            section: The heading, or several from the outermost on with " > " between them.
        """
        return await knowledge.section(content_type, id, section, caller.tier)

    async def related_documents(
        content_type: Annotated[
            ContentType,
            Field(alias="contentType", description="The content type of the document."),
        ],
        id: str,
        *,
        caller: Caller,
    ) -> Related:
        """Get what stands around a document: where it links to, what links to it, what else is
        about the same, and its links that lead nowhere.

        Args:
            id: The id of the document.
        """
        return await knowledge.related(content_type, id, caller.tier)

    return [
        _tool(get_section, "Get a section of a document", Tier.MEMBERS),
        _tool(related_documents, "Get related documents", Tier.MEMBERS),
        _history(knowledge),
    ]


def _history(knowledge: Knowledge) -> Tool:
    async def get_document_history(
        content_type: Annotated[
            ContentType,
            Field(alias="contentType", description="The content type of the document."),
        ],
        id: str,
        limit: Annotated[int, Field(ge=1, le=MAX_VERSIONS)] = 10,
        commit: str | None = None,
        *,
        caller: Caller,
    ) -> DocumentHistory:
        """Get what has become of a document: the commits that changed it, by whom and when, each
        with its difference to the version before; and how fresh it is.

        Args:
            id: The id of the document.
            limit: How many versions at most, the newest first.
            commit: The only version to get, with all of its difference.
        """
        return await knowledge.history(content_type, id, limit, commit, caller.tier)

    return _tool(get_document_history, "Get a document's history", Tier.MEMBERS)


def _defining(knowledge: Knowledge) -> list[Tool]:
    async def define_term(term: Question, *, caller: Caller) -> Definition:
        """Get the lexicon's definition of a term. Use it for "what is X?". Finds a term by its
        name, an alias or its id, in any case, in singular and plural; says so when the lexicon
        lacks a term, with the terms that come near.

        Args:
            term: The term to define, or a question for it.
        """
        return await knowledge.lexicon.define(term, caller.tier)

    async def search_lexicon(keyword: Question, *, caller: Caller) -> Terms:
        """Search the lexicon by keyword: terms whose name, description or definition holds it,
        with their definitions.

        Args:
            keyword: A word, or a part of one.
        """
        return await knowledge.lexicon.search(keyword, caller.tier)

    return [
        _tool(define_term, "Define a term"),
        _tool(search_lexicon, "Search the lexicon"),
    ]


def _listing(knowledge: Knowledge) -> list[Tool]:
    async def list_groups(*, caller: Caller) -> Groups:
        """List the groups and cells, the largest first, with the values that the `group` filter
        of `search_knowledge` takes."""
        return knowledge.groups(caller.tier)

    async def list_releases(*, caller: Caller) -> Releases:
        """List the creative releases, the newest first, with the values that the `release`
        filter of `search_knowledge` takes."""
        return knowledge.releases(caller.tier)

    async def list_documents(
        filters: ListFilters | None = None,
        order: Order = "title",
        offset: Annotated[int, Field(ge=0)] = 0,
        *,
        caller: Caller,
    ) -> DocumentList:
        """List documents without a question: all of a type, a tag or a group, the newest, or what
        changed lately (`order: changed`, `changedSince`). Counts what one can narrow to.

        Args:
            filters: What to narrow the list to, and how many to list at most (`limit`).
            order: By title; or the newest first, by date, or by when a change was taken in.
            offset: How many documents to skip: `nextOffset` of the page before.
        """
        narrowed = filters or ListFilters(limit=MAX_RESULTS)
        return knowledge.listed(narrowed, order, offset, narrowed.limit, caller.tier)

    async def map_documents(
        content_type: Annotated[
            ContentType | None,
            Field(alias="contentType", description="Only this content type."),
        ] = None,
        group: str | None = None,
        tag: str | None = None,
        limit: Annotated[int, Field(ge=1, le=MAX_SHOWN)] = 60,
        *,
        caller: Caller,
    ) -> DocumentMap:
        """Map how the documents hang together: the most linked ones, with the links between them;
        and how many more there are. `related_documents` shows what stands around one.

        Args:
            group: Only this group or cell.
            tag: Only documents with this tag.
            limit: How many documents at most.
        """
        tags = None if tag is None else [tag]
        filters = SearchFilters(content_type=content_type, group=group, tags=tags)
        return await knowledge.map(filters, limit, caller.tier)

    return [
        _tool(list_documents, "List documents"),
        _tool(map_documents, "Map the documents"),
        _tool(list_groups, "List groups"),
        _tool(list_releases, "List releases"),
    ]


def _tool(run: Callable[..., Awaitable[Any]], title: str, tier: Tier = Tier.OPEN) -> Tool:
    return Tool.of(run, title=title, tier=tier, annotations=_READ_ONLY)
