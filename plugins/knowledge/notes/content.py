"""The content model: the fields of each type of the ontology.

The knowledge server specification, sections 3.2 to 3.7 (types, groupings, schemas, the union).
Names in JSON are the specification's, in camelCase. Beyond it, every type may carry ``tags`` and
``aliases``, because members write them on every type, and ``originalType``: the word of a type
that the ontology does not know. Other keys are kept as they are.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationInfo,
    field_validator,
)
from pydantic.alias_generators import to_camel

from plugins.knowledge.notes.authors import Authors
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.fields import Email, Maybe, Tags, Text, Texts, Url, When, Word, end_of
from plugins.knowledge.notes.lean_model import LeanModel

MAX_CLAIMED = 20
"""Documents that one can say to supersede, or to contest: nothing supersedes everything."""


def _not_everything(named: list[str]) -> list[str]:
    if len(named) > MAX_CLAIMED:
        raise ValueError(f"it names {len(named)} documents; {MAX_CLAIMED} are the most")
    return named


Claimed = Annotated[Texts, AfterValidator(_not_everything)]


class FileFields(LeanModel):
    """What every type has (``FileSchema``)."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    type: ContentType
    title: Text = Field(min_length=1)
    description: Maybe[Text] = None
    date: When
    publish: bool = False
    draft: bool = False
    permalink: Maybe[Text] = None
    author: Maybe[Authors] = None
    group: Maybe[Text] = None
    tags: Maybe[Tags] = None
    aliases: Maybe[Texts] = None
    original_type: Maybe[Text] = None
    valid_from: Maybe[When] = None
    valid_until: Maybe[When] = None
    superseded_by: Maybe[Text] = None
    supersedes: Maybe[Claimed] = None
    contests: Maybe[Claimed] = None
    verified_at: Maybe[When] = None
    verified_against: Maybe[Text] = None

    @field_validator("valid_until")
    @classmethod
    def _ends_after_it_begins(cls, ends: datetime | None, known: ValidationInfo) -> Any:
        begins = known.data.get("valid_from")
        if ends is not None and begins is not None and end_of(ends) <= begins:
            raise ValueError("it has to be later than validFrom")
        return ends

    @field_validator("verified_at")
    @classmethod
    def _is_past(cls, looked: datetime | None) -> datetime | None:
        if looked is not None and looked > datetime.now(UTC) + timedelta(days=1):
            raise ValueError("it lies in the future; write the day on which somebody looked")
        return looked


class ResourceFields(FileFields):
    """What every resource has: things that can be commoned (``ResourceSchema``)."""

    release: Maybe[Text] = None
    has_part: Maybe[Texts] = None
    is_part_of: Maybe[Texts] = None


class StoryFields(FileFields):
    """What every story has: narratives (``StorySchema``)."""

    release: Maybe[Text] = None


class File(FileFields):
    """A working document, and any note whose type the ontology does not know."""

    type: Literal[ContentType.FILE] = ContentType.FILE


class Reference(FileFields):
    """Organizational content."""

    type: Literal[ContentType.REFERENCE] = ContentType.REFERENCE


class Index(FileFields):
    """A navigation page."""

    type: Literal[ContentType.INDEX] = ContentType.INDEX


class Link(FileFields):
    """A curated external resource. A link without its ``url`` is served, and reported."""

    type: Literal[ContentType.LINK] = ContentType.LINK
    url: Maybe[Url] = None


class Tag(FileFields):
    """The definition of a term: an entry of the lexicon."""

    type: Literal[ContentType.TAG] = ContentType.TAG
    related_terms: Maybe[Texts] = None
    category: Maybe[Text] = None


class Resource(ResourceFields):
    """A thing that can be commoned."""

    type: Literal[ContentType.RESOURCE] = ContentType.RESOURCE


