"""Frontmatter of files from many hands: read as JSON values, and never an exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.skills_repo.index.frontmatter import read


def test_fields_body_and_lines_are_told_apart() -> None:
    found = read(b"---\nname: pdf\ndescription: Reads PDFs.\n---\n\n# Body\n")
    assert dict(found.fields) == {"name": "pdf", "description": "Reads PDFs."}
    assert dict(found.lines) == {"name": 2, "description": 3}
    assert (found.body, found.body_line, found.fault) == ("\n# Body\n", 5, "")


def test_values_are_those_of_json_and_dates_stay_as_written() -> None:
    text = (
        "---\na: 2026-02-06\nb: 1.10\nc: yes\nd: true\ne: 007\nf: null\ng: '1'\nh: [x, 2]\n"
        "i: {k: .inf}\nj: 1e400\nk: |\n  two\n  lines\n---\n"
    )
    found = read(text.encode())
    assert dict(found.fields) == {
        "a": "2026-02-06",
        "b": 1.1,
        "c": "yes",
        "d": True,
        "e": 7,
        "f": None,
        "g": "1",
        "h": ["x", 2],
        "i": {"k": ".inf"},
        "j": "1e400",
        "k": "two\nlines\n",
    }


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    found = read(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nBody\r\n")
    assert (dict(found.fields), found.body) == ({"name": "x"}, "Body\n")


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"---\nname: x\nbody", 1, "never closed"),
        (b"---\n- a\n---\n", 2, "not made of `key: value` lines"),
        (b"---\na: 1\na: 2\n---\n", 3, "here twice"),
        (b"---\na: &x 1\nb: *x\n---\n", 2, "anchors"),
        (b"---\na: !!python/object:os.system x\n---\n", 2, "tag"),
        (b"---\na: " + b"[" * 5000 + b"\n---\n", 2, "levels deep"),
        (b"---\na: 1\n--- b\nc: 2\n---\n", 3, "second YAML document"),
        (b"---\n[a, b]: 1\n---\n", 2, "key must be plain text"),
        (b"---\na: " + b"x" * 70_000 + b"\n---\n", 2, "longer than"),
        (b"ok\n\xff\xfe", 2, "not UTF-8"),
        (b"\x7fELF\x00\x01", 1, "NUL"),
        (b"---\na: \x01\n---\n", 2, "broken YAML"),
    ],
)
def test_what_cannot_be_read_says_why_and_where(data: bytes, line: int, reason: str) -> None:
    found = read(data)
    assert dict(found.fields) == {}
    assert reason in found.fault
    assert found.fault_line == line


def test_lines_that_are_no_yaml_together_are_read_one_by_one_and_the_slip_is_said() -> None:
    found = read(
        b"---\n# A comment\nname: reviewer\ndescription: Use it so: <example>\n  Context: a pull\n"
        b"  request</example>\ntools: [Read, Grep]\nmodel: 'opus'\nx:\n---\nBody\n"
    )
    assert dict(found.fields) == {
        "name": "reviewer",
        "description": "Use it so: <example> Context: a pull request</example>",
        "tools": ["Read", "Grep"],
        "model": "opus",
        "x": None,
    }
    assert dict(found.lines) == {"name": 3, "description": 4, "tools": 7, "model": 8, "x": 9}
    assert (found.fault, found.body) == ("", "Body\n")
    assert "put quotes around a text that holds a colon" in found.slip
    assert found.fault_line == 4


NAMES = st.from_regex(r"[A-Za-z][A-Za-z_-]{0,9}", fullmatch=True)
WORDS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=30)


@given(st.dictionaries(NAMES, WORDS, min_size=1, max_size=5))
def test_reading_line_by_line_never_raises_and_keeps_every_key(said: dict[str, str]) -> None:
    lines = "\n".join(f"{name}: {value}" for name, value in said.items())
    found = read(f"---\n{lines}\n---\n".encode())
    assert bool(found.fault) != (set(found.fields) == set(said))


def test_a_file_without_frontmatter_is_all_body() -> None:
    found = read(b"# Title\n\n---\nname: no\n---\n")
    assert (dict(found.fields), found.present, found.fault) == ({}, False, "")
    assert found.body.startswith("# Title")


@given(st.binary(max_size=400))
def test_any_bytes_are_answered(data: bytes) -> None:
    read(data)
    found = read(b"---\n" + data + b"\n---\nrest")
    json.dumps(dict(found.fields), allow_nan=False)


_PLAIN = st.dictionaries(
    st.from_regex(r"[a-z][a-z-]{0,8}[a-z]", fullmatch=True).filter(
        lambda key: key not in ("null", "true", "false")
    ),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**14), 10**14),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=30),
    ),
    max_size=6,
)


@given(_PLAIN)
def test_what_yaml_writes_is_read_back(fields: dict[str, object]) -> None:
    written = "\n".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()
    )
    found = read(f"---\n{written}\n---\n".encode())
    assert found.fault == ""
    assert dict(found.fields) == fields
