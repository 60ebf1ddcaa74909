"""YAML is read as it was written, without its traps, and written so that it reads the same."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given

from gateway.toolkit.yaml_lines import Broken, Mapping, Scalar, plain
from plugins.workflows.files.yaml_text import read, write
from tests.plugins.workflows.files.desk import EXTRAS


def values(text: str) -> Any:
    node = read(text)
    return None if node is None else plain(node)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1.10", "1.10"),
        ("1.5", 1.5),
        ("007", "007"),
        ("12", 12),
        ("-12", -12),
        ("+12", "+12"),
        ("no", "no"),
        ("yes", "yes"),
        ("True", True),
        ("false", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("'null'", "null"),
        ("2026-03-01", "2026-03-01"),
        ("12:30:45", "12:30:45"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        ("[a, 1]", ["a", 1]),
        ("{a: {b: c}}", {"a": {"b": "c"}}),
        ("|\n  one\n  two\n", "one\ntwo\n"),
    ],
)
def test_a_plain_word_is_a_number_only_if_json_writes_it_so(written: str, meant: Any) -> None:
    assert values(f"key: {written}") == {"key": meant}


def test_what_was_written_stays_known_beside_what_it_stands_for() -> None:
    node = read("version: 1.0\nflag: True\n")
    assert isinstance(node, Mapping)
    assert node.items["version"] == Scalar(1, "1.0", 1.0)
    assert node.items["flag"] == Scalar(2, "True", True)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\na: 2\n", 2, "twice (first on line 1)"),
        ("a:\n  b: 1\n  b: 2\n", 3, "twice"),
        ("a: &x 1\nb: *x\n", 1, "anchors"),
        ("b: *x\n", 1, "anchors"),
        ("\na: !!python/object/apply:os.system [ls]\n", 2, "the tag"),
        ("a: !x b\n", 1, "the tag"),
        ("a: b: c\n", 1, "put quotes around a text that holds a colon"),
        ("a: [1\nb: 2\n", 2, "broken YAML"),
        ("a: 1\n---\nb: 2\n", 2, "a second YAML document"),
        ("a: \x07\n", 1, "broken YAML"),
        ("{a: b}: c\n", 1, "a key must be plain text"),
        ("a: " + "[" * 30 + "]" * 30, 1, "nested more than 20"),
    ],
)
def test_a_trap_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(Broken, match=r".") as failed:
        read(text)
    assert failed.value.line == line
    assert said in failed.value.reason


def test_a_bomb_of_aliases_is_refused_at_its_first_anchor() -> None:
    bomb = 'a: &a ["x"]\n' + "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(Broken, match="anchors") as failed:
        read(bomb)
    assert failed.value.line == 1


def test_the_first_line_counts_where_the_text_begins_further_down() -> None:
    with pytest.raises(Broken) as failed:
        read("a: 1\na: 2\n", first_line=7)
    assert failed.value.line == 8
    assert read("# nothing\n") is None


@given(values_=EXTRAS)
@example(values_={"a": "x\n", "b": "\nx", "c": "x\n\n", "d": " x\n y", "e": "x \ny", "f": "\tx\ny"})
@example(values_={"key\nof lines": 1, "1": "1", "true": "true", "": "", "?": "? x", "k" * 200: []})
@example(values_={"a": 1e22, "b": 5e-324, "c": -0.0, "d": 10**30, "e": 1.0, "f": {}, "g": []})
def test_what_is_written_reads_the_same(values_: dict[str, Any]) -> None:
    text = write(values_)
    assert values(text) == (values_ or {})
    assert write(values(text)) == text


def test_a_number_keeps_its_kind() -> None:
    read_back = values(write({"whole": 1, "decimal": 1.0, "negative": -0.0}))
    assert [type(each) for each in read_back.values()] == [int, float, float]
    assert math.copysign(1, read_back["negative"]) == -1


def test_lines_are_written_as_lines_and_texts_without_quotes_they_do_not_need() -> None:
    text = write({"name": "Code review", "text": "one\ntwo", "list": ["a", {"b": "c"}]})
    assert text == ("name: Code review\ntext: |-\n  one\n  two\nlist:\n  - a\n  - b: c\n")
