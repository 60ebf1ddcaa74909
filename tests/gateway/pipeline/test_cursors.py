"""Cursors: for whom and for how long they are good."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from auth import Caller, Tier
from auth.sealer import Sealer
from gateway.catalog.items import tool_item
from gateway.contract import Listing, Page, Tool, ToolFailed
from gateway.pipeline.cursors import CURSOR_LIFETIME_SECONDS, Cursors, Place, purpose_of

ANA = Caller(person="person:ana", tier=Tier.MEMBERS)
BEN = Caller(person="person:ben", tier=Tier.MEMBERS)


class Found(BaseModel):
    name: str


PAGE = Page(4, dict)


def test_cursors_are_good_for_one_person_one_tool_and_the_same_arguments() -> None:
    async def find(word: str, limit: int = 5) -> Listing[Found]:
        """Find.

        Args:
            word: a word.
            limit: how many.
        """
        return Listing([], lambda found: found.name)

    item = tool_item("code", Tool.of(find, page=PAGE), "find")
    other = tool_item("code", Tool.of(find, page=PAGE), "find_more")
    args = item.parse({"word": "x"})
    mine = purpose_of(item, args, ANA)
    assert mine == purpose_of(item, item.parse({"limit": 5, "word": "x"}), ANA)
    assert mine != purpose_of(item, item.parse({"word": "y"}), ANA)
    assert mine != purpose_of(item, args, BEN)
    assert mine != purpose_of(other, args, ANA)


def test_a_forged_or_old_cursor_says_to_begin_again() -> None:
    now = [0.0]
    cursors = Cursors(Sealer(b"key", "test", lambda: now[0]))
    cursor = cursors.seal(Place("a", 1), "mine")
    assert cursors.open(cursor, "mine") == Place("a", 1)
    strange = Cursors(Sealer(b"other", "test", lambda: now[0]))
    now[0] = CURSOR_LIFETIME_SECONDS + 2
    for bad, of in ((cursor, cursors), (cursor + "A", cursors), (cursor, strange), (7, cursors)):
        with pytest.raises(ToolFailed, match="without a cursor") as failed:
            of.open(bad, "mine")
        assert failed.value.code == "invalid_cursor"
