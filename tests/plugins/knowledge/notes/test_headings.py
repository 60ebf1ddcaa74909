"""Headings: what counts as one, and what only looks like one."""

from __future__ import annotations

import pytest

from plugins.knowledge.notes.headings import headings


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


def test_attributes_at_the_end_of_a_heading_are_none_of_its_text() -> None:
    text = (
        "# Set up {#set-up .wide}\n\nUsage { #use }\n---\n\n## Of {x} {.a}\n\n## {#a}\n\n## {a=b}"
    )
    found = [(one.text, one.id, one.attributes) for one in headings(text.split("\n"))]
    assert found == [
        ("Set up", "set-up", "{#set-up .wide}"),
        ("Usage", "use", "{ #use }"),
        ("Of {x}", "", "{.a}"),
        ("{#a}", "", ""),
        ("{a=b}", "", ""),
    ]


def test_headings_in_html_count_where_they_are_asked_for() -> None:
    text = "<div align=x><h1 id=a>\n One\n</h1> more\n\n<h2>Two</h2>\n\n`<h2>x</h2>`\n<h3>\n\nc"
    found = [(one.level, one.text, one.rest) for one in headings(text.split("\n"), html=True)]
    assert found == [(1, "One", "<div align=x>\n more"), (2, "Two", "\n")]
    assert read(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "=" * 10**6,
        "a" * 10**6,
        " " * 10**6,
        "#" * 10**6,
        "[" * 10**6,
        "{" * 10**6,
        "<h1>" * 10**5,
        "<a>" * 10**5,
    ],
)
def test_a_hostile_line_is_read_in_time(line: str) -> None:
    assert read(f"{line}\n---\n{line}") == []
