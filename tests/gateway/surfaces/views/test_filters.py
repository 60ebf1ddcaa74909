"""What templates of views can do with a text."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import Undefined

from gateway.surfaces.views.filters import body, day, marked, shell


def test_the_words_of_a_query_are_marked_in_any_form_and_all_else_is_text() -> None:
    text = "Decisions are <b>decided</b> & made"
    drawn = "<mark>Decisions</mark> are &lt;b&gt;decided&lt;/b&gt; &amp; <mark>made</mark>"
    assert marked(text, "how are a decision made?") == drawn
    assert marked("<b>", "") == "&lt;b&gt;"


@pytest.mark.parametrize("nothing", [None, Undefined(), 7, ""])
def test_what_is_not_there_is_empty(nothing: Any) -> None:
    assert marked(nothing, nothing) == day(nothing) == body(nothing) == ""


def test_a_text_is_shown_without_its_frontmatter() -> None:
    assert body("---\nname: a\n---\nText\n").strip() == "Text"
    assert body("---\nnever closed") == "---\nnever closed"


def test_a_date_is_its_day() -> None:
    assert day("2026-11-26T10:00:00Z") == "2026-11-26"
    assert day("yesterday") == ""


def test_a_text_is_one_word_of_a_command_whatever_it_holds() -> None:
    assert shell("pdf") == "pdf"
    assert shell("x; rm -rf ~ 'y'") == """'x; rm -rf ~ '"'"'y'"'"''"""
    assert shell(None) == "''"
