"""The models with which the tools and routes answer."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.notes.fields import Maybe


class Result(BaseModel):
    """The base of every answer: camelCase on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class DocumentStanding(Result):
    """Whether a document still holds; nothing in it tells of what the caller may not read."""

    holds: bool = Field(description="Whether it holds, as far as is known.")
    text: str = Field(description="The same in words: say it with what you cite.")
    superseded_by: Maybe[list[str]] = Field(
        default=None, description="What stands in its place, as contentType/id."
    )
    contested_with: Maybe[list[str]] = None
    ended_at: Maybe[datetime] = None
    starts_at: Maybe[datetime] = None
    unverified_days: Maybe[int] = Field(
        default=None, description="Days since anybody wrote or verified it, where that is long ago."
    )
    source_changed: Maybe[str] = Field(
        default=None, description="What it was verified against, and what has changed since."
    )


STANDING = "What to know of whether it holds; left out where there is nothing."


class WrittenLink(Result):
    """Where a link in a document's text leads."""

    written: str = Field(description="The wiki link, or the address, as it is in the text.")
    content_type: ContentType
    id: str


class DocumentAnswer(Document):
    """A whole document, where it stands, and whether it holds."""

    permalink: str = Field(description="Where the document stands; cite it.")
    standing: Maybe[DocumentStanding] = Field(default=None, description=STANDING)
    links: Maybe[list[WrittenLink]] = Field(
        default=None, description="The documents that links in its text lead to."
    )


class QuotedPassage(Result):
    """A further passage of a document that answers."""

    text: str = Field(description="At most 500 characters of it.")
    section: Maybe[list[str]] = Field(
        default=None, description="The headings it stands under, the outermost first."
    )
    permalink: str = Field(description="Where it stands; cite it.")


class SearchResult(Result):
    """A document that answers a search."""

    title: str
    content_type: ContentType
    id: str
    description: Maybe[str] = None
    passage: Maybe[str] = Field(
        default=None,
        description="The part that answers best, at most 900 characters and its headings, and how "
        "its section goes on.",
    )
    section: Maybe[list[str]] = Field(
        default=None,
        description="The headings above it, outermost first; `get_section` takes them with ' > '.",
    )
    passages: Maybe[list[QuotedPassage]] = Field(
        default=None, description="Further parts that answer nearly as well, where there are any."
    )
    group: Maybe[str] = None
    status: Maybe[str] = None
    tags: Maybe[list[str]] = None
    version: Maybe[str] = Field(
        default=None,
        description="The version of the page, by its folder, where there are several. Name another "
        "one in the query to have that.",
    )
    other_versions: Maybe[list[str]] = Field(default=None, description="The newest first.")
    path: str = Field(description="The note's file in its source.")
    commit: Maybe[str] = Field(default=None, description="The commit that the note was read at.")
    permalink: str = Field(description="Where the passage, or else the document, stands; cite it.")
    date: datetime
    synced_at: datetime = Field(description="When its last change was taken in here.")
    score: float = Field(description="0 to 1; 1 where the query is the document's name.")
    rerank_score: Maybe[float] = Field(
        default=None, description="0 to 1, by the reranking model, where the portal has one."
    )
    standing: Maybe[DocumentStanding] = Field(default=None, description=STANDING)
    document: Maybe[Document] = None


class FacetValue(Result):
    """A value that a filter takes, and how many of the documents have it."""

    value: str
    documents: int


class SearchResults(Result):
    """The answer to a search, best first unless another order was asked for."""

    results: list[SearchResult] = Field(description="Empty where nothing fits; `note` says so.")
    mode: Literal["hybrid", "keyword"] = Field(
        description="hybrid: by meaning and words; keyword: by words alone, where there is no "
        "model or it cannot read the question."
    )
    matching: Maybe[int] = Field(
        default=None,
        description="How many documents match, where `facets` was asked for: those that score at "
        "least 0.22 (0.3 where a multilingual model compares texts of one language) or say every "
        "word of the query; by words alone, over a third of them. Results beside these may score "
        "less.",
    )
    facets: Maybe[dict[str, list[FacetValue]]] = Field(
        default=None,
        description="What all that match have, the most frequent values first: as many match where "
        "the search is narrowed to one.",
    )
    note: Maybe[str] = Field(default=None, description="What to know about these results.")


