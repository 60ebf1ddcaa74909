"""Headings: what counts as one, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.notes.headings import atx, headings


def read(text: str) -> list[tuple[int, str]]:
    """The level and the text of each heading."""
    return [(each.level, each.text) for each in headings(text.split("\n"))]


def test_both_ways_to_write_a_heading_count() -> None:
    assert read("# One\n\nTwo\n===\n\n## Three ##\nFour\n  ----  \n") == [
        (1, "One"),
        (1, "Two"),
        (2, "Three"),
        (2, "Four"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Text.\n\n---\n\nMore.",
        "Several lines\nof a paragraph\n---",
        "- a list\n---",
        "1. a list\n---",
        "> a quotation\n---",
        "> a quotation\nthat goes on\n---",
        "| a |\n---\n| b |",
        "a | b\n--- | ---\n1 | 2\n---",
        "---\ntitle: A note in a note\n---",
        "```\nUsage\n-----\n```",
        "~~~ sh\n# a comment\n~~~",
        "1. Step\n\n    ```\n# a comment\n    ```",
        "    Usage\n-----",
        "<p>\n---",
        "{% block %}\n---",
        "[label]: pages.md\n---",
        "***\n---",
        "Usage\n-",
        "Usage\n--- ---",
        "#tag",
        f"{'A paragraph on one line. ' * 10}\n---",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert read(text) == []


def test_an_underlined_heading_is_rewritten_and_nothing_else() -> None:
    assert (
        atx("Text.\n\nUsage of C#\n-----\nMore.\n\n---\n")
        == "Text.\n\n## Usage of C# #\nMore.\n\n---\n"
    )


@given(st.text(alphabet="a#=- \n`|>", max_size=80))
def test_any_text_keeps_its_headings_when_rewritten(text: str) -> None:
    assert read(atx(text)) == read(text)


@pytest.mark.parametrize("line", ["=" * 10**6, "a" * 10**6, " " * 10**6, "#" * 10**6, "[" * 10**6])
def test_a_hostile_line_is_read_in_time(line: str) -> None:
    assert read(f"{line}\n---\n{line}") == []
