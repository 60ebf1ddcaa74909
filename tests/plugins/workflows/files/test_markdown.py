"""A markdown file is split into fields and text, and put together again, exactly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given

from gateway.toolkit.frontmatter import decode
from gateway.toolkit.yaml_lines import Broken, plain
from plugins.workflows.files.markdown import read, write
from tests.plugins.workflows.files.desk import EXTRAS, TEXTS


@given(front=EXTRAS, body=TEXTS)
@example(front={"a": "---\n---\nb"}, body="---\na: b\n---\n")
@example(front={"a": "x\n\n"}, body="\n\n x\n\n")
@example(front={}, body="")
def test_what_is_written_is_split_the_same(front: dict[str, Any], body: str) -> None:
    found = read(decode(write(front, body).encode()))
    assert (plain(found.front), found.body) == (front, body)


@pytest.mark.parametrize(
    ("text", "body", "line"),
    [
        ("# Just text\n", "# Just text", 1),
        ("---\nname: x\n---\nText\n", "Text", 4),
        ("---\nname: x\n---\n\nText", "Text", 4),
        ("---\n---\nText", "Text", 3),
        ("---  \r\nname: x\r\n---\r\n\r\nText\r\nmore\r\n", "Text\nmore", 4),
        ("\ufeff---\nname: x\n---\nText", "Text", 4),
        ("----\nText", "----\nText", 1),
    ],
)
def test_files_as_people_write_them_are_split(text: str, body: str, line: int) -> None:
    found = read(decode(text.encode()))
    assert (found.body, found.line) == (body, line)


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"---\nname: x\nText", 1, "never closed"),
        (b"---\n- x\n---\n", 2, "not made of"),
        (b"---\na: 1\nb: [\n---\n", 4, "broken YAML"),
        (b"a\nb\xe9\n", 2, "not UTF-8 (byte 0xE9)"),
    ],
)
def test_what_is_broken_is_said_with_its_line(data: bytes, line: int, said: str) -> None:
    with pytest.raises(Broken) as failed:
        read(decode(data))
    assert said in failed.value.reason
    assert failed.value.line == line