class Pattern(ResourceFields):
    """A reusable solution."""

    type: Literal[ContentType.PATTERN] = ContentType.PATTERN
    context: Maybe[Text] = None
    problem: Maybe[Text] = None
    solution: Maybe[Text] = None
    related_patterns: Maybe[Texts] = None


class Practice(ResourceFields):
    """A documented way of doing."""

    type: Literal[ContentType.PRACTICE] = ContentType.PRACTICE
    patterns: Maybe[Texts] = None
    practitioners: Maybe[Texts] = None


class Primitive(ResourceFields):
    """A foundational building block."""

    type: Literal[ContentType.PRIMITIVE] = ContentType.PRIMITIVE
    category: Maybe[Text] = None


class Protocol(ResourceFields):
    """A formal procedure."""

    type: Literal[ContentType.PROTOCOL] = ContentType.PROTOCOL
    steps: Maybe[Texts] = None


class Playbook(ResourceFields):
    """An implementation guide."""

    type: Literal[ContentType.PLAYBOOK] = ContentType.PLAYBOOK


class Question(ResourceFields):
    """A research question."""

    type: Literal[ContentType.QUESTION] = ContentType.QUESTION
    status: Maybe[Annotated[Literal["open", "exploring", "resolved"], Word]] = None
    related: Maybe[Texts] = None
    proposed_by: Maybe[Texts] = None


class Story(StoryFields):
    """A narrative."""

    type: Literal[ContentType.STORY] = ContentType.STORY


class Study(StoryFields):
    """A case study."""

    type: Literal[ContentType.STUDY] = ContentType.STUDY


class Article(StoryFields):
    """An essay or a publication."""

    type: Literal[ContentType.ARTICLE] = ContentType.ARTICLE
    url: Maybe[Url] = None
    curator: Maybe[Text] = None
    harvester: Maybe[Text] = None


class Data(FileFields):
    """An entity or an actor."""

    type: Literal[ContentType.DATA] = ContentType.DATA


class Person(FileFields):
    """A person's profile."""

    type: Literal[ContentType.PERSON] = ContentType.PERSON
    roles: Maybe[Texts] = None
    groups: Maybe[Texts] = None
    homepage: Maybe[Url] = None
    email: Maybe[Email] = None
    image: Maybe[Text] = None


class Group(FileFields):
    """An organization, a cell, a DAO."""

    type: Literal[ContentType.GROUP] = ContentType.GROUP
    members: Maybe[Texts] = None
    homepage: Maybe[Url] = None
    logo: Maybe[Text] = None


class Project(FileFields):
    """A time-bounded endeavour."""

    type: Literal[ContentType.PROJECT] = ContentType.PROJECT
    status: Maybe[Annotated[Literal["active", "completed", "paused", "archived"], Word]] = None
    lead: Maybe[Texts] = None
    homepage: Maybe[Url] = None


class Coordinates(BaseModel):
    """A point on the Earth, in degrees."""

    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)


class Place(FileFields):
    """A location or a bioregion."""

    type: Literal[ContentType.PLACE] = ContentType.PLACE
    coordinates: Maybe[Coordinates] = None
    region: Maybe[Text] = None


class Gathering(FileFields):
    """An event or a conference."""

    type: Literal[ContentType.GATHERING] = ContentType.GATHERING
    event_date: Maybe[When] = None
    location: Maybe[Text] = None
    attendees: Maybe[Texts] = None
    homepage: Maybe[Url] = None


Content = Annotated[
    File
    | Reference
    | Index
    | Link
    | Tag
    | Resource
    | Pattern
    | Practice
    | Primitive
    | Protocol
    | Playbook
    | Question
    | Story
    | Study
    | Article
    | Data
    | Person
    | Group
    | Project
    | Place
    | Gathering,
    Field(discriminator="type"),
]
"""Any content: one union, told apart by ``type`` (section 3.7)."""

CONTENT: TypeAdapter[Content] = TypeAdapter(Content)
"""Validates a mapping into the right member of :data:`Content`."""
