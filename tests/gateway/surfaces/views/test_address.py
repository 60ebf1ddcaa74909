"""Arguments in an address: what a link says is what the page calls its tool with."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.surfaces.views.address import arguments_of, query_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "share": {"type": "number"},
        "open": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filters": {"anyOf": [{"$ref": "#/$defs/Filters"}, {"type": "null"}]},
    },
    "$defs": {
        "Filters": {
            "type": "object",
            "properties": {
                "tags": {"$ref": "#/$defs/Tags"},
                "limit": {"type": "integer"},
            },
        },
        "Tags": {"type": "array", "items": {"type": "string"}},
    },
}
WORDS = st.text(min_size=1, max_size=12)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "name": WORDS,
        "size": st.integers(),
        "open": st.booleans(),
        "tags": st.lists(WORDS, min_size=1, max_size=3),
        "filters": st.fixed_dictionaries(
            {"limit": st.integers()}, optional={"tags": st.lists(WORDS, min_size=1, max_size=3)}
        ),
    },
)


@given(ARGUMENTS)
def test_what_a_link_says_arrives(arguments: dict[str, Any]) -> None:
    query = parse_qsl(query_of(arguments), keep_blank_values=True)
    assert arguments_of(query, SCHEMA) == arguments


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ([("name", "")], {}),
        ([("size", "large")], {"size": "large"}),
        ([("open", "perhaps")], {"open": "perhaps"}),
        ([("name", "a"), ("name", "b")], {"name": "b"}),
        ([("colour", "red")], {"colour": "red"}),
        ([("filters.limit", "3"), ("filters.tags", "a")], {"filters": {"limit": 3, "tags": ["a"]}}),
        ([("filters", "x"), ("filters.limit", "3")], {"filters": "x"}),
        ([("a.b.c", "1")], {"a": {"b": {"c": "1"}}}),
    ],
)
def test_what_does_not_fit_is_left_for_the_tool_to_refuse(
    query: list[tuple[str, str]], found: dict[str, Any]
) -> None:
    assert arguments_of(query, SCHEMA) == found


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=5))
def test_no_query_breaks_it(query: list[tuple[str, str]]) -> None:
    assert isinstance(arguments_of(query, SCHEMA), dict)
