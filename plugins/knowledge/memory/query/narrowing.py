"""What narrows a question to some entries, as the stores compare it."""

from __future__ import annotations

from typing import TypeVar

from plugins.knowledge.memory.model import labels as by
from plugins.knowledge.memory.model.query_context import EntryFilter, WrittenBy
from plugins.knowledge.memory.model.requests import QueryFilters

T = TypeVar("T")


def narrowing(
    filters: QueryFilters, owner: str | None, person: str | None, written: WrittenBy | None
) -> EntryFilter:
    """What an answer must be.

    Args:
        filters: what is asked for.
        owner: whose entries alone, or None.
        person: who asks.
        written: who wrote them, or None.
    """
    groups = [
        [by.tag(each) for each in filters.tags],
        [by.source(each) for each in _as_tuple(filters.source_type)],
        [by.policy(each) for each in _as_tuple(filters.access_policy)],
        *(
            [by.custom(key, each) for each in (value if _is_alternatives(value) else [value])]
            for key, value in filters.custom_filters.items()
        ),
    ]
    return EntryFilter(
        labels=tuple(frozenset(group) for group in groups if group),
        after=filters.created_after,
        before=filters.created_before,
        or_happened=filters.or_happened,
        owner=(person or "") if filters.mine else owner,
        as_of=filters.as_of,
        written=written,
    )


def _as_tuple(value: T | None) -> tuple[T, ...]:
    return () if value is None else (value,)


def _is_alternatives(value: object) -> bool:
    """Whether a filter lists values of which one will do."""
    return isinstance(value, list) and bool(value)
