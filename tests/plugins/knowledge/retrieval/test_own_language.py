"""A question is answered first by the documents that are in its language."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.own_language import W_OTHER_LANGUAGE
from tests.plugins.knowledge.retrieval.test_foreign_questions import HalfwayNear

READS_ALL = "multilingual-e5-small"
READS_ENGLISH = "minilm-l6-v2-int8-0"
PAGES = {
    "en": "A vault is a folder of your files, and it is on the disk that you chose for it.",
    "de": "Ein Vault ist der Ordner, in dem alle Dateien liegen, und der Vault ist ein Vault.",
    "es": "Un vault es la carpeta de los archivos: el vault est\u00e1 en el disco.",
}


QUESTION = "What is a vault, and where is it?"


async def opened(open_base, make, model: str, *languages: str) -> Any:
    base = await open_base(embedder=None if model == "none" else HalfwayNear(model))
    await base.put(*(make(f"article/{one}", PAGES[one], title="Vault") for one in languages))
    return base


async def found(base: Any, question: str, **how: Any) -> dict[str, float]:
    answer = await base.knowledge.search(question, SearchFilters(**how), Tier.OPEN)
    return {one.id: one.score for one in answer.results}


def unweighed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.knowledge.retrieval.own_language.W_OTHER_LANGUAGE", 1.0)


@pytest.mark.parametrize("model", [READS_ENGLISH, READS_ALL, "none"])
@pytest.mark.parametrize(
    ("question", "own"),
    [
        (QUESTION, "en"),
        ("Was ist ein Vault und wo liegt er?", "de"),
        ("\u00bfQu\u00e9 es un vault y d\u00f3nde est\u00e1?", "es"),
    ],
)
async def test_of_one_page_in_several_languages_the_askers_own_is_first(
    open_base, make, question: str, own: str, model: str
) -> None:
    base = await opened(open_base, make, model, *PAGES)
    assert next(iter(await found(base, question))) == own
    assert next(iter(await found(base, question, as_of="2100-01-01"))) == own


@pytest.mark.parametrize(
    ("question", "languages"),
    [
        ("vault", ("de", "es")),
        (QUESTION, ("de", "es")),
        ("Was ist ein Vault und wo liegt er?", ("de",)),
    ],
)
async def test_nothing_is_weighed_where_no_document_is_in_the_language_or_it_is_not_told(
    open_base, make, question: str, languages: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = await opened(open_base, make, READS_ALL, *languages)
    weighed = await found(base, question)
    unweighed(monkeypatch)
    assert weighed == await found(base, question)
    assert set(weighed) == set(languages)


async def test_an_answer_in_another_language_is_found_and_counts_less(
    open_base, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = await opened(open_base, make, READS_ALL, *PAGES)
    weighed = await found(base, QUESTION)
    unweighed(monkeypatch)
    equally = await found(base, QUESTION)
    for one in PAGES:
        share = 1.0 if one == "en" else W_OTHER_LANGUAGE
        assert weighed[one] == pytest.approx(equally[one] * share, abs=1e-3)
