"""Families of prompts: one item each, whose prompts' names all begin alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import NAME
from gateway.catalog.refusals import NotAllowed
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.config.tiers_file import check_keys, parse_rules
from gateway.contract import Offer, Prompt, PromptFamily, Tool
from gateway.errors import NotFound
from gateway.surfaces.admin.tiers_diff import item_changes

CALLERS = {tier: Caller(person=None, tier=tier) for tier in Tier}


async def _nothing(*_: Any) -> Any:
    return ()


def family(name: str, **more: Any) -> PromptFamily:
    return PromptFamily(name, "A family.", _nothing, _nothing, **more)


def prompt(name: str) -> Prompt:
    return Prompt(name, "A prompt.", _nothing)


def catalog_of(*offers: Offer, alias: Any = None, rules: TierRules | None = None) -> Catalog:
    """The offers of the plugins one, two, ... with the last one's names changed by the alias."""
    catalog = Catalog(rules or parse_rules(b"default: open", "tiers.yaml"))
    for name, offer in zip(("one", "two", "three"), offers, strict=False):
        catalog.add(name, offer, alias if offer is offers[-1] else None)
    return catalog


def aside(catalog: Catalog) -> list[str]:
    return [str(each) for each in catalog.set_aside]


@pytest.mark.parametrize(
    "name", ["*", "day", "day-", "d*y-*", "däy-*", "day-**", "d" * 45 + "*", ""]
)
def test_a_family_whose_name_is_no_beginning_is_set_aside(name: str) -> None:
    catalog = catalog_of(Offer(prompt_families=[family(name), family("good-*")]))
    (told,) = aside(catalog)
    assert told.startswith(f"one/{name}: the name {name!r} must match")
    assert [item.name for item in catalog.listed("family", CALLERS[Tier.OPEN])] == ["good-*"]


@pytest.mark.parametrize("held", ["day-*", "day-long-*", "d*"])
def test_a_family_gives_way_to_one_that_was_there(held: str) -> None:
    there = Offer(prompt_families=[family(held)])
    catalog = catalog_of(there, Offer(prompt_families=[family("day-*")]))
    (told,) = aside(catalog)
    assert told.startswith(f"two/day-*: one already offers {held!r}")
    assert told.endswith("under plugins: two:, write alias: {day-*: ANOTHER_NAME-*}")


@pytest.mark.parametrize("first", ["family", "prompt"])
def test_a_declared_prompt_goes_before_a_family_that_could_have_its_name(first: str) -> None:
    offers = [Offer(prompt_families=[family("day-*")]), Offer(prompts=[prompt("day-x")])]
    catalog = catalog_of(*(offers if first == "family" else reversed(offers)))
    assert aside(catalog) == []
    assert catalog.prompt("day-x", CALLERS[Tier.OPEN]).kind == "prompt"
    assert catalog.prompt("day-y", CALLERS[Tier.OPEN]).kind == "family"
    whose = catalog.prompt("day-y", CALLERS[Tier.OPEN]).plugin
    assert catalog.prompt("day-x", CALLERS[Tier.OPEN], whose).kind == "family"


def test_a_tool_may_be_called_like_a_family_s_prompts() -> None:
    tool = Tool("day-x", "A tool.", _nothing, input_schema={"type": "object"})
    catalog = catalog_of(Offer(tools=[tool], prompt_families=[family("day-*")]))
    assert aside(catalog) == []


def test_an_alias_mends_a_clash_of_families() -> None:
    offer = Offer(prompt_families=[family("day-*")])
    catalog = catalog_of(
        offer, Offer(prompt_families=[family("day-*")]), alias={"day-*": "night-*"}
    )
    assert aside(catalog) == []
    assert catalog.prompt("night-x", CALLERS[Tier.OPEN]).plugin == "two"
    assert catalog.prompt("day-x", CALLERS[Tier.OPEN]).plugin == "one"


@pytest.mark.parametrize(("theirs", "ours"), [("day-*", "night"), ("greet", "greet-*")])
def test_an_alias_keeps_a_family_a_family(theirs: str, ours: str) -> None:
    offer = Offer(prompts=[prompt("greet")], prompt_families=[family("day-*")])
    (told,) = aside(catalog_of(offer, alias={theirs: ours}))
    assert told.startswith(f"one/{theirs}: the name {ours!r} must match")


def test_what_a_family_held_is_free_once_it_is_offered_no_more() -> None:
    catalog = catalog_of(Offer(prompt_families=[family("day-*")]))
    catalog.add("one", Offer(prompts=[prompt("day-x")]))
    assert aside(catalog) == []
    assert catalog.prompt("day-x", CALLERS[Tier.OPEN]).kind == "prompt"


