"""Frontmatter is read with line numbers, and hostile frontmatter does no harm."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.notes.frontmatter import BrokenNote, Problem, read

KEYS = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,10}", fullmatch=True)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(10**14), 10**14),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)


@given(fields=st.dictionaries(KEYS, VALUES), body=TEXT)
def test_what_a_yaml_library_writes_is_read_back(fields: dict[str, Any], body: str) -> None:
    written = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)
    front = read(f"---\n{written}---\n{body}".encode())
    assert front.fields == fields
    assert front.body == body.strip("\n")
    assert list(front.lines) == list(fields)


@given(
    data=st.binary() | st.text().map(lambda text: f"---\n{text}\n---\n".encode("utf-8", "replace"))
)
def test_any_bytes_are_read_or_refused_with_a_line(data: bytes) -> None:
    line, reason = 1, "fine"
    try:
        read(data)
    except BrokenNote as error:
        line, reason = error.line, error.reason
    assert 1 <= line <= data.count(b"\n") + data.count(b"\r") + 2
    assert reason


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("---\ntitle: a\n", 1, "never closed"),
        ("---\ntitle: a: b\n---\n", 2, "quotes around a text that holds a colon"),
        ("---\na: 1\nb: [1\n---\n", 4, "broken YAML"),
        ("---\n\ta: 1\n---\n", 2, "broken YAML"),
        ("---\ntags:\n\t- a\n---\n", 3, "indent with spaces, and not with a tab"),
        ("---\na: 1\nb: 2\na: 3\n---\n", 4, "'a' is here twice (first on line 2)"),
        ("---\ntitle: {{title}}\n---\n", 2, "quotes around {{...}}"),
        ("---\n- a\n- b\n---\n", 2, "`key: value` lines"),
        ("---\njust words\n---\n", 2, "`key: value` lines"),
        ("---\na: 1\nb: !!python/object:os.system x\n---\n", 3, "tag"),
        ("---\na: &x [1]\nb: *x\n---\n", 2, "anchors"),
        ("---\na: &x [*x]\n---\n", 2, "anchors"),
        ("---\na: \x01\n---\n", 2, "broken YAML"),
        ('---\na: "\\ud800"\n---\n', 2, "broken YAML"),
    ],
)
def test_broken_frontmatter_names_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(BrokenNote) as caught:
        read(text.encode())
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_bytes_that_are_not_utf8_name_their_line() -> None:
    with pytest.raises(BrokenNote, match="byte 0xE9") as caught:
        read("---\ntitle: a\n---\ncafé".encode("latin-1"))
    assert caught.value.line == 4


def test_millions_of_brackets_are_refused_at_once() -> None:
    started = time.process_time()
    with pytest.raises(BrokenNote, match="20 levels"):
        read(b"---\na: " + b"[" * 4_000_000 + b"\n---\n")
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("title = 'a'\nb" + ".a" * 25_000 + " = 1", 3, "20 levels"),
        ("'a'" + ' . "a"' * 5_000 + " = 1", 2, "20 levels"),
        ("[a" + ".a" * 20 + "]", 2, "20 levels"),
        ("t = 1\na" + ".a" * 18 + " = {a = {a = 1}}", 3, "20 levels"),
        ("\na = " + "[" * 25 + "]" * 25, 3, "20 levels"),
        ("a = " + "[" * 30_000, 1, "no TOML"),
        ("a = '" + "a" * 64_000 + "'", 1, "64,000 characters"),
    ],
)
def test_toml_that_is_deep_or_long_is_refused_at_once(text: str, line: int, reason: str) -> None:
    started = time.process_time()
    with pytest.raises(BrokenNote, match=reason) as caught:
        read(f"+++\n{text}\n+++\n".encode())
    assert caught.value.line == line
    assert time.process_time() - started < 4


@pytest.mark.parametrize("part", ["a", "a-", "a.", "'", '"', "'\"", ". ", "[[a.b]]\n", "a.a "])
def test_hostile_toml_is_read_in_time(part: str) -> None:
    started = time.process_time()
    with contextlib.suppress(BrokenNote):
        read(f"+++\n{part * (60_000 // len(part))}\n+++\n".encode())
    assert time.process_time() - started < 4


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("999_999_999_999_999", 999_999_999_999_999),
        ("-1000000000000000", "-1000000000000000"),
        ("0x" + "f" * 5_000, "0x" + "f" * 5_000),
        ("0b1" + "0" * 60_000, hex(1 << 60_000)),
        ("true", True),
    ],
)
def test_a_number_of_toml_comes_back_from_json(written: str, value: object) -> None:
    found = read(f"+++\nweight = {written}\n+++\n".encode()).fields["weight"]
    assert found == value
    assert json.loads(json.dumps(found)) == value


def test_toml_as_deep_as_is_read_is_read() -> None:
    text = f'+++\n{".".join("a" * 19)} = 1\nb = "{"x. " * 100}"\nc = "1.2.3"\n+++\n'
    value = read(text.encode()).fields["a"]
    for _ in range(18):
        value = value["a"]
    assert value == 1


def test_a_byte_order_mark_and_windows_line_ends_are_dropped() -> None:
    front = read("\ufeff---\r\ntitle: a\r\n---\r\n\r\nOne.\r\nTwo.\r\n".encode())
    assert (front.fields, front.body, front.present) == ({"title": "a"}, "One.\nTwo.", True)


def test_null_and_empty_values_are_absent_but_have_a_line() -> None:
    front = read(b"---\na:\nb: ~\nc: ''\nd: null\ne: 0\n---\n")
    assert front.fields == {"e": 0}
    assert front.lines == {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6}


def test_only_plain_integers_and_truths_are_not_text() -> None:
    front = read(
        b"---\na: 1.10\nb: no\nc: 2024-10-16\nd: 007\ne: 12:30\nf: true\ng: '5'\nh: 5\n---\n"
    )
    expected = {"a": "1.10", "b": "no", "c": "2024-10-16", "d": "007", "e": "12:30", "f": True}
    assert front.fields == {**expected, "g": "5", "h": 5}


@pytest.mark.parametrize(
    "text", ["", "# Title\n\nText", "----\nno fence", "text\n---\na: b\n---\n"]
)
def test_a_note_without_frontmatter_is_all_body(text: str) -> None:
    front = read(text.encode())
    assert not front.present
    assert front.body == text.strip("\n")


def test_a_rule_in_the_body_and_an_indented_one_in_a_value_end_nothing() -> None:
    front = read(b"---\na: |\n  x\n  ---\n  y\n---\nOne\n---\nTwo\n")
    assert front.fields == {"a": "x\n---\ny"}
    assert front.body == "One\n---\nTwo"


def test_json_at_the_start_is_frontmatter_too() -> None:
    front = read(
        b'\n{\n  "title": "A: b",\n  "draft":true, "none": null,\n\t"tags": ["x"]\n}\nBody.'
    )
    assert front.fields == {"title": "A: b", "draft": True, "tags": ["x"]}
    assert (front.body, front.present, front.lines["draft"]) == ("Body.", True, 4)


@pytest.mark.parametrize("text", ["{{< note >}}\nWords.", "{% include x %}", '{"a", "b"}', "{}"])
def test_braces_that_begin_no_json_are_text(text: str) -> None:
    assert read(text.encode()).body == text


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{\n  "draft": true,\n}\nWords.', 3, "no JSON"),
        ('{"draft": true,\n "draft": false}', 2, "'draft' is here twice"),
        ('{"a": "\\ud800"}', 1, "broken YAML"),
        ('{"a": ' + "[" * 100_000, 1, "no JSON"),
        ('{"a": ' + "[" * 30 + "]" * 30 + "}", 1, "20 levels"),
    ],
)
def test_broken_json_names_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(BrokenNote) as caught:
        read(text.encode())
    assert caught.value.line == line
    assert reason in caught.value.reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_a_note_in_utf_16_says_so(encoding: str) -> None:
    with pytest.raises(BrokenNote, match="it seems to be UTF-16; save the file as UTF-8"):
        read("# Kiln\n\nIt opens at seven.\n".encode(encoding))


def test_a_problem_is_one_line_and_shows_what_a_files_name_hides() -> None:
    problem = Problem("a\n\u202eb\x1b.md", 3, "rename the file")
    assert str(problem) == "a[U+000A][U+202E]b[U+001B].md:3: rename the file"
