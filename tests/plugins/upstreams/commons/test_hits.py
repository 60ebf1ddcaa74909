"""Whatever shape a server's search answers in, its results are read, and nothing is made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plugins.upstreams.commons.hits import MAX_HITS, MAX_TEXT_CHARACTERS, Hit, hits_of

TRUST = Hit("Trust", "https://a.example/trust", "", "Trust grows slowly.", "CC0")
ENTRY = {
    "title": "Trust",
    "url": "https://a.example/trust",
    "snippet": "Trust grows slowly.",
    "license": "CC0",
}


@pytest.mark.parametrize(
    "result",
    [
        {"structuredContent": {"total": 1, "results": [ENTRY]}},
        {"structuredContent": {"tags": [], "results": [ENTRY]}},
        {"structuredContent": {"found": [ENTRY]}},
        {"structuredContent": [ENTRY]},
        {"content": [{"type": "text", "text": json.dumps({"results": [ENTRY]})}]},
        {
            "content": [
                {"type": "text", "text": "One result:"},
                {
                    "type": "resource_link",
                    "uri": "https://a.example/trust",
                    "name": "Trust",
                    "description": "Trust grows slowly.",
                    "licence": "CC0",
                },
            ]
        },
    ],
)
def test_a_result_is_the_same_in_every_shape(result: Any) -> None:
    assert hits_of(result) == [TRUST]


def test_a_text_is_one_result() -> None:
    result = {"content": [{"type": "text", "text": "Trust grows."}, {"type": "image", "data": ""}]}
    assert hits_of(result) == [Hit(text="Trust grows.")]


def test_an_empty_list_is_no_result_whatever_the_text_beside_it_says() -> None:
    result = {"structuredContent": {"results": []}, "content": [{"type": "text", "text": "None."}]}
    assert hits_of(result) == []


def test_a_document_keeps_what_its_portal_calls_it() -> None:
    entry = {"title": "Trust", "contentType": "pattern", "id": "trust", "passage": "It grows."}
    assert hits_of({"structuredContent": {"results": [entry]}}) == [
        Hit("Trust", "", "pattern/trust", "It grows.")
    ]


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"content": None},
        {"content": ["text", 7, {"type": "text", "text": 7}, {"type": "resource", "resource": 7}]},
        {"structuredContent": {"results": [7, None, {}, {"title": 5, "url": ["x"]}]}},
        {"structuredContent": 7, "content": [{"type": "text", "text": "  "}]},
    ],
)
def test_what_is_no_result_is_left_out(result: Any) -> None:
    assert hits_of(result) == []


def test_what_is_long_is_cut() -> None:
    many = [{"title": f"t{n}", "text": "a" * 9_000} for n in range(900)]
    hits = hits_of({"structuredContent": {"results": many}})
    assert len(hits) == MAX_HITS
    assert {len(each.text) for each in hits} == {MAX_TEXT_CHARACTERS}
