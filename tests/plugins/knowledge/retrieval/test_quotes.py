"""The passages that are shown hold what was asked, by words and by meaning together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.passages import MAX_CHARACTERS, MAX_FOLLOWING
from tests.plugins.knowledge.retrieval.conftest import Base

FILLER = "Nothing of note happened in the long season that came before it. " * 7
OPEN = SearchFilters()


def sections(**texts: str) -> str:
    """A note with a section for each text, long enough to be a passage of its own."""
    return "\n\n".join(f"## {name}\n\n{text} {FILLER}" for name, text in texts.items())


async def test_a_passage_that_says_what_was_asked_goes_before_one_that_is_near(
    open_base: Callable[..., Any], word_embedder: Callable[..., Any], make: Callable[..., Any]
) -> None:
    """A rare word decides where the model takes several passages for the same."""
    base = await open_base(embedder=word_embedder(stipend="pay", wage="pay", salary="pay"))
    await base.put(
        make(
            "pattern/pay", sections(A="Salary wage.", B="Ask Zebulon.", C="The stipend of Zebulon.")
        )
    )
    (result,) = (await base.knowledge.search("stipend Zebulon", OPEN, Tier.OPEN)).results
    assert result.section == ["C"]
    assert "stipend of Zebulon" in result.passage


async def test_several_passages_of_one_document_are_shown(
    base: Base, make: Callable[..., Any]
) -> None:
    await base.put(
        make("pattern/river", sections(A="The river floods.", B="The river floods.", C="x"))
    )
    (result,) = (await base.knowledge.search("river floods", OPEN, Tier.OPEN)).results
    assert result.section == ["A"]
    assert result.passages is not None
    assert result.passages[0].section == ["B"]
    assert all(len(one.text) <= 500 for one in result.passages)
    assert len(result.passages) <= 2


async def test_the_shown_passage_is_whole(base: Base, make: Callable[..., Any]) -> None:
    await base.put(make("pattern/long", sections(A="The lighthouse is old.")))
    (result,) = (await base.knowledge.search("lighthouse", OPEN, Tier.OPEN)).results
    assert 450 < len(result.passage or "") <= MAX_CHARACTERS


async def test_a_passage_goes_on_where_the_cut_parted_what_was_said_from_the_answer(
    base: Base, make: Callable[..., Any]
) -> None:
    """What the model reads at once ends in the middle of a section, and the answer comes next."""
    parted = f"The lighthouse was sold. {FILLER}{FILLER[:380]}The buyer was Zebulon. {FILLER}"
    await base.put(make("pattern/sold", f"## Sale\n\n{parted}\n\n## Later\n\n{FILLER}"))
    (result,) = (await base.knowledge.search("who bought the lighthouse", OPEN, Tier.OPEN)).results
    assert "The buyer was Zebulon." in (result.passage or "")[MAX_CHARACTERS - 60 :]
    assert len(result.passage or "") <= MAX_CHARACTERS + 1 + MAX_FOLLOWING


async def test_passages_that_are_both_shown_and_follow_each_other_are_one(
    base: Base, make: Callable[..., Any]
) -> None:
    river = "The river floods the meadow. " * 29
    await base.put(make("pattern/river", f"## Flood\n\n{river}\n\n{river}It ends here."))
    (result,) = (await base.knowledge.search("river floods", OPEN, Tier.OPEN)).results
    assert (result.passage or "").endswith("It ends here.")
    assert result.passages is None


async def test_a_document_without_prose_has_no_passage(
    base: Base, make: Callable[..., Any]
) -> None:
    await base.put(make("link/atlas", "", title="Atlas of rivers"))
    (result,) = (await base.knowledge.search("atlas of rivers", OPEN, Tier.OPEN)).results
    assert result.passage is None
    assert result.section is None
    assert result.passages is None


async def test_beside_a_long_document_the_others_have_their_passages(
    base: Base, make: Callable[..., Any]
) -> None:
    long = sections(**{f"Part{n}": "The river floods." for n in range(60)})
    await base.put(
        make("pattern/river", long),
        make("pattern/brook", sections(Brook="A river may flood. It floods.")),
        make("link/flood", "", title="River floods"),
    )
    found = (await base.knowledge.search("river floods", OPEN, Tier.OPEN)).results
    shown = {one.id: one.section for one in found}
    assert shown["river"] is not None
    assert shown["brook"] == ["Brook"]
    assert shown["flood"] is None


GUIDE = """
Ask the caretaker first.

## Watering

Hoses are rolled up after use.

## Keys

Collect them at the bakery. Keys and hoses are lent for a week.

### Lost keys

A new one costs 60 euro.
"""


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("Hoses are rolled up after use.", ["Watering"]),
        ("Keys and hoses are lent for a week.", ["Keys"]),
        ("lost keys", ["Keys", "Lost keys"]),
        ("keys", ["Keys"]),
        ("a new key costs 60 euro", ["Keys", "Lost keys"]),
        ("ask the caretaker first", None),
    ],
)
async def test_of_several_short_sections_the_one_that_says_it_is_cited(
    base: Base, make: Callable[..., Any], question: str, section: list[str] | None
) -> None:
    await base.put(make("article/garden", GUIDE, title="Garden"))
    (result,) = (await base.knowledge.search(question, OPEN, Tier.OPEN)).results
    assert "Hoses" in (result.passage or "")
    assert "60 euro" in (result.passage or "")
    assert result.section == section


async def test_a_section_is_cited_for_other_forms_of_a_word_as_its_language_has_them(
    base: Base, make: Callable[..., Any]
) -> None:
    text = "## Residuos\n\nVan a la caja.\n\n## Riego\n\nLas mangueras deben recogerse."
    await base.put(make("article/huerto", text, title="Huerto", lang="es"))
    (result,) = (await base.knowledge.search("recoger manguera", OPEN, Tier.OPEN)).results
    assert result.section == ["Riego"]


async def test_a_passage_of_short_sections_shows_their_headings(
    base: Base, make: Callable[..., Any]
) -> None:
    options = "## Options\n\n### --quiet\n\nPrints less.\n\n### --loud\n\nPrints more.\n"
    await base.put(make("file/cli", options))
    (result,) = (await base.knowledge.search("is it loud?", OPEN, Tier.OPEN)).results
    assert result.passage == "--quiet\nPrints less.\n\n--loud\nPrints more."
    assert result.section == ["Options", "--loud"]