def test_it_has_a_key_a_suggestion_and_a_floor_like_any_item() -> None:
    rules = parse_rules(b"items: {one/prompt:low-*: open}", "tiers.yaml")
    families = [
        family("high-*", tier=Tier.MEMBERS),
        family("free-*", tier=Tier.OPEN),
        family("low-*", floor=Tier.PUBLIC),
    ]
    catalog = catalog_of(Offer(prompt_families=families), rules=rules)
    decided = {key: decision.tier for key, decision in catalog.decisions()}
    assert decided == {
        "one/prompt:high-*": Tier.MEMBERS,
        "one/prompt:free-*": Tier.OPEN,
        "one/prompt:low-*": Tier.PUBLIC,
    }


RULES = {
    "one": True,
    "one/*": True,
    "one/prompt:*": True,
    "one/prompt:day-*": True,
    "one/prompt:da*": True,
    "one/prompt:day-x": False,
    "one/prompt:day-x*": False,
    "one/day-*": False,
}


@pytest.mark.parametrize("key", RULES)
def test_a_key_is_for_the_family_or_is_told_to_be_for_nothing(key: str) -> None:
    rules = TierRules((Rule(key, Tier.MEMBERS, line=3),), Tier.OPEN)
    catalog = catalog_of(Offer(prompt_families=[family("day-*")]), rules=rules)
    (item,) = catalog.items()
    findings = check_keys(rules, catalog.keys(), catalog.plugins())
    assert (catalog.requires(item) is Tier.MEMBERS) == RULES[key]
    assert (findings.problems == ()) == RULES[key]


@pytest.mark.parametrize("key", ["one/prompt:day-x", "one/prompt:day-x*"])
def test_a_key_for_one_prompt_of_a_family_is_told_what_to_write(key: str) -> None:
    rules = TierRules((Rule(key, Tier.MEMBERS, line=3),), Tier.OPEN)
    catalog = catalog_of(Offer(prompt_families=[family("day-*")]), rules=rules)
    (problem,) = check_keys(rules, catalog.keys(), catalog.plugins()).problems
    assert str(problem) == (
        f"tiers.yaml:3: {key}: matches nothing that one offers; all prompts of a family have one "
        "tier, that of one/prompt:day-*"
    )


@pytest.mark.parametrize("name", ["day-*", "day-x", "one/prompt:day-*", "one/prompt:day-x"])
def test_a_prompt_s_name_or_key_leads_an_admin_to_its_family(name: str) -> None:
    catalog = catalog_of(Offer(prompts=[prompt("greet")], prompt_families=[family("day-*")]))
    assert [item.key for item in catalog.named(name)] == ["one/prompt:day-*"]


@pytest.mark.parametrize("name", ["day-", "day", "two/prompt:day-x", "one/day-x"])
def test_no_other_name_leads_there(name: str) -> None:
    catalog = catalog_of(Offer(prompts=[prompt("greet")], prompt_families=[family("day-*")]))
    assert catalog.named(name) == []


def test_other_rules_change_a_family_as_one_item() -> None:
    catalog = catalog_of(Offer(prompts=[prompt("greet")], prompt_families=[family("day-*")]))
    then = parse_rules(b"{default: open, items: {one/prompt:day-*: members}}", "tiers.yaml")
    (change,) = item_changes(catalog.decisions(), catalog.decisions(then))
    assert (change.item, change.loses) == ("one/prompt:day-*", [Tier.OPEN, Tier.PUBLIC])


names = st.from_regex(r"[ab-]{1,4}", fullmatch=True)


@given(
    st.lists(st.tuples(st.integers(0, 2), names, st.booleans()), max_size=6),
    names,
    st.sampled_from(Tier),
    st.sampled_from(Tier),
    st.booleans(),
)
def test_every_name_is_one_item_s_or_none_s_and_that_one_s_tier_counts(
    declared: list[tuple[int, str, bool]], asked: str, needed: Tier, tier: Tier, hidden: bool
) -> None:
    offers = [
        Offer(
            prompts=[prompt(name) for at, name, is_family in declared if at == n and not is_family],
            prompt_families=[
                family(f"{name}*") for at, name, is_family in declared if at == n if is_family
            ],
        )
        for n in range(3)
    ]
    rules = [Rule(plugin, needed, hidden) for plugin in ("one", "two", "three")]
    catalog = catalog_of(*offers, rules=TierRules(tuple(rules)))
    prompts = [item for item in catalog.items() if item.name == asked]
    families = [item for item in catalog.items() if item.may_hold(asked)]
    assert max(len(prompts), len(families)) <= 1
    holders = prompts or families
    if holders and tier >= needed:
        assert [catalog.prompt(asked, CALLERS[tier])] == holders
        assert holders[0] in catalog.listed(holders[0].kind, CALLERS[tier])
    else:
        known = holders and not hidden
        with pytest.raises(NotAllowed if known else NotFound) as refused:
            catalog.prompt(asked, CALLERS[tier])
        assert known or refused.value.message == f"Unknown prompt: {asked}"


@given(st.text(max_size=50))
def test_only_names_that_clients_take_are_asked_of_a_family(name: str) -> None:
    catalog = catalog_of(Offer(prompt_families=[family("day-*")]))
    (item,) = catalog.items()
    taken = NAME.fullmatch(f"day-{name}") is not None and name != ""
    assert item.may_hold(f"day-{name}") == taken
