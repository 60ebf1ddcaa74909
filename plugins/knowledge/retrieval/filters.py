"""What a search may be narrowed to, and how: ``SearchFilters`` and its store conditions."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic.alias_generators import to_camel

from gateway.contract import Condition, Tier
from plugins.knowledge.notes.content_types import ContentType, matching
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.fields import Tags, When

MAX_RESULTS = 20
_REST_OF_DAY = timedelta(days=1, milliseconds=-1)

Day = Annotated[When, WithJsonSchema({"type": "string"})]
"""A date in any form that notes use; the schema says only that it is text."""


class Filters(BaseModel):
    """Filters on the metadata of documents; all that are given must hold."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True
    )

    content_type: ContentType | None = Field(
        default=None,
        description="Only this content type (pattern, tag, article ...); a parent type "
        "(resource, story, reference, data) also finds its children.",
    )
    group: str | None = Field(default=None, description="Only this group or cell.")
    release: str | None = Field(default=None, description="Only this creative release.")

    def conditions(self, up_to: Tier) -> tuple[Condition, ...]:
        """What the store must check, the tier of the documents included."""
        wanted = []
        if up_to != Tier.MEMBERS:
            allowed = tuple(str(tier) for tier in Tier if up_to.allows(tier))
            wanted.append(Condition("tier", any_of=allowed))
        if self.content_type is not None:
            types = tuple(str(one) for one in matching(self.content_type))
            wanted.append(Condition("contentType", any_of=types))
        for field, value in (("group", self.group), ("release", self.release)):
            if value:
                wanted.append(Condition(field, any_of=(_plain(value),)))
        return tuple(wanted)

    def admits(self, entry: DocumentEntry) -> bool:
        """Whether an entry passes; the same rule as :meth:`conditions`, without the tier."""
        return (
            (self.content_type is None or entry.content_type in matching(self.content_type))
            and _same(self.group, entry.group)
            and _same(self.release, entry.release)
        )


class SearchFilters(Filters):
    """The filters of a search, its order and its length (specification, section 7.4).

    What held when is said by documents together, so ``as_of`` is for ``standing.py`` to apply.
    """

    status: str | None = Field(
        default=None, description="Only this status, such as active, completed or open."
    )
    tags: Tags | None = Field(
        default=None, description="Only documents that carry at least one of these tags."
    )
    date_from: Day | None = Field(
        default=None, description="Only documents of this day or later, such as 2024-10-16."
    )
    date_to: Day | None = Field(
        default=None, description="Only documents of this day or earlier, such as 2025-03-01."
    )
    as_of: Day | None = Field(
        default=None,
        description="Only documents that held on this day: begun, not over, not superseded yet.",
    )
    sort: Literal["relevance", "date"] = Field(
        default="relevance", description="The order of the results: best or newest first."
    )
    limit: int = Field(
        default=5, ge=1, le=MAX_RESULTS, description="How many results to return at most."
    )

    @field_validator("date_to")
    @classmethod
    def _is_no_earlier(cls, latest: datetime | None, known: ValidationInfo) -> datetime | None:
        earliest = known.data.get("date_from")
        if latest is not None and earliest is not None and _end(latest) < _ms(earliest):
            raise ValueError("it lies before dateFrom, so that nothing can be found between them")
        return latest

    def conditions(self, up_to: Tier) -> tuple[Condition, ...]:
        """What the store must check, the tier of the documents included."""
        wanted = list(super().conditions(up_to))
        if self.status:
            wanted.append(Condition("status", any_of=(_plain(self.status),)))
        if self.tags:
            wanted.append(Condition("tags", any_of=tuple(tag.lower() for tag in self.tags)))
        if self.date_from or self.date_to:
            wanted.append(Condition("date", at_least=self._earliest, at_most=self._latest))
        return tuple(wanted)

    def admits(self, entry: DocumentEntry) -> bool:
        """Whether an entry passes; the same rule as :meth:`conditions`, without the tier."""
        tags = {tag.lower() for tag in entry.tags}
        return (
            super().admits(entry)
            and _same(self.status, entry.status)
            and (not self.tags or any(tag.lower() in tags for tag in self.tags))
            and (self._earliest is None or entry.date_ms >= self._earliest)
            and (self._latest is None or entry.date_ms <= self._latest)
        )

    @property
    def _earliest(self) -> int | None:
        return None if self.date_from is None else _ms(self.date_from)

    @property
    def _latest(self) -> int | None:
        """The last millisecond that counts: a day without a time counts whole."""
        return None if self.date_to is None else _end(self.date_to)


def _end(latest: datetime) -> int:
    whole = latest.astimezone(UTC).time() == time.min
    return _ms(latest + _REST_OF_DAY if whole else latest)


def _same(wanted: str | None, value: str) -> bool:
    return not wanted or _plain(wanted) == _plain(value)


def _plain(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip().lower()


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
