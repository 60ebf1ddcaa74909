"""Where nothing fits, the answer is empty, says so, and names what is nearest."""

from __future__ import annotations

import pytest

from gateway.contract import Tier, ToolFailed
from plugins.knowledge.retrieval.filters import SearchFilters

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
    base = await open_base(embedder=word_embedder(bread="air"))
    filler = " ".join(f"word{number}" for number in range(150))
    await base.put(make("practice/long", f"{filler} e4711 {filler}", title="Long"))
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


async def test_signs_without_a_word_mean_nothing(base, make) -> None:
    await base.put(make("tag/one", "Compost feeds the beds."), make("tag/two", "\U0001f331 Seeds."))
    assert (await asked(base, "\U0001f331")).results == []


async def test_an_empty_base_says_that_nothing_fits(base) -> None:
    assert (await asked(base, "anything")).note == "Nothing here fits that."
    with pytest.raises(ToolFailed):
        await asked(base, " ")
