"""Tags of the frontmatter and of the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.notes.tags import MAX_TAGS, with_tags


def tags(body: str, written: Any = None, path: str = "a.md", *, inline: bool = True) -> Any:
    fields = {} if written is None else {"tags": written}
    return with_tags(fields, body, path, inline=inline).get("tags")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("Water #garden, and #garden/beds too.", ["garden", "garden/beds"]),
        ("#first\n\nWords\t#last", ["first", "last"]),
        ("# Heading\n## Another #tag", ["tag"]),
        ("- item #a\n    - item in it #b\n\n    1. and #c", ["a", "b", "c"]),
        ("#Grün #日本語 #year2024 #2024-plan", ["Grün", "日本語", "year2024", "2024-plan"]),
        ("#open/ and #open", ["open"]),
        ("Issue #12, C#, [[#Part]], [it](#part), a/#b, &#35; and (#no).", None),
        ("`#code` and ``a #code`` but #text", ["text"]),
        ("```\n#include <a>\n```\n~~~\n#b\n~~~\n", None),
        ("Words:\n\n    #include <a>\n", None),
        ('<span style="color: #fff; x: #abc">x</span> <!-- #hidden -->', None),
    ],
)
def test_a_tag_in_the_text_follows_a_space_and_is_no_code(body: str, found: Any) -> None:
    assert tags(body) == found
    assert tags(body, inline=False) is None


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("a, B", ["a", "B", "c"]),
        (["#a"], ["a", "b", "c"]),
        ([], ["b", "c"]),
        ({"not": "tags"}, {"not": "tags"}),
    ],
)
def test_those_of_the_text_come_after_the_written_ones_and_none_twice(
    written: Any, found: Any
) -> None:
    assert tags("#b #c #C", written) == found


def test_words_for_tags_of_jekyll_are_parted_by_spaces() -> None:
    assert tags("Words.", "a b", "_posts/2024-01-01-a.md", inline=False) == ["a", "b"]


def test_a_text_of_nothing_but_tags_gives_only_so_many() -> None:
    assert len(tags(" ".join(f"#tag{n}" for n in range(2 * MAX_TAGS)))) == MAX_TAGS


@given(st.text("#a1/- \n\t`~<>%", max_size=200))
def test_whatever_a_text_is_a_tag_of_it_stands_in_it(body: str) -> None:
    for tag in tags(body) or []:
        assert f"#{tag}" in body
        assert not tag.isdigit()
