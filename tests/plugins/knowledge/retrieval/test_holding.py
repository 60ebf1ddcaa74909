"""What several documents supersede, and what is superseded by what was superseded itself."""

from __future__ import annotations

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters


async def found(base, question: str = "bread", **filters) -> dict[str, str]:
    """What is found, in order, and what is said of it."""
    narrowed = SearchFilters.model_validate({"limit": 20} | filters)
    results = (await base.knowledge.search(question, narrowed, Tier.MEMBERS)).results
    return {one.id: one.standing.text if one.standing else "" for one in results}


async def test_of_two_that_supersede_one_each_is_contested_and_the_later_is_first(
    base, make
) -> None:
    await base.put(
        make("practice/fee", "Bread, bread and bread.", title="Bread"),
        make("practice/a", "Rolls.", date="2024-11-01", supersedes=["practice/fee"]),
        make("practice/b", "Cake.", date="2024-12-01", supersedes=["practice/fee"]),
    )
    seen = await found(base)
    assert list(seen) == ["b", "a", "fee"]
    assert seen["a"] == "contested with practice/b"
    assert seen["b"] == "contested with practice/a"
    asked = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert {(one.entry.id, one.cause) for one in asked} == {("a", "contested"), ("b", "contested")}
    assert asked[0].reason == "it is contested with practice/b"


async def test_of_two_that_supersede_one_none_is_contested_where_one_supersedes_the_other(
    base, make
) -> None:
    await base.put(
        make("practice/fee", "Bread."),
        make("practice/a", "Bread.", supersedes=["practice/fee"]),
        make("practice/b", "Bread.", supersedes=["practice/a", "practice/fee"]),
    )
    seen = await found(base)
    assert (next(iter(seen)), seen["b"]) == ("b", "")
    assert not [one for one, text in seen.items() if "contested" in text]
    assert not base.knowledge.standings.wanting_look(Tier.MEMBERS)


async def test_what_stands_in_one_place_in_the_end_is_contested_and_what_ended_is_not(
    base, make
) -> None:
    await base.put(
        make("practice/fee", "Bread."),
        make("practice/a", "Bread.", supersedes=["practice/fee"]),
        make("practice/b", "Bread.", supersedes=["practice/fee"], superseded_by="practice/c"),
        make("practice/c", "Bread."),
        make("practice/d", "Bread.", supersedes=["practice/fee"], valid_until="2024-12-31"),
        make("practice/e", "Bread.", supersedes=["practice/fee"], valid_from="2999-01-01"),
    )
    seen = await found(base)
    contested = {one: text for one, text in seen.items() if "contested" in text}
    assert contested == {
        "a": "contested with practice/c",
        "c": "contested with practice/a",
    }


async def test_in_a_chain_each_comes_behind_what_replaced_it(base, make) -> None:
    await base.put(
        make("practice/chain1", "Bread, bread, bread.", title="Bread", superseded_by="chain2"),
        make("practice/chain2", "Some rolls, and a little bread.", superseded_by="chain3"),
        make("practice/chain3", "Rolls."),
        *(make(f"practice/other{each}", "Bread and boats.") for each in range(3)),
    )
    seen = [one for one in await found(base) if one.startswith("chain")]
    assert seen == ["chain3", "chain2", "chain1"]


async def test_what_is_superseded_on_the_way_is_not_found_by_what_it_replaced(
    open_base, make
) -> None:
    base = await open_base(embedder=None)
    await base.put(
        make("practice/chain1", "Bread.", superseded_by="chain2"),
        make("practice/chain2", "Cake.", superseded_by="chain3"),
        make("practice/chain3", "Rolls."),
    )
    assert list(await found(base)) == ["chain3", "chain1"]
