"""Fenced code: where it begins and ends, as CommonMark has it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from plugins.knowledge.notes.comments import without_comments
from plugins.knowledge.notes.fences import Fences, Line
from plugins.knowledge.notes.headings import headings
from plugins.knowledge.notes.mdx import plain
from plugins.knowledge.retrieval.markup import runs

LINES = st.lists(
    st.sampled_from(
        ["```", "~~~", "````", "``` sh", "``` a`b", "~~~ a`b", "> ```", "> x", "- ```", "1. ~~~",
         "  x", "x", "", "> > ```", "> > x", "- > ```", "\t```", "      ```"]
    ),
    max_size=9,
)  # fmt: skip

_SIGNS = {Line.TEXT: ".", Line.OPENS: "(", Line.CODE: "c", Line.CLOSES: ")"}


def read(text: str) -> str:
    """A sign for each line: text, opens, code, closes."""
    fences = Fences()
    return "".join(_SIGNS[fences.read(line)] for line in text.split("\n"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```\n``` not a close\na\n```\nb", "(cc)."),
        ("~~~ a`b\n# x\n~~~~\nb", "(c)."),
        ("``` a`b\nb", ".."),
        ("````\n```\n~~~\n````", "(cc)"),
        ("```\n    ```\n   ```\nb", "(c)."),
        ("1. ```\n   a\n   ```\nb", "(c)."),
        ("- ```\n  a\n\nb", "(cc."),
        ("> ```\n> a\nb", "(c."),
        ("> ```\n> a\n```\nb", "(c(c"),
        ("- > ```\n  > a\n  > ```", "(c)"),
        ("!!! note\n\n    ```py\n    a\n    ```\nb", "..(c)."),
        ("``\na", ".."),
    ],
)
def test_code_goes_from_fence_to_fence(text: str, found: str) -> None:
    assert read(text) == found


@given(LINES)
def test_code_is_where_commonmark_has_it(lines: list[str]) -> None:
    """But for fences deeper than it allows, which generators of sites know."""
    text = "\n".join(line for line in lines if line.strip() != "```" or line == "```")
    tokens = MarkdownIt("commonmark").parse(text)
    expected: set[int] = set()
    for token in tokens:
        if token.type == "fence" and token.map:
            first, end = token.map
            expected |= set(range(first, end))
    fences = Fences()
    kinds = [fences.read(line) for line in text.split("\n")]
    found = {at for at, kind in enumerate(kinds) if kind is not Line.TEXT}
    written = text.split("\n")
    assert {at for at in found ^ expected if written[at]} == set()


@pytest.mark.parametrize(
    "code", ["``` not a close", "import a from 'b'", "# no heading", "%% no remark %%"]
)
@pytest.mark.parametrize(
    ("opens", "closes"),
    [("```js", "```"), ("~~~ a`b", "~~~"), ("1. ```", "   ```"), ("- ~~~", "  ~~~")],
)
def test_everything_that_reads_a_note_takes_the_same_lines_for_code(
    opens: str, closes: str, code: str
) -> None:
    indent = " " * (len(closes) - 3)
    text = f"Before.\n\n{opens}\n{indent}{code}\n{closes}\n\n# After"
    assert plain(text) == text
    assert without_comments(text) == text
    assert [one.text for one in headings(text.split("\n"))] == ["After"]
    assert [said for said, is_code in runs(text) if is_code] == [code]


@pytest.mark.parametrize("part", ["> ", "- ", "`", "~", "1. ", "\t", "> - "])
def test_a_hostile_line_is_read_in_time(part: str) -> None:
    started = time.process_time()
    read("\n".join(["> " * 1000 + "```", *[part * 100_000] * 3]))
    assert time.process_time() - started < 20
