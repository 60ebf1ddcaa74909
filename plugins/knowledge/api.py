"""The REST routes (knowledge server specification, section 8), over the tools' own functions."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.results import DocumentAnswer, EntryList, SearchResults
from plugins.knowledge.retrieval.filters import MAX_RESULTS, Filters, SearchFilters


class EntriesQuery(Filters):
    """The parameters of ``GET /entries``."""

    limit: int = Field(default=20, ge=1, le=100, description="How many entries at most.")
    offset: int = Field(default=0, ge=0, description="How many entries to skip.")


class EntryPath(BaseModel):
    """The parameters of ``GET /entries/{contentType}/{id}``."""

    model_config = ConfigDict(extra="forbid")

    content_type: ContentType = Field(alias="contentType", description="The content type.")
    id: str = Field(description="The document's id.")


class SearchQuery(Filters):
    """The parameters of ``GET /search``."""

    q: str = Field(min_length=1, description="What to look for.")
    limit: int = Field(default=5, ge=1, le=MAX_RESULTS, description="How many results at most.")


def routes(knowledge: Knowledge) -> list[Route]:
    """The routes over a knowledge base."""

    async def entries(query: EntriesQuery, caller: Caller) -> EntryList:
        return knowledge.entries(query, query.offset, query.limit, caller.tier)

    async def entry(path: EntryPath, caller: Caller) -> DocumentAnswer:
        return await knowledge.answer(path.content_type, path.id, caller.tier)

    async def search(query: SearchQuery, caller: Caller) -> SearchResults:
        filters = SearchFilters.model_validate(query.model_dump(exclude={"q"}))
        return await knowledge.search(query.q, filters, caller.tier)

    return [
        Route(
            method="GET",
            path="/entries",
            run=entries,
            tool="search_knowledge",
            params=EntriesQuery,
            response=EntryList,
            summary="List and filter documents, without their bodies.",
            absolute=True,
        ),
        Route(
            method="GET",
            path="/entries/{contentType}/{id}",
            run=entry,
            tool="get_document",
            params=EntryPath,
            response=DocumentAnswer,
            summary="Get a whole document.",
            absolute=True,
        ),
        Route(
            method="GET",
            path="/search",
            run=search,
            tool="search_knowledge",
            params=SearchQuery,
            response=SearchResults,
            summary="Search by meaning and by words.",
            absolute=True,
        ),
    ]
