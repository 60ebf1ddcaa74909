"""Where nothing fits, the answer is empty, says so, and names what is nearest."""

from __future__ import annotations

import numpy as np
import pytest

from gateway.contract import Tier, ToolFailed
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.readable import reads

NOTHING = "Nothing here fits that. Nearest, though far from it: "
VAIN = "zebra zebra zebra zebra through lions lions lions lions"


async def bread(base, make) -> None:
    await base.put(
        make("practice/bread", "Flour and water and patience. See E-4711.", title="Bread"),
        make("tag/sour", "Old dough raises new dough.", title="Sourdough", tier=Tier.MEMBERS),
    )


async def asked(base, question: str, tier: Tier = Tier.MEMBERS, **more):
    return await base.knowledge.search(question, SearchFilters(), tier, **more)


@pytest.mark.parametrize("by_meaning", [True, False])
async def test_what_nothing_answers_has_no_results_and_the_nearest_are_named(
    open_base, embedder, make, by_meaning: bool
) -> None:
    base = await open_base(embedder=embedder if by_meaning else None)
    await bread(base, make)
    question = f"patience {VAIN}"
    found = await asked(base, question)
    assert found.results == []
    assert found.note.startswith(NOTHING)
    assert "Bread (practice/bread)" in found.note
    assert (await asked(base, question, documents=True)).results == []
    without = await asked(base, question, floor=False)
    assert "bread" in [one.id for one in without.results]


async def test_nothing_is_named_that_the_caller_may_not_see(base, make) -> None:
    await bread(base, make)
    assert "tag/sour" in (await asked(base, f"dough {VAIN}")).note
    assert "our" not in (await asked(base, f"dough {VAIN}", Tier.OPEN)).note.removeprefix(NOTHING)


async def test_what_fits_is_an_answer_and_keeps_what_stands_beside_it(base, make) -> None:
    await bread(base, make)
    found = await asked(base, "flour and water")
    assert [one.id for one in found.results] == ["bread", "sour"]
    assert found.note is None


async def test_what_says_every_word_fits_however_far_its_meaning_seems(
    open_base, word_embedder, make
) -> None:
    """And it stands alone: what is nearer and says less is no answer."""
    base = await open_base(embedder=word_embedder(word3="air"))
    filler = " ".join(f"word{number}" for number in range(150))
    near = [make(f"practice/near{n}", f"{filler} air {filler}", title=f"Near {n}") for n in "abc"]
    await base.put(make("practice/long", f"{filler} e4711 {filler}", title="Long"), *near)
    found = await asked(base, "word3 e4711")
    assert [one.id for one in found.results] == ["long"]
    assert found.results[0].score < 0.22


async def test_by_words_alone_one_common_word_is_no_answer_and_half_of_them_are(
    open_base, make
) -> None:
    base = await open_base(embedder=None)
    await bread(base, make)
    assert (await asked(base, "patience with neighbours nearby")).results == []
    assert [one.id for one in (await asked(base, "water for guests")).results] == ["bread"]


class EverythingIsNear:
    """To a model that cannot read them, all texts of a script are alike."""

    dimensions = 4

    def __init__(self, model: str) -> None:
        self.model = model
        self.read: list[str] = []

    async def passages(self, texts):
        self.read += texts
        return np.full((len(texts), 4), 0.5, dtype=np.float32)

    async def query(self, text):
        return np.full(4, 0.5, dtype=np.float32)


UNREAD = "cannot read the script of the question: results are found by words alone."
LEAVE = "病気休暇のときは上司に連絡します。"


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("ピザの作り方", False),  # how to make pizza
        (
            "病気で休むとき連絡は何時",
            True,
        ),  # when to call in sick
        ("上司に連絡", True),
        ("كيف أطبخ الكبسة", False),
        (
            "как сварить борщ",
            False,
        ),
    ],
)
async def test_a_question_that_the_model_cannot_read_is_judged_by_its_words(
    open_base, make, question: str, answers: bool
) -> None:
    base = await open_base(embedder=EverythingIsNear("minilm-l6-v2-int8-0"))
    await base.put(make("article/leave", LEAVE, title="休暇"))
    found = await asked(base, question)
    assert [one.id for one in found.results] == ["leave"] * answers
    assert found.mode == "keyword"
    assert UNREAD in found.note
    assert answers or found.note.startswith("Nothing here fits that.")


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Как и когда сварить борщ?", False),
        ("Кто выиграл чемпионат мира до войны?", False),
        ("Як та коли варити борщ?", False),
        ("Кто пишет руководителю?", True),
        ("отпуск", True),
    ],
)
async def test_words_of_every_sentence_answer_no_question_that_the_model_cannot_read(
    open_base, make, question: str, answers: bool
) -> None:
    base = await open_base(embedder=EverythingIsNear("minilm-l6-v2-int8-0"))
    said = "Как и когда взять отпуск: кто болен, пишет руководителю до девяти утра."
    await base.put(make("article/leave", said, title="Отпуск"))
    assert [one.id for one in (await asked(base, question)).results] == ["leave"] * answers


