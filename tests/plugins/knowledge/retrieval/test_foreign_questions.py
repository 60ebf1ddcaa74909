"""Questions in another language than the model's: its cosines count where a word is shared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmarks.library import library
from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.foreign_questions import NOTE, ForeignQuestion
from plugins.knowledge.retrieval.own_language import W_OTHER_LANGUAGE
from tests.plugins.knowledge.retrieval.test_floor import EverythingIsNear


class HalfwayNear(EverythingIsNear):
    """To it every text is as near to every question, and none is the question itself."""

    async def query(self, text):
        return np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32)


ENGLISH = "minilm-l6-v2-int8-0"
BASES = yaml.safe_load((Path(__file__).parent / "foreign_bases.yaml").read_text())
DUES = "Der Mitgliedsbeitrag ist zw\u00f6lf Euro im Jahr."
HALL = "Der gro\u00dfe Saal ist f\u00fcr neunzig Personen."
KEYS = "The keys of the hall are in the office."


@pytest.mark.parametrize("language", BASES)
async def test_what_a_base_in_another_language_does_not_answer_has_no_answer(
    tmp_path: Path, language: str
) -> None:
    """And what it answers is found first. The README has these numbers."""
    base, content = BASES[language], tmp_path / "content"
    content.mkdir()
    for name, text in base["documents"].items():
        (content / f"{name}.md").write_text(f"---\npublish: true\n---\n{text}")
    async with library(content, tmp_path) as opened:
        await opened.sync.run()

        async def found(question: str) -> list[str]:
            answer = await opened.knowledge.search(question, SearchFilters(), Tier.MEMBERS)
            return [one.id for one in answer.results]

        fitting = [await found(question) for question in base["fitting"]]
        assert [one[:1] for one in fitting] == [[one] for one in base["fitting"].values()]
        vain = [await found(question) for question in base["vain"]]
        assert vain.count([]) >= 3 / 4 * len(vain)


async def put(open_base, make, model: str = ENGLISH):
    """A base in two languages, to whose model all texts are alike."""
    base = await open_base(embedder=HalfwayNear(model))
    documents = {"dues": DUES, "hall": HALL, "keys": KEYS}
    await base.put(*(make(f"article/{id}", text) for id, text in documents.items()))
    return base


async def asked(base, question: str, **more):
    return await base.knowledge.search(question, SearchFilters(), Tier.OPEN, **more)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Wie hoch ist der Beitrag?", "dues"),
        ("Wie viele Personen passen in den Saal?", "hall"),
        ("Wie gross ist der Saal?", "hall"),
        ("Was kostet ein Jahr?", "dues"),
    ],
)
async def test_a_word_that_both_have_or_a_part_of_one_leads(
    open_base, make, question: str, first: str
) -> None:
    base = await put(open_base, make)
    found = await asked(base, question)
    foreign = [one.id for one in found.results if one.id != "keys"]
    assert foreign[0] == first
    scores = {one.id: one.score for one in found.results}
    assert scores[first] > 2 * scores[next(one for one in foreign if one != first)]
    assert (found.mode, found.note) == ("hybrid", NOTE)


async def test_function_words_are_no_word_in_common(open_base, make) -> None:
    base = await open_base(embedder=HalfwayNear(ENGLISH))
    await base.put(make("article/dues", DUES), make("article/hall", HALL))
    found = await asked(base, "Wie ist der Weg f\u00fcr ein Fahrrad im Wald?", facets=True)
    assert (found.results, found.matching) == ([], 0)
    assert found.note.startswith("Nothing here fits that. Nearest, though far from it:")
    assert found.note.endswith(NOTE)
    found = await asked(base, "Was ist der Beitrag im Jahr?", facets=True)
    assert (found.results[0].id, found.matching) == ("dues", 1)


@pytest.mark.parametrize(
    ("model", "question", "others"),
    [
        (ENGLISH, "How do I repair a bicycle?", {"dues", "hall"}),
        (ENGLISH, "Fahrrad", set()),
        (ENGLISH, "Fahrrad Reparatur Anleitung", set()),  # no language is told
        ("multilingual-e5-small-int8-0", "Wie repariere ich ein Fahrrad?", {"keys"}),
    ],
)
async def test_other_questions_and_models_are_judged_by_meaning(
    open_base, make, model: str, question: str, others: set[str]
) -> None:
    """What is in another language comes after, and is an answer as the others are."""
    base = await put(open_base, make, model)
    found = await asked(base, question)
    own = max(one.score for one in found.results)
    for one in found.results:
        share = W_OTHER_LANGUAGE if one.id in others else 1.0
        assert one.score == pytest.approx(own * share, abs=1e-3)
    assert (len(found.results), found.note) == (3, None)


async def test_english_documents_are_judged_by_meaning_whatever_is_asked(open_base, make) -> None:
    base = await put(open_base, make)
    found = await asked(base, "Wie repariere ich ein Fahrrad?")
    assert found.results[0].id == "keys"
    assert found.results[0].score > 2 * found.results[1].score


@pytest.mark.parametrize(
    ("question", "text", "shared"),
    [
        ("Combien co\u00fbte l'adh\u00e9sion ?", "Pas d'adh\u00e9sion.", True),
        ("Combien co\u00fbte l\u2019atelier ?", "Pas d'adh\u00e9sion.", False),
        ("Wo ist das Rad?", "Das Rad steht da.", True),
        ("Wie ist der Code?", "Der Torcode steht da.", True),
        ("Wo ist das Rad?", "Das Kamerad steht da.", False),
        ("Wo ist der Raum 7?", "Die 7 ist oben.", True),
    ],
)
def test_what_counts_as_a_word_in_common(question: str, text: str, shared: bool) -> None:
    foreign = ForeignQuestion.of(ENGLISH, question)
    assert foreign is not None
    assert (foreign.weight(text, "fr") == 1.0) is shared


def test_a_question_of_which_no_word_is_left_is_asked_as_ever() -> None:
    assert ForeignQuestion.of(ENGLISH, "Wie ist das?") is None


def test_what_a_text_too_short_for_the_index_says_tells_its_language() -> None:
    foreign = ForeignQuestion.of(ENGLISH, "Hoe repareer ik een fiets?")
    assert foreign is not None
    assert foreign.weight("Het lidmaatschap kost twintig euro per jaar.", "en") < 1
    assert foreign.weight("Membership is twenty euros a year.", "en") == 1


@pytest.mark.parametrize(
    ("question", "shares", "other"),
    [
        ("где я живу?", "Теперь я живу в Казани.", "Собрание теперь по средам."),
        ("когда собрание?", "Собрание теперь по средам.", "Я живу в Москве."),
        ("会議はいつですか", "会議は月曜日です。", "私は東京に住んでいます。"),
        ("担当者は誰ですか", "担当者は田中さんです。", "参加者は十人です。"),
        ("私はどこに住んでいますか", "私は東京に住んでいます。", "会議は月曜日です。"),
        ("我住在哪里", "我住在北京。", "会员费每年四十欧元。"),
        ("회의는 언제입니까?", "회의는 월요일입니다.", "저는 서울에 삽니다."),
    ],
)
def test_in_letters_that_the_model_cannot_read_words_tell_what_is_near(
    question: str, shares: str, other: str
) -> None:
    foreign = ForeignQuestion.of(ENGLISH, question)
    assert foreign is not None
    assert foreign.weight(shares) == 1.0
    assert foreign.weight(other) == foreign.weight("The meeting is on Monday.") < 1.0
    german = ForeignQuestion.of(ENGLISH, "Wie hoch ist die Miete?")
    assert german is not None
    assert german.weight(shares) < 1.0
    assert ForeignQuestion.of("a-multilingual-model", question) is None
