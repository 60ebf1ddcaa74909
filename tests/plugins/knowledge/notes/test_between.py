"""What stands between two signs is found in time by the text's length, and as a pattern would."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.links import links_of
from plugins.knowledge.notes import mdx
from plugins.knowledge.notes.between import Between
from plugins.knowledge.retrieval.markup import plain
from plugins.knowledge.retrieval.passages import cut
from tests.plugins.knowledge.retrieval.conftest import document


@given(st.text(alphabet="{%} a\n", max_size=60))
def test_it_is_what_a_pattern_for_both_signs_finds(text: str) -> None:
    pattern = re.compile(r"\{%(?:[^%]|%(?!\})){0,9}%\}")
    assert Between(r"\{%", r"%\}", 9).sub("-", text) == pattern.sub("-", text)


@given(st.text(alphabet="<!-> a\n", max_size=60))
def test_signs_that_are_alike_are_told_apart(text: str) -> None:
    pattern = re.compile(r"<!--(?:[^-]|-(?!->)){0,9}-->")
    assert Between("<!--", "-->", 9).sub("", text) == pattern.sub("", text)


def test_programs_and_comments_of_a_page_are_no_text() -> None:
    page = "One <script src='a'>if (a < b) {}</script>two <STYLE>p {}</STYLE >three <!-- 4 -->5"
    assert plain(page) == "One two three 5"
    assert mdx.plain("One {/* two */}three {/* four") == "One three {/* four"


@pytest.mark.parametrize("part", ["<script>", "<style>", "<!--", "{{", "{%", "{#", "{/*"])
@pytest.mark.parametrize("end", ["", "</script>", "-->"])
def test_a_hostile_text_is_read_in_time(part: str, end: str) -> None:
    text = part * 100_000 + end
    started = time.process_time()
    plain(text)
    mdx.plain(text)
    cut(text)
    list(links_of(document("article/hostile", text)))
    assert time.process_time() - started < 20
