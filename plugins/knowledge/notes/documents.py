"""The canonical document, as stored and served (specification, section 4.1)."""

from __future__ import annotations

import unicodedata
from datetime import datetime

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from gateway.contract import Tier
from plugins.knowledge.notes.content import Content
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.fields import NO_BEGINNING, Maybe, end_of
from plugins.knowledge.notes.lean_model import LeanModel

STATED_BY_SYNC = frozenset({"synced_at", "commit_sha", "changed_at"})
"""The fields that tell when and from which commit a document was written, and not what it says."""


class DocumentEntry(LeanModel):
    """All of a document but its body: what lists, filters and lookups need.

    Attributes:
        id: unique within the type; the stem of the file's name.
        content_type: the leaf type.
        path: the file's path in its source; a named source's name comes first.
        metadata: the frontmatter, by type.
        synced_at: when its last change was taken in here; a file that is only touched has none.
        commit_sha: the commit of the checkout, or an empty text outside of Git.
        tier: who may read the document.
        changed_at: when its file was last written with another text than before, where that was
            seen; None since it was first read here.
    """

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    id: str
    content_type: ContentType
    path: str
    metadata: Content
    synced_at: datetime
    commit_sha: str
    tier: Tier
    changed_at: Maybe[datetime] = None

    @property
    def key(self) -> str:
        """``contentType/id``: what names a document; two types may share an id."""
        return f"{self.content_type}/{self.id}"

    @property
    def title(self) -> str:
        """The title; every document has one."""
        return self.metadata.title

    @property
    def description(self) -> str:
        """The description, or an empty text."""
        return self.metadata.description or ""

    @property
    def group(self) -> str:
        """The group or cell, or an empty text."""
        return self.metadata.group or ""

    @property
    def release(self) -> str:
        """The creative release, or an empty text; also on types that do not declare one."""
        return self._text("release")

    @property
    def status(self) -> str:
        """The status, or an empty text; also on types that do not declare one."""
        return self._text("status")

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, without ``#``."""
        return tuple(self.metadata.tags or ())

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names, as written (some begin with ``#``)."""
        return tuple(self.metadata.aliases or ())

    @property
    def about(self) -> str:
        """What it is called and says of itself, beside its body."""
        return " ".join((self.title, self.description, *self.tags, *self.aliases))

    @property
    def date_ms(self) -> int:
        """The date as a Unix timestamp in milliseconds."""
        return int(self.metadata.date.timestamp() * 1000)

    @property
    def written(self) -> datetime:
        """Its date; where that is later than it was read, as that of an event can be, then."""
        return min(self.metadata.date, self.synced_at)

    @property
    def rewritten(self) -> datetime:
        """When its text was last another one, as far as its date or this portal knows."""
        return self.written if self.changed_at is None else max(self.written, self.changed_at)

    @property
    def starts(self) -> datetime:
        """From when on it holds."""
        if (begins := self.metadata.valid_from) is not None:
            return begins
        ends = self.ends
        return self.written if ends is None or ends > self.written else NO_BEGINNING

    @property
    def ends(self) -> datetime | None:
        """Its last moment, as far as it says so itself; a day counts whole."""
        until = self.metadata.valid_until
        return None if until is None else end_of(until)

    def _text(self, name: str) -> str:
        value = getattr(self.metadata, name, None)
        return unicodedata.normalize("NFC", value) if isinstance(value, str) else ""


class Document(DocumentEntry):
    """A document with its body, in markdown."""

    content: str

    def called(self, key: str) -> Document:
        """The document under a key of its type, where its own is another's."""
        return self if key == self.key else self.model_copy(update={"id": key.partition("/")[2]})

    def entry(self) -> DocumentEntry:
        """All of the document but its body."""
        return DocumentEntry.model_construct(
            **{name: getattr(self, name) for name in DocumentEntry.model_fields}
        )