async def test_what_a_model_cannot_read_is_near_to_nothing(open_base, make) -> None:
    """Neither is a document in another script near to a question, nor such a question to any."""
    model = EverythingIsNear("minilm-l6-v2-int8-0")
    base = await open_base(embedder=model)
    hose = make("article/hose", "Hoses are to be rolled up.", title="Garden")
    await base.put(make("article/leave", LEAVE, title="休暇"), hose)
    assert [one.id for one in (await asked(base, "garden hose")).results] == ["hose"]
    assert [one.id for one in (await asked(base, "上司に連絡")).results] == ["leave"]
    assert await base.knowledge.index.collection.count([]) == 4
    assert not any(LEAVE in one for one in model.read)
    stock = await base.knowledge.index.stock()
    documents = await base.knowledge.store.documents(["article/leave", "article/hose"], Tier.OPEN)
    assert [fault for one in documents for fault in stock.compare(one)] == []


async def test_a_model_for_all_scripts_judges_by_meaning(open_base, make) -> None:
    base = await open_base(embedder=EverythingIsNear("multilingual-e5-small-int8-0"))
    await base.put(make("article/leave", LEAVE, title="休暇"))
    assert (await asked(base, "ピザの作り方")).results


@pytest.mark.parametrize(
    ("model", "text", "can"),
    [
        ("minilm-l6-v2-int8-9bbfcafb76", "Wer hat gewonnen?", True),
        ("minilm-l6-v2-int8-9bbfcafb76", "4711", True),
        ("minilm-l6-v2-int8-9bbfcafb76", "DAO 予算", True),
        ("minilm-l6-v2-int8-9bbfcafb76", "DAOの予算配分", False),
        ("fastembed:BAAI/bge-small-en-v1.5+abc", "予算", False),
        ("fastembed:BAAI/bge-small-zh-v1.5", "予算", True),
        ("paraphrase-multilingual-MiniLM-L12-v2-0", "予算", True),
        ("some-encoder-0", "予算", True),
    ],
)
def test_a_model_for_english_reads_latin_letters(model: str, text: str, can: bool) -> None:
    assert reads(model, text) is can


async def test_signs_without_a_word_mean_nothing(base, make) -> None:
    await base.put(make("tag/one", "Compost feeds the beds."), make("tag/two", "\U0001f331 Seeds."))
    assert (await asked(base, "\U0001f331")).results == []


async def test_an_empty_base_says_that_nothing_fits(base) -> None:
    assert (await asked(base, "anything")).note == "Nothing here fits that."
    with pytest.raises(ToolFailed):
        await asked(base, " ")


class LittleIsNear(EverythingIsNear):
    """To some models all texts of a language are a little alike."""

    async def query(self, text):
        near = 0.27
        return np.array([near, (1 - near**2) ** 0.5, 0, 0], dtype=np.float32)

    async def passages(self, texts):
        return np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(texts), 1))


ON_LEAVE = {
    "Leave": "Whoever is ill on a working day writes to the head of their team.",
    "Permisos": "Quien falta por enfermedad avisa a la persona que coordina su grupo.",
    "\u041e\u0442\u043f\u0443\u0441\u043a": "\u0417\u0430\u0431\u043e\u043b\u0435\u043b.",
    "\u4f11\u6687": LEAVE,
}


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How do I make an omelette?", "Leave"),
        ("omelette recipe", "Leave"),
        ("\u00bfC\u00f3mo se hace una tortilla?", "Permisos"),
        ("\u0431\u043e\u0440\u0449", "\u041e\u0442\u043f\u0443\u0441\u043a"),
        ("\u30d4\u30b6\u306e\u4f5c\u308a\u65b9", "\u4f11\u6687"),
    ],
)
async def test_texts_of_one_language_have_to_be_nearer_with_e5(
    open_base, make, question: str, title: str
) -> None:
    base = await open_base(embedder=LittleIsNear("multilingual-e5-small-int8-0"))
    await base.put(make("practice/own", ON_LEAVE[title], title=title))
    assert (await asked(base, question, facets=True)).matching == 0
    assert (await asked(base, question)).results == []
    other = "Leave" if title != "Leave" else "\u4f11\u6687"
    await base.remove("practice/own")
    await base.put(make("practice/other", ON_LEAVE[other], title=other))
    assert (await asked(base, question)).results != []


async def test_with_another_model_texts_of_one_language_are_as_near_as_others(
    open_base, make
) -> None:
    base = await open_base(embedder=LittleIsNear("some-encoder-0"))
    await base.put(make("practice/own", ON_LEAVE["Leave"], title="Leave"))
    assert (await asked(base, "How do I make an omelette?")).results != []
