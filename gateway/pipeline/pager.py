"""Pages of what a tool found: where one begins and what is on it.

The envelope is that of kap10, "Token Exhaustion": data, pagination and meta.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from gateway.contract.answer_size import Listing, Page
from gateway.contract.offers import Tool
from gateway.pipeline.cursors import Cursors, Place
from gateway.pipeline.json_budget import shorten, size
from gateway.pipeline.json_text import UNSENDABLE, sendable

if TYPE_CHECKING:
    from gateway.catalog.items import Item


def page_of(item: Item) -> Page | None:
    """How an item's results are shown in pages, or None where they are not."""
    return item.declared.page if isinstance(item.declared, Tool) else None


@dataclass(frozen=True, slots=True)
class Pager:
    """Shows one page of a tool's results.

    Attributes:
        page: what the tool declared.
        cursors: seals where a page ended.
        purpose: what its cursors are good for.
    """

    page: Page
    cursors: Cursors
    purpose: str

    async def ready(self, listing: Listing[Any], after: Place | None) -> Sequence[Any]:
        """The results that may be on the page after a place, as they are to be shown.

        Args:
            listing: everything that the tool found.
            after: where the page before ended; None is the beginning.
        """
        start = _start(listing, after)
        some = listing.items[start : start + self.page.size]
        return some if listing.ready is None else await listing.ready(some)

    def show(
        self, listing: Listing[Any], after: Place | None, ready: Sequence[Any] | None = None
    ) -> dict[str, Any]:
        """The page of a listing that follows a place, as JSON values.

        Args:
            listing: everything that the tool found.
            after: where the page before ended; None is the beginning.
            ready: what :meth:`ready` gave for it; None where nothing has to be made ready.
        """
        page = self.page
        start = _start(listing, after)
        items = listing.items[start : start + page.size] if ready is None else ready
        whole = _total(listing) < page.full_below
        shown: list[Any] = []
        room = page.bytes
        for item in items:
            value, length = plain(item if whole else page.summarize(item))
            room -= length + 1
            if shown and room < 0:
                break
            shown.append(value)
        paged = after is not None
        answer = self._envelope(listing, shown, start, whole=whole, paged=paged)
        while len(shown) > 1 and size(answer) > page.bytes:
            shown.pop()
            answer = self._envelope(listing, shown, start, whole=whole, paged=paged)
        if size(answer) > page.bytes and shown:
            return self._slim(items[0], answer)
        return answer

    def _slim(self, item: Any, answer: dict[str, Any]) -> dict[str, Any]:
        """A page with one result that is larger than the page: its summary, cut where need be."""
        value, _ = plain(self.page.summarize(item))
        answer = answer | {"meta": answer["meta"] | {"summarized": True}}
        for final in (False, True):
            if final:
                answer["meta"] |= {"truncated": True}
                frame = size(answer | {"data": []})
                value = shorten(value, self.page.bytes - frame)
            answer["data"] = [value]
            answer["meta"]["bytesEstimate"] = size([value])
            if size(answer) <= self.page.bytes:
                break
        return answer

    def _envelope(
        self, listing: Listing[Any], shown: list[Any], start: int, *, whole: bool, paged: bool
    ) -> dict[str, Any]:
        end, count = start + len(shown), len(listing.items)
        total, more = _total(listing), end < count
        answer: dict[str, Any] = {"data": list(shown)}
        if more or paged:
            answer["pagination"] = {"hasMore": more, "totalCount": total}
        if more:
            place = Place(_key(listing, listing.items[end - 1]), end)
            answer["pagination"]["cursor"] = self.cursors.seal(place, self.purpose)
        note = {} if listing.note is None else plain(listing.note)[0]
        answer["meta"] = {
            **note,
            "truncated": more or total > count,
            "summarized": not whole and bool(shown),
            "originalCount": total,
            "bytesEstimate": size(shown),
        }
        return answer


def _total(listing: Listing[Any]) -> int:
    return max(len(listing.items), listing.total or 0)


def plain(value: Any) -> tuple[dict[str, Any], int]:
    """A result as JSON values, and how many bytes its JSON has."""
    try:
        plain = _dumped(value)
        return plain, size(plain)
    except UNSENDABLE:
        plain = _dumped(sendable(value))
        return plain, size(plain)


def _dumped(value: Any) -> dict[str, Any]:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dict(value)


def _start(listing: Listing[Any], after: Place | None) -> int:
    """How many results stand before the page, whatever came and went since the one before."""
    if after is None:
        return 0
    items, at = listing.items, after.offset - 1
    if listing.ordered:
        return bisect_right(items, after.key, key=partial(_key, listing))
    if at < len(items) and _key(listing, items[at]) == after.key:
        return after.offset
    same = [place for place, item in enumerate(items) if _key(listing, item) == after.key]
    if same:  # keys are unique; of those that are not, the nearest one ends the walk
        return min(same, key=lambda place: abs(place - at)) + 1
    # It is gone, and so what followed it has moved up by one at least.
    return min(at, len(items))


def _key(listing: Listing[Any], item: Any) -> Any:
    return _sort_key(listing.key(item))


def _sort_key(key: Any) -> Any:
    """A key as it comes back from JSON, in the same order among others."""
    if isinstance(key, str) and not key.isascii():
        # A lone surrogate has no place in JSON; bytes sort as the characters do.
        return key.encode("utf-8", "surrogatepass").decode("latin-1")
    return [_sort_key(each) for each in key] if isinstance(key, tuple | list) else key
