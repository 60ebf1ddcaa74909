"""What the graph contradicts of an answer is told to whoever gave it."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.codegraph.justification.opinions.claims import Claims
from plugins.codegraph.justification.opinions.contradictions import contradictions

FACTS: dict[str, Any] = {"sideEffects": None, "entryPoint": None, "knownConsumers": ["Orders"]}
CLAIM = {"entity": 1, "purpose": "It does.", "businessValue": "A need.", "confidence": 0.5}


def told(claims: list[dict[str, Any]], **facts: Any) -> list[str]:
    """What is wrong with claims on one entity."""
    context = {"entities": [{"entity": 1, "facts": FACTS | facts}]}
    found = Claims.model_validate({"entities": [CLAIM | each for each in claims]})
    return list(contradictions(found, context))


@pytest.mark.parametrize(
    ("claim", "facts", "wrong"),
    [
        ({"type": "UTILITY"}, {"sideEffects": "a.py:3"}, "no side effects, and it has one: a.py:3"),
        ({"type": "UTILITY"}, {"entryPoint": "GET /x"}, "not started from outside, and it is"),
        ({"type": "VERTICAL"}, {}, "needs its featureArea"),
        ({"type": "HORIZONTAL"}, {}, "needs its technologyType"),
        (
            {"type": "HORIZONTAL", "technologyType": "cache", "consumers": ["Billing"]},
            {},
            "the consumer Billing calls nothing of it",
        ),
        ({"type": "UTILITY", "entity": 2}, {}, "entity 1: nothing is said of it"),
    ],
)
def test_what_is_contradicted_is_named(
    claim: dict[str, Any], facts: dict[str, Any], wrong: str
) -> None:
    assert any(wrong in each for each in told([claim], **facts))


@pytest.mark.parametrize(
    "claim",
    [
        {"type": "UTILITY"},
        {"type": "VERTICAL", "featureArea": "Orders"},
        {"type": "HORIZONTAL", "technologyType": "cache", "consumers": ["orders"]},
    ],
)
def test_what_the_graph_allows_is_believed(claim: dict[str, Any]) -> None:
    assert told([claim]) == []


def test_an_entity_is_spoken_of_once() -> None:
    found = told([{"type": "UTILITY"}, {"type": "UTILITY"}])
    assert found == ["entity 1: say something of it once, and only if it is in the context"]