class ListedDocument(Result):
    """A document in a list, without its body."""

    title: str
    content_type: ContentType
    id: str
    description: Maybe[str] = None
    tags: Maybe[list[str]] = None
    path: str = Field(description="The note's file in its source.")
    commit: Maybe[str] = Field(default=None, description="The commit that the note was read at.")
    permalink: str = Field(description="Where the document stands; cite it.")
    date: datetime
    synced_at: datetime = Field(description="When its last change was taken in here.")
    standing: Maybe[DocumentStanding] = Field(default=None, description=STANDING)


class DocumentList(Result):
    """A page of documents."""

    documents: list[ListedDocument]
    total: int = Field(description="How many documents pass the filters.")
    next_offset: Maybe[int] = Field(default=None, description="Where the next page begins.")
    facets: dict[str, list[FacetValue]] = Field(
        description="What all that pass have, the most frequent values first, 20 at most each."
    )
    note: Maybe[str] = Field(default=None, description="What to know about this list.")


class SectionOf(Result):
    """A section of a document."""

    title: str = Field(description="The document's title.")
    section: list[str] = Field(description="The headings above it and its own.")
    content: str = Field(description="The section in markdown, with those below it.")
    path: str
    commit: Maybe[str] = None
    permalink: str = Field(description="Where the section stands; cite it.")
    standing: Maybe[DocumentStanding] = Field(default=None, description=STANDING)
    note: Maybe[str] = Field(
        default=None, description="Which other sections have the heading, where there are any."
    )


class Related(Result):
    """What stands around a document."""

    links: list[ListedDocument] = Field(description="Where it leads.")
    backlinks: list[ListedDocument] = Field(description="What leads to it.")
    near: list[ListedDocument] = Field(
        description="What else is about the same, the nearest first."
    )
    dangling: Maybe[list[str]] = Field(
        default=None, description="Its links that lead to no document you may read, as written."
    )
    note: Maybe[str] = Field(default=None, description="What to know about this answer.")


class Term(Result):
    """An entry of the lexicon."""

    term: str
    id: str
    definition: str
    aliases: Maybe[list[str]] = None
    related_terms: Maybe[list[str]] = None
    standing: Maybe[DocumentStanding] = Field(default=None, description=STANDING)


class Definition(Result):
    """The answer to "what is X?"."""

    found: bool
    message: Maybe[str] = None
    entry: Maybe[Term] = None
    near: Maybe[list[str]] = Field(
        default=None, description="Terms of the lexicon that are spelled much the same."
    )


class Terms(Result):
    """The lexicon entries that a keyword found, best first."""

    results: list[Term]
    note: Maybe[str] = Field(default=None, description="What to know about these terms.")


class GroupInfo(Result):
    """A group or cell: what to filter by, and what it says of itself."""

    group: str = Field(description="The value for the `group` filter.")
    title: str
    description: Maybe[str] = None
    documents: int = Field(description="How many documents carry it.")
    id: Maybe[str] = Field(default=None, description="The id of its own document, of type group.")


class Groups(Result):
    """All groups, the largest first."""

    groups: list[GroupInfo]
    note: Maybe[str] = Field(default=None, description="What to know about this list.")


class ReleaseInfo(Result):
    """A creative release: what to filter by, and what it holds."""

    release: str = Field(description="The value for the `release` filter.")
    documents: int = Field(description="How many documents carry it.")
    content_types: dict[str, int] = Field(description="How many of each content type.")
    newest: datetime = Field(description="The date of its newest document.")


class Releases(Result):
    """All creative releases, the newest first."""

    releases: list[ReleaseInfo]
    note: Maybe[str] = Field(default=None, description="What to know about this list.")


class EntryList(Result):
    """A page of documents, without their bodies."""

    data: list[DocumentEntry]
    total: int
    offset: int
    limit: int
    note: Maybe[str] = Field(default=None, description="What to know about this list.")
