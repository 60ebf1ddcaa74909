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


def test_several_values_stand_in_one_field_with_commas_between_them() -> None:
    assert arguments_of([("tags,", " wood, , old "), ("name", "chair")], SCHEMA) == {
        "tags": ["wood", "old"],
        "name": "chair",
    }
    assert arguments_of([("tags,", "")], SCHEMA) == {"tags": []}


NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "stages": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "tags": {"type": "array"},
                    "size": {"type": "integer"},
                },
            },
        }
    },
}


def test_what_is_numbered_is_a_list_of_objects() -> None:
    query = [
        ("stages.10.name", "last"),
        ("stages.2.name", "first"),
        ("stages.2.size", "3"),
        ("stages.2.tags", "a"),
        ("stages.3.name", ""),
    ]
    assert arguments_of(query, NESTED) == {
        "stages": [{"name": "first", "size": 3, "tags": ["a"]}, {"name": "last"}]
    }
    given = {"stages": [{"name": "a", "size": 1}, {"name": "b", "tags": ["x", "y"]}]}
    assert arguments_of(parse_qsl(query_of(given)), NESTED) == given


def test_a_name_that_leads_very_deep_is_taken_as_it_is() -> None:
    given = arguments_of([(".".join("a" * 5000), "x"), ("0", "y")], NESTED)
    assert given["0"] == "y"
