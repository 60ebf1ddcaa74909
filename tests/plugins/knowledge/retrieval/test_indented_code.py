"""Code that is indented is code, and what is indented below something else is a part of that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.retrieval.indented_code import IndentedCode
from plugins.knowledge.retrieval.markup import runs
from plugins.knowledge.retrieval.passages import cut

LINES = st.sampled_from(["", "a", "    b", "\tc", "- d", "  e", "1. f", "```", "!!! note", "# g"])


def code(markdown: str) -> list[str]:
    """What of a page is code."""
    return [text for text, is_code in runs(markdown) if is_code]


def test_indented_lines_after_a_blank_one_are_code_line_by_line() -> None:
    (passage,) = cut("Look:\n\n    porch tools *all*\n    porch call <x>\n\n      more\n\nDone.")
    assert passage.text == "Look:\nporch tools *all*\nporch call <x>\n\n  more\nDone."
    assert code("\tmake dev\n\tmake run\n") == ["make dev\nmake run"]


@pytest.mark.parametrize(
    "markdown",
    [
        "A paragraph that\n    is wrapped.",
        "- An item\n\n    and its second paragraph.",
        "1. One\n\n   still one\n\n    and this.",
        "- An item\nthat is wrapped\n\n    and its second paragraph.",
        "1. One\n\n    ```\n    x\n    ```\n\n    Then go on.",
        "!!! note\n\n    What it notes.",
        '=== "Python"\n\n    What is done there.',
        "Term\n:   What it means\n\n    in two paragraphs.",
        "[^1]: A note\n\n    in two paragraphs.",
        "<details>\n\n    Folded text.\n\n</details>",
        "{% tab %}\n\n    A tab.\n\n{% endtab %}",
    ],
)
def test_what_is_indented_below_something_is_a_part_of_it(markdown: str) -> None:
    assert [one for one in code(markdown) if one != "x"] == []


def test_a_paragraph_that_begins_at_the_margin_ends_a_list() -> None:
    assert code("- An item\n\nA paragraph:\n\n    some code") == ["some code"]


@given(st.lists(LINES))
def test_no_line_is_lost_or_moved(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert "\n".join(part for part, _ in IndentedCode().split(text)) == text
