"""How the signals of a search are weighed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.contract import Hit
from plugins.knowledge.retrieval.relevance import Hits, rank

DOCUMENTS = 11


def by_words(terms: dict[str, float], whole: dict[str, float]) -> Hits:
    """What a store without vectors found, best first."""

    def best_first(scores: dict[str, float]) -> list[Hit]:
        ordered = sorted(scores.items(), key=lambda one: -one[1])
        return [
            Hit(id=key, score=score, payload={"key": key, "text": ""}) for key, score in ordered
        ]

    return Hits([], [], best_first(terms), best_first(whole), frozenset())


@given(rarity=st.floats(0.05, 4.0))
@example(rarity=1.0)
def test_a_passage_that_answers_is_before_a_document_with_every_word_however_rare_these_are(
    rarity: float,
) -> None:
    """The scores that such a pair has in a base of eleven documents, by how rare its words are."""
    found = by_words(
        {"answer": 12.46 * rarity, "hub": 10.66 * rarity},
        {"answer": 7.75 * rarity, "hub": 8.36 * rarity},
    )
    assert [one.key for one in rank("asked", found, DOCUMENTS)] == ["answer", "hub"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("\u652f\u67f1", "\u5ead\u306e\u652f\u67f1\u3092\u76f4\u3059\u3002"),
        ("\u0441\u0430\u0434", "\u041d\u0430\u0448 \u0441\u0430\u0434."),
        ("post", "The post is mended."),
    ],
)
@pytest.mark.parametrize("documents", [1, 4])
def test_a_passage_with_the_very_word_is_before_what_a_model_takes_for_near(
    question: str, text: str, documents: int
) -> None:
    """In the Latin script only where few documents have it; others' words models read poorly."""
    near = Hit(id="1", score=0.5, payload={"key": "near", "ordinal": 1, "text": "x"})
    said = [
        Hit(id=f"s{n}", score=1.0, payload={"key": f"s{n}", "ordinal": 1, "text": text})
        for n in range(documents)
    ]
    found = Hits([near, *(replace(one, score=0.1) for one in said)], [], said, [], frozenset())
    is_common = question == "post" and documents > 3
    assert rank(question, found, DOCUMENTS)[0].key == ("near" if is_common else "s0")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("K\u00fcndigungsfristen", "Die K\u00fcndigungsfristen gelten."),
        ("kundigungsfristen", "Die Ku\u0308ndigungsfristen gelten."),
        ("cl\u00e9s", "Les cl\u00e9s se retirent."),
        ("gr\u00f6\u00dfere", "Gr\u00f6\u00dfere St\u00e4nde kosten mehr."),
        ("\u0439\u043e\u0433\u0430", "\u0423\u0442\u0440\u043e\u043c \u0419\u043e\u0433\u0430."),
        ("\u0451\u0436", "\u042d\u0442\u043e \u0451\u0436."),
        (
            "\u062a\u0633\u0644\u0645",
            "\u062a\u064f\u0633\u0644\u0651\u064e\u0645 \u0627\u0644\u064a\u0648\u0645",
        ),
        (
            "\u0e43\u0e1a\u0e01\u0e33\u0e01\u0e31\u0e1a",
            "\u0e21\u0e35\u0e43\u0e1a\u0e01\u0e33\u0e01\u0e31\u0e1a\u0e20\u0e32\u0e29\u0e35",
        ),
    ],
)
def test_a_word_with_marks_is_found_word_for_word(question: str, text: str) -> None:
    near = Hit(id="1", score=0.5, payload={"key": "near", "ordinal": 1, "text": "x"})
    said = Hit(id="2", score=0.1, payload={"key": "said", "ordinal": 1, "text": text})
    found = Hits([near, said], [], [said], [], frozenset())
    assert rank(question, found, DOCUMENTS)[0].key == "said"


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        ("manguera", "es", "Las mangueras deben recogerse."),
        ("K\u00fcndigungsfrist", "de", "K\u00fcndigungsfristen"),
        ("garden hose", "en", "Garden hoses are rolled up."),
    ],
)
@pytest.mark.parametrize("documents", [1, 4])
def test_a_passage_with_another_form_of_a_rare_word_is_found_by_it(
    question: str, language: str, text: str, documents: int
) -> None:
    near = Hit(id="1", score=0.5, payload={"key": "near", "ordinal": 1, "text": "x"})
    said = [
        Hit(f"s{n}", 0.1, {"key": f"s{n}", "ordinal": 1, "text": text, "language": language})
        for n in range(documents)
    ]
    found = Hits([near, *said], [], said, [], frozenset())
    is_common = documents > 3
    assert rank(question, found, DOCUMENTS)[0].key == ("near" if is_common else "s0")
