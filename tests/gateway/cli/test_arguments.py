"""``key=value`` words become what a tool's schema asks for."""

from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.arguments import build

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "exact": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "years": {"type": "array", "items": {"type": "integer"}},
        "kind": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "order": {"enum": ["date", "score"]},
        "filters": {"$ref": "#/$defs/Filters"},
    },
    "$defs": {"Filters": {"type": "object", "properties": {"minScore": {"type": "number"}}}},
}


@pytest.mark.parametrize(
    ("word", "arguments"),
    [
        ("query=who", {"query": "who"}),
        ("query=42", {"query": "42"}),
        ("query=a=b", {"query": "a=b"}),
        ("query=", {"query": ""}),
        ('query={"a":1}', {"query": '{"a":1}'}),
        ("limit=3", {"limit": 3}),
        ("limit=three", {"limit": "three"}),
        ("exact=true", {"exact": True}),
        ("exact=null", {"exact": None}),
        ("tags=a, b", {"tags": ["a", "b"]}),
        ('tags=["a,b"]', {"tags": ["a,b"]}),
        ("years=2025,2026", {"years": [2025, 2026]}),
        ("kind=tag", {"kind": "tag"}),
        ('kind=["tag"]', {"kind": ["tag"]}),
        ("order=date", {"order": "date"}),
        ("filters.minScore=0.5", {"filters": {"minScore": 0.5}}),
        ('filters={"minScore": 1}', {"filters": {"minScore": 1}}),
        ("unknown=1", {"unknown": 1}),
    ],
)
def test_a_value_is_read_as_the_schema_asks(word: str, arguments: dict[str, Any]) -> None:
    assert build([word], SCHEMA) == arguments


@given(st.text())
def test_text_stays_the_text_it_is(text: str) -> None:
    assert build([f"query={text}"], SCHEMA) == {"query": text}


def test_dotted_keys_fill_one_object() -> None:
    assert build(["a.b=1", "a.c=x"], {}) == {"a": {"b": 1, "c": "x"}}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["query"], "write KEY=VALUE"),
        (["=x"], "write KEY=VALUE"),
        (["query=a", "query=b"], "given twice"),
        (["a=1", "a.b=2"], "has a value already"),
    ],
)
def test_what_is_no_pair_is_a_usage_error(words: list[str], reason: str) -> None:
    with pytest.raises(click.UsageError, match=reason):
        build(words, {})
