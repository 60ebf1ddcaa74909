"""A draft of a page: what it is to say, where it is to stand, and what has become of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from gateway.contract import Tier
from plugins.knowledge.notes.content_types import ContentType

MAX_BODY_CHARACTERS = 200_000
"""Characters of a draft's text; a form of a page takes no more in any script."""
MAX_FRONTMATTER_CHARACTERS = 10_000
_MAX_BRANCH_STEM = 60

State = Literal["proposed", "publishing", "open", "withdrawing", "merged", "closed", "withdrawn"]
"""Where a draft is. ``proposed``: its person alone knows it. ``publishing``: they said yes, and it
is on its way. ``open``: reviewers have it. The last three are its ends."""
ENDED: tuple[State, ...] = ("merged", "closed", "withdrawn")
UNDER_WAY: tuple[State, ...] = ("publishing", "withdrawing")
"""States in which something is still to be done at the source."""


class DraftArgs(BaseModel):
    """What a page is to say, and where."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    title: str = Field(min_length=1, max_length=200, description="The page's title.")
    content_type: ContentType = Field(description="Its content type, which decides its folder.")
    body: str = Field(
        min_length=1,
        max_length=MAX_BODY_CHARACTERS,
        description="The whole page in Markdown, without frontmatter; links may name pages, as "
        "[[Title]].",
    )
    frontmatter: Annotated[str, Field(max_length=MAX_FRONTMATTER_CHARACTERS)] | None = Field(
        None,
        description="Further fields of its type as lines of YAML, such as `tags: [water]`; title "
        "and type are the arguments'. Of a page that is changed, the fields that it has stay where "
        "this is left out.",
    )
    updates: str | None = Field(
        None,
        max_length=300,
        description="The page that it changes, as contentType/id; a new page if left out.",
    )
    slug: str | None = Field(
        None, max_length=80, description="The new page's file name, without .md; from its title."
    )
    source: str | None = Field(
        None, max_length=40, description="The source that it is for, where several take drafts."
    )
    draft: str | None = Field(
        None, max_length=40, description="The draft that this is the next version of, by its id."
    )
    base: str | None = Field(
        None,
        max_length=64,
        description="What it is built upon, as preview_draft gave it: whether somebody has changed "
        "the page meanwhile is told by it.",
    )
    agent: str | None = Field(
        None,
        max_length=60,
        description="What you are called, such as Claude Code; it stands as co-author.",
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft, as it is kept.

    Attributes:
        id: random; the branch's name, or the folder's, ends with it.
        person: whose it is.
        source: the source's key.
        path: the file's path in the source.
        document: what the page is called, as contentType/id.
        title: its title.
        tier: who may read the page.
        state: where it is.
        proposal: the arguments that were shown last.
        text: the file as its person has said yes to it last.
        version: counts the texts that they have said yes to.
        pushed: the version that lies at the source.
        upon: the blob that is to be replaced there; None where there is to be no file.
        tried: the blobs that may lie there by our own hand.
        signed: who is named as its author: ``name`` and ``email``.
        number: the pull request's.
        url: where it is reviewed.
        problem: why it did not come further, in words for its person.
        remarks: what reviewers say, as JSON values.
        wants_changes: whether one of them asks for changes.
        conflicts: whether it cannot be merged as it stands.
        created, changed: when; a commit of it is of the time of its change.
        looked: when the source was asked last.
    """

    id: str
    person: str
    source: str
    path: str
    document: str
    title: str
    tier: Tier
    state: State
    proposal: Mapping[str, Any]
    created: datetime
    changed: datetime
    text: str | None = None
    version: int = 0
    pushed: int = 0
    upon: str | None = None
    tried: Sequence[str] = ()
    signed: Mapping[str, str] = field(default_factory=dict)
    number: int | None = None
    url: str = ""
    problem: str = ""
    remarks: Sequence[Mapping[str, Any]] = ()
    wants_changes: bool = False
    conflicts: bool = False
    looked: datetime | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state in ENDED

    @property
    def is_change(self) -> bool:
        """Whether it changes a page that was there."""
        return self.updates is not None

    @property
    def updates(self) -> str | None:
        """The page that it changes, as contentType/id; None where it is a new one."""
        return self.proposal.get("updates")

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return (self.text or "").encode()

    def place_name(self, folder: str) -> str:
        """The name of its branch, or of its folder, below what those of all drafts lie in."""
        stem = posixpath.splitext(posixpath.basename(self.path))[0]
        plain = re.sub(r"[^\w-]+", "-", stem)[:_MAX_BRANCH_STEM].strip("-_")
        return f"{folder}/{plain or 'page'}-{self.id.removeprefix('d_')}"


@dataclass(frozen=True, slots=True)
class Seen:
    """How a draft stands at its source.

    Attributes:
        state: ``open``, ``merged``, ``closed`` or ``withdrawn``.
        blob: of its file, where it is there by our hand.
        number: the pull request's.
        url: where it is reviewed.
        remarks: what reviewers say.
        wants_changes: whether one of them asks for changes.
        conflicts: whether it cannot be merged as it stands.
    """

    state: State
    blob: str | None = None
    number: int | None = None
    url: str = ""
    remarks: Sequence[Mapping[str, Any]] = ()
    wants_changes: bool = False
    conflicts: bool = False
