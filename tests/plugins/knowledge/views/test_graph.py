"""The picture of what stands around a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.testing import open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.views.graph import neighbourhood

OWN = {"contentType": "file", "id": "hub"}


def document(name: str) -> dict[str, Any]:
    return {"contentType": "file", "id": name, "title": name.title()}


def test_what_leads_to_a_document_stands_before_it_and_what_it_leads_to_behind() -> None:
    answer = {"backlinks": [document("a")], "links": [document("b")], "near": [document("c")]}
    graph = neighbourhood(answer, OWN)
    assert [(each.source, each.target, each.faint) for each in graph.edges] == [
        ("file/a", "file/hub", False),
        ("file/hub", "file/b", False),
        ("file/hub", "file/c", True),
    ]
    assert [each.label for each in graph.nodes] == ["hub", "A", "B", "C"]
    assert graph.nodes[0].kind == "start"


def test_a_document_that_links_back_is_one_box() -> None:
    both = [document("a")]
    graph = neighbourhood({"backlinks": both, "links": both, "near": []}, OWN)
    assert len(graph.nodes) == len(graph.edges) == 2


@pytest.mark.timeout(600)
async def test_the_page_of_a_document_with_ten_thousand_links_stays_small(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    lines = [f"[{number}](missing-{number}.md)" for number in range(10_000)]
    lines += [f"[{number}](page-{number}.md)" for number in range(250)]
    (notes / "hub.md").write_text("---\ntitle: Hub\n---\n" + "\n".join(lines))
    for number in range(250):
        (notes / f"page-{number}.md").write_text(f"# Page {number}\n\n[back](hub.md)\n")
    source = {"directory": str(notes), "tier": "open", "publish": "all"}
    config = {"plugins": {"knowledge": {"sources": [source]}}}
    async with open_test_portal(
        plugin, config=config, tiers={"items": {"knowledge": "open"}}
    ) as portal:
        answer = await portal.http("open").get("/knowledge/related?contentType=file&id=hub")
        assert answer.status_code == 200
        assert len(answer.content) < 200_000
        assert "And 9800 more." in answer.text
        assert "And 50 more." in answer.text
        assert "others are in the lists alone" in answer.text
