"""JSON is read as the standard library reads it, with lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.yaml_lines import Broken, Mapping, plain
from plugins.workflows.files.json_text import read
from tests.plugins.workflows.files.desk import EXTRAS


@given(values=EXTRAS, indent=st.sampled_from([None, 0, 3]), ascii_=st.booleans())
def test_every_json_text_is_read_as_it_is_meant(
    values: dict[str, Any], indent: int | None, ascii_: bool
) -> None:
    assert plain(read(json.dumps(values, indent=indent, ensure_ascii=ascii_))) == values


@given(text=st.text('{}[]",:0123eE.-+ntfrul \n', max_size=12))
def test_no_text_is_read_that_is_no_json(text: str) -> None:
    try:
        meant = json.loads(text)
    except ValueError:
        with pytest.raises(Broken):
            read(text)
        return
    try:
        assert plain(read(text)) == meant
    except Broken as error:
        assert "twice" in error.reason or "larger" in error.reason  # noqa: PT017


def test_lines_are_counted() -> None:
    node = read('{\n "a": 1,\n\n "b": {"c":\n 2}}')
    assert isinstance(node, Mapping)
    assert node.lines == {"a": 2, "b": 4}
    inner = node.items["b"]
    assert isinstance(inner, Mapping)
    assert inner.items["c"].line == 5


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"a": 1,\n "a": 2}', 2, "twice"),
        ('{"a": 1,\n}', 2, "a key in quotes is missing"),
        ('{"a"\n 1}', 2, "a colon is missing"),
        ("[1\n 2]", 2, "a comma or ] is missing"),
        ("[1]\n[2]", 2, "more text after the end"),
        ("[nan]", 1, "a value is missing"),
        ("[1e999]", 1, "larger than any number"),
        ('["a\n"]', 1, "broken JSON"),
        ("[" * 50 + "]" * 50, 1, "nested more than 20"),
        ("", 1, "a value is missing"),
    ],
)
def test_what_is_broken_is_said_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(Broken) as failed:
        read(text)
    assert (failed.value.line, said in failed.value.reason) == (line, True)
