"""Files are split exactly, and what is no strict YAML is read line by line, and said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.frontmatter import Lenient, Parts, decode, read, read_leniently, split
from gateway.toolkit.yaml_lines import Broken, plain

LINE = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30).filter(
    lambda line: line.rstrip(" \t") not in ("---", "...")
)


@given(st.lists(LINE, max_size=5), st.lists(st.text(max_size=20), max_size=5))
def test_a_file_is_split_into_what_was_put_together(front: list[str], body: list[str]) -> None:
    written, below = "".join(f"{line}\n" for line in front), "\n".join(body)
    parts = split(f"---\n{written}---\n{below}")
    assert parts == Parts(written, below, len(front) + 3)


@pytest.mark.parametrize("text", ["", "# Title\n", "--- \tx\n", "---", " ---\na: 1\n---\n"])
def test_a_file_without_frontmatter_is_all_body(text: str) -> None:
    assert split(text) == Parts(None, text, 1)


def test_dots_close_it_where_they_may() -> None:
    text = "---\na: 1\n...\nb: 2\n---\nbody"
    assert split(text) == Parts("a: 1\n", "b: 2\n---\nbody", 4)
    assert split(text, dots=False) == Parts("a: 1\n...\nb: 2\n", "body", 6)


def test_what_is_never_closed_is_said() -> None:
    with pytest.raises(Broken, match="never closed") as broken:
        split("---\na: 1\n")
    assert broken.value.line == 1


def test_a_file_becomes_text_with_line_feeds() -> None:
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"
    with pytest.raises(Broken, match="byte 0xFF") as broken:
        decode(b"a\nb\xff")
    assert broken.value.line == 2


def test_fields_know_their_lines_in_the_file() -> None:
    fields = read("a: 1\n# more\nb:\n  c: [x]\n")
    assert plain(fields) == {"a": 1, "b": {"c": ["x"]}}
    assert fields.lines == {"a": 2, "b": 4}
    assert plain(read("# nothing\n")) == {}


@pytest.mark.parametrize(("front", "line"), [("text\n", 2), ("# a list\n- a\n", 3)])
def test_what_is_no_mapping_is_refused(front: str, line: int) -> None:
    with pytest.raises(Broken, match="not made of `key: value` lines") as broken:
        read(front)
    assert broken.value.line == line


def test_strict_yaml_needs_no_notice() -> None:
    found = read_leniently("a: 'one: two'\nb: 3\n")
    assert plain(found.fields) == {"a": "one: two", "b": 3}
    assert found.notice is None


def test_a_value_with_a_colon_is_the_text_that_stands_there() -> None:
    front = "name: pdf\ndescription: Use it for: forms,\n  and more\ntags:\n  - a\nversion: 1.5\n"
    found = read_leniently(front)
    assert plain(found.fields) == {
        "name": "pdf",
        "description": "Use it for: forms, and more",
        "tags": ["a"],
        "version": 1.5,
    }
    assert found.fields.lines == {"name": 2, "description": 3, "tags": 5, "version": 7}
    assert found.notice is not None
    assert found.notice.line == 3
    assert "put quotes around a text that holds a colon" in found.notice.reason


@pytest.mark.parametrize(
    "front",
    [
        "a: one: two\njust words\n",
        "a: one: two\na: again\n",
        "a: one: two\nb: [x\n",
        "a: one: two\nb: *x\n",
        "a: one: two\nb: 'x\n",
        "a: one: two\nb: x \x7f y\n",
    ],
)
def test_what_is_more_than_lines_is_refused_even_so(front: str) -> None:
    with pytest.raises(Broken):
        read_leniently(front)


def outcome(front: str) -> tuple[object, Broken | None]:
    """What strict YAML says, and why it is none."""
    try:
        return read(front), None
    except Broken as broken:
        return None, broken


@given(st.lists(LINE, max_size=8).map("\n".join))
def test_what_is_strict_yaml_is_read_the_same(front: str) -> None:
    strict, broken = outcome(front)
    notice: Broken | None
    try:
        found: Lenient | None = read_leniently(front)
    except Broken as refused:
        found, notice = None, refused
    else:
        notice = found.notice if found else None
    assert str(notice) == str(broken)
    if found is not None and strict is not None:
        assert found.fields == strict


def test_real_files_are_read(test_data: Path) -> None:
    """All of them; and those in strict YAML give what strict YAML says."""
    files = sorted((test_data / "skills-repo-a").rglob("*.md"))
    assert files
    for file in files:
        parts = split(decode(file.read_bytes()))
        if parts.front is not None:
            found = read_leniently(parts.front)
            strict, broken = outcome(parts.front)
            assert found.fields.items, file
            assert str(found.notice) == str(broken)
            assert strict in (None, found.fields)
