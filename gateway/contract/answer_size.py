"""The size of an answer: long results in pages that leave an agent room to think.

A tool that finds many things declares a :class:`Page` and returns a :class:`Listing` of all of
them; the gateway shows as much as fits, and hands out the cursor that goes on. One long thing is
read in pieces (:func:`piece`). Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field, create_model

PAGE_BYTES = 12_000
"""Bytes of one page by default, some 3,000 tokens (kap10, "Token Exhaustion")."""
FULL_BELOW = 5
"""With fewer results than this, each is shown whole (kap10, "Summarization Rules")."""

CURSOR_ARGUMENT = "cursor"
"""The argument that the gateway adds to a paged tool, and to its routes."""
CURSOR_SCHEMA: Mapping[str, Any] = {
    "type": "string",
    "description": "The pagination.cursor of an earlier answer, for what follows it; give the "
    "same other arguments. Leave it out to begin.",
}

_Item = TypeVar("_Item")


class Pagination(BaseModel):
    """How to go on."""

    cursor: str | None = Field(
        None, description="Give it with the same other arguments for what follows."
    )
    has_more: bool = Field(alias="hasMore", description="Whether more follows.")
    total_count: int = Field(alias="totalCount", description="How many results there are in all.")


@dataclass(frozen=True)
class Page:
    """How a tool's results are shown, page by page (``Tool.page``).

    Attributes:
        size: results on a page, at most.
        summarize: makes a result slimmer, for where there are many: ``summarize(item)`` returns a
            model of the same or another type, or a mapping of JSON values.
        item: the type of what is shown, for the output schema: a model, or ``Whole | Brief``
            where the summary is of another one. None is any object.
        note: the model of the listing's note, or None.
        full_below: with fewer results in all than this, they are shown whole.
        bytes: UTF-8 bytes of the answer's JSON, at most.
    """

    size: int
    summarize: Callable[[Any], Any]
    item: Any = None
    note: type[BaseModel] | None = None
    full_below: int = FULL_BELOW
    bytes: int = PAGE_BYTES

    @cached_property
    def result(self) -> type[BaseModel]:
        """The model of the answer: of the tool's output schema, and a route's ``response``."""
        item: Any = dict[str, Any] if self.item is None else self.item
        words: dict[str, tuple[str, Any, str]] = {
            "truncated": ("truncated", bool, "Whether there is more than is shown here."),
            "summarized": ("summarized", bool, "Whether results are shown in brief."),
            "original_count": ("originalCount", int, "How many results there were."),
            "bytes_estimate": ("bytesEstimate", int, "The bytes of the data."),
        }
        fields: dict[str, Any] = {
            name: (kind, Field(alias=alias, description=text))
            for name, (alias, kind, text) in words.items()
        }
        meta = create_model("PageMeta", __base__=self.note or BaseModel, **fields)
        shown: dict[str, Any] = {
            "data": (list[item], Field(description="The results of this page.")),
            "pagination": (Pagination | None, Field(None, description="Where there are pages.")),
            "meta": (meta, Field(description="How complete the answer is.")),
        }
        return create_model("ResultPage", **shown)


@dataclass(frozen=True, slots=True)
class Listing(Generic[_Item]):
    """All that a paged tool found; the gateway shows a page of it.

    Attributes:
        items: the results in a fixed order, from the first on: models, or mappings of JSON values.
        key: what a result is known by from one page to the next: a string, a number or a tuple of
            them, unique among the results, and no secret.
        ordered: whether the results are in the ascending order of their keys. Then pages stay exact
            whatever comes and goes between them, also where the result that ended one is gone.
        note: what else to say of the answer, such as how complete it is; part of ``meta``.
        total: how many results there are, where ``items`` does not go to the end of them.
        ready: makes results ready to be shown, those of one page in their order: for what costs too
            much to be done for all that was found. ``key`` is still asked of ``items``.
    """

    items: Sequence[_Item]
    key: Callable[[_Item], Any]
    note: BaseModel | Mapping[str, Any] | None = None
    total: int | None = None
    ordered: bool = False
    ready: Callable[[Sequence[_Item]], Awaitable[Sequence[Any]]] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, in bytes of its UTF-8 form.

    Attributes:
        text: the part.
        offset: where it begins.
        next_offset: where to go on, or None at the end.
        total: the length of the whole text.
    """

    text: str
    offset: int
    next_offset: int | None
    total: int


def piece(text: str, offset: int, limit: int) -> Piece:
    """Cut the part of a text that begins at an offset.

    It ends at the end of a line where one is within the limit, else between two characters. The
    pieces from one ``next_offset`` to the next are the whole text, with ``?`` for what is no
    character.

    Args:
        text: the whole text.
        offset: UTF-8 bytes to leave out; one within a character goes back to its beginning.
        limit: UTF-8 bytes to show, at most; a single longer character is shown all the same.
    """
    # A lone surrogate, which is how Python reads what is no UTF-8, has no place in JSON.
    whole = text.encode("utf-8", "replace")
    begin = _character(whole, min(max(offset, 0), len(whole)))
    end = begin + max(limit, 1)
    if end >= len(whole):
        return Piece(whole[begin:].decode(), begin, None, len(whole))
    end = whole.rfind(b"\n", begin, end) + 1 or _character(whole, end)
    if end <= begin:
        end = begin + 1
        while end < len(whole) and _continues(whole[end]):
            end += 1
    return Piece(whole[begin:end].decode(), begin, end if end < len(whole) else None, len(whole))


def _character(whole: bytes, at: int) -> int:
    """The beginning of the character that a byte is part of."""
    while 0 < at < len(whole) and _continues(whole[at]):
        at -= 1
    return at


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80
