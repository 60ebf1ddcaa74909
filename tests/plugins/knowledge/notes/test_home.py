"""A site's home page is read as what its frontmatter shows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from plugins.knowledge.notes.note import Note, Origin, Rules, parse
from plugins.knowledge.notes.paths import PATH_TYPES


def note_of(text: str) -> Note:
    origin = Origin("index.md", "index.md", datetime(2020, 1, 2, tzinfo=UTC))
    return parse(text.encode(), origin, Rules(PATH_TYPES, {}))


def test_a_home_page_says_what_stands_in_its_frontmatter() -> None:
    read = note_of(
        "---\nlayout: home\nhero:\n  name: Kite\n  text: Kite flying club\n  tagline: On Sundays\n"
        "  actions: [{text: Go}]\nfeatures:\n  - {title: Free strings, details: Lent at the hut}\n"
        "  - {icon: x}\n  - none\n---\nMore words."
    ).document
    assert read is not None
    assert read.metadata.title == "Kite"
    assert read.content == (
        "# Kite\n\nKite flying club\n\nOn Sundays\n\n"
        "## Free strings\n\nLent at the hut\n\nMore words."
    )


@pytest.mark.parametrize("front", ["features: [{title: A}]", "hero: big", "hero: {image: x}"])
def test_a_page_that_is_no_home_page_stays_as_it_is(front: str) -> None:
    document = note_of(f"---\n{front}\n---\nWords.").document
    assert document is not None
    assert document.content == "Words."
