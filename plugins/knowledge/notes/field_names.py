"""The fields that the portal reads of notes, and what ``map:`` seems to misspell of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cache
from typing import get_args

from gateway.contract import near
from plugins.knowledge.notes.content import Content
from plugins.knowledge.notes.note import CREATED
from plugins.knowledge.notes.publishing import WORDS

_DECIDING = ("tier", "pubDate", "publishDate", "expiryDate", "unpublishDate")
"""Read before the content model sees a note, as people write them."""

A_SLIP = 0.75
"""How alike a slip and what was meant are at least: soil_type is no slip of type."""


@cache
def known_fields() -> frozenset[str]:
    """The names of the fields that the portal reads, in the specification's spelling."""
    union, *_ = get_args(Content)
    aliases = (
        field.alias or name
        for model in get_args(union)
        for name, field in model.model_fields.items()
    )
    return frozenset((*aliases, *CREATED, *_DECIDING, *WORDS))


def misspelt(mapped: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Fields of ``map:`` that the portal does not read, and that look like one that it does.

    People may have fields of their own, which are kept; one that looks like none of the portal's
    is taken for such.

    Args:
        mapped: our names in ``map:``.

    Yields:
        Each such field, and what to say of it.
    """
    known = known_fields()
    plain = {_plain(each) for each in known}
    for name in mapped:
        if _plain(name) in plain:
            continue
        meant = [each for each in near(name, known, 1) if _alike(name, each) >= A_SLIP]
        if meant:
            yield name, f"no field that the portal reads; did you mean {meant[0]}?"


def _alike(name: str, other: str) -> float:
    return SequenceMatcher(None, _plain(name), _plain(other)).ratio()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
