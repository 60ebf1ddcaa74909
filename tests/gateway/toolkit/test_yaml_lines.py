"""YAML that people wrote is read with its lines, and nothing in it is trusted."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.yaml_lines import Broken, Listing, Mapping, Scalar, core_number, plain, read

TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\u2028\u2029")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**14), 10**14) | TEXT,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(TEXT, inside, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXT, JSON, min_size=1, max_size=6))
def test_what_a_writer_of_yaml_writes_is_read(values: dict[str, Any]) -> None:
    text = yaml.dump(values, Dumper=Unaliased, allow_unicode=True, sort_keys=False)
    node = read(text)
    assert node is not None
    assert plain(node) == values


@given(st.dictionaries(TEXT, JSON, min_size=1, max_size=6))
def test_json_is_read_as_what_it_is(values: dict[str, Any]) -> None:
    node = read(json.dumps(values, ensure_ascii=False))
    assert node is not None
    assert plain(node) == values


class Unaliased(yaml.SafeDumper):
    """Writes out what is there twice, since aliases are not read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def test_every_node_knows_its_line() -> None:
    node = read("a: 1\nb:\n  - x\n  -   y\nc: {d: e}\n", first_line=10)
    assert isinstance(node, Mapping)
    assert node.lines == {"a": 10, "b": 11, "c": 14}
    listing = node.items["b"]
    assert isinstance(listing, Listing)
    assert [each.line for each in listing.items] == [12, 13]
    assert node.items["a"] == Scalar(10, "1", 1)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "~", "null\n", "---\n"])
def test_nothing_is_nothing(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("~", None),
        ("Null", None),
        ("TRUE", True),
        ("false", False),
        ("yes", "yes"),
        ("2024-10-16", "2024-10-16"),
        ("0x1f", "0x1f"),
        ("'1'", "1"),
        ("-3", -3),
        ("007", 7),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        ("1234567890123456", 1234567890123456.0),
    ],
)
def test_plain_words_are_null_a_truth_a_number_or_text(written: str, value: Any) -> None:
    node = read(f"a: {written}")
    assert isinstance(node, Mapping)
    found = node.items["a"]
    assert isinstance(found, Scalar)
    assert found.value == value
    assert type(found.value) is type(value)
    assert found.text == written.strip("'")


def test_who_reads_may_say_what_a_number_is() -> None:
    node = read("a: 1.10\nb: 7", numbers=lambda written: None)
    assert node is not None
    assert plain(node) == {"a": "1.10", "b": "7"}
    assert core_number("v1") is None


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' is here twice (first on line 1)"),
        ("a: &x 1\n", 1, "anchors (&) and aliases (*) are not read; use quotes"),
        ("a: 1\nb: *x\n", 2, "anchors (&) and aliases (*) are not read; use quotes"),
        (
            "a: !!python/none x\n",
            1,
            "the tag tag:yaml.org,2002:python/none is not read; use quotes",
        ),
        ("a: 1\n---\nb: 1\n", 2, "a second YAML document begins here"),
        ("a: 1\n? [b]\n: 2\n", 2, "a key must be plain text; put quotes around {...} and [...]"),
        ("[" * 21 + "]" * 21, 1, "nested more than 20 levels deep"),
    ],
)
def test_what_is_not_read_is_named_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(Broken) as broken:
        read(text)
    assert (broken.value.line, broken.value.reason) == (line, reason)


def test_the_slip_behind_most_complaints_has_a_hint() -> None:
    with pytest.raises(Broken, match="put quotes around a text that holds a colon") as broken:
        read("a: 1\nb: one: two\n", first_line=2)
    assert broken.value.line == 3


def test_a_character_that_yaml_does_not_allow_is_found() -> None:
    with pytest.raises(Broken, match="broken YAML") as broken:
        read("a: 1\nb: \x01\n")
    assert broken.value.line == 2


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever it is, it is read or refused, and never anything else."""
    text = text.encode("utf-8", "replace").decode()
    with suppress(Broken):
        node = read(text)
        json.dumps(None if node is None else plain(node))
