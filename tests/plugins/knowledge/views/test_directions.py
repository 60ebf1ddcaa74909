"""Texts that read from the right: every page marks them, so that a browser orders them rightly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from tests.plugins.knowledge.views.directions import Reader
from tests.servers.github_history import History

TITLE, WORD, TERM = "מים משותפים", "באר", "מדריך"
NOTE = f"""---
title: {TITLE}
description: מי שותה מן הבאר
type: article
group: שכנים
release: חורף
tags: [מים]
supersededBy: {TERM}
publish: true
---
# כללים

כולם שותים מן ה{WORD}. ראו [[{TERM}]], [כאן](./אין.md).
"""
LEXICON = f"""---
title: {TERM}
type: tag
aliases: [מורה]
relatedTerms: [{TITLE}]
publish: true
---
ספר על [[{WORD}]].
"""
BESIDE = (
    "---\ntitle: The well\ntype: article\ngroup: cooks\ntags: [a]\npublish: true\n---\nA hole.\n"
)
PAGES = {
    f"search?query={WORD}": TITLE,
    f"search?query={WORD}&facets=true": TITLE,
    f"search?query={WORD}&facets=true&filters.tags=מים": "מים",
    "documents": TITLE,
    f"document?contentType=article&id={WORD}": TITLE,
    f"history?contentType=article&id={WORD}": TITLE,
    f"related?contentType=article&id={WORD}": TERM,
    "map": TITLE,
    "map?tag=מים": TITLE,
    f"lexicon?keyword={TERM}": TERM,
    "groups": "שכנים",
    "releases": "חורף",
}
"""The views that show a document's own words, and some that each has to show."""


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncIterator[TestPortal]:
    history = History.begun(tmp_path / "notes")
    history.commit({f"כפר/{WORD}.md": NOTE.replace(TITLE, "ישן").encode()}, message="ראשון")
    notes = {f"{WORD}.md": NOTE, f"{TERM}.md": LEXICON, "well.md": BESIDE}
    gone: dict[str, bytes | None] = {f"כפר/{WORD}.md": None}
    history.commit(gone | {path: text.encode() for path, text in notes.items()}, message="שני")
    source = {"directory": str(tmp_path / "notes"), "tier": "open"}
    config = {
        "services": {"embedding": "none"},
        "plugins": {"knowledge": {"sources": [source]}},
    }
    async with open_test_portal(plugin, config=config, tiers={"default": "open"}) as opened:
        yield opened


async def test_every_view_marks_what_documents_say_so_that_it_reads_in_its_own_direction(
    portal: TestPortal,
) -> None:
    http = portal.http("members")
    for path, said in PAGES.items():
        answer = await http.get(f"/knowledge/{path}")
        assert answer.status_code == 200, path
        read = Reader(answer.text)
        assert any(said in text for text in read.marked), (path, read.marked)
        assert read.unmarked == [], path
