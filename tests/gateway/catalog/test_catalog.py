import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.refusals import NotAllowed
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.contract import Offer, Prompt, Resource, ResourceTemplate, RowKind, Tool
from gateway.errors import NotFound

CALLERS = {tier: Caller(person=None, tier=tier) for tier in Tier}


async def _run(*_):
    return "text"


def _tool(name: str, **more) -> Tool:
    return Tool(name, "A tool.", _run, input_schema={"type": "object"}, **more)


def _catalog(*rules: Rule, offers: dict[str, Offer]) -> Catalog:
    catalog = Catalog(TierRules(rules), how_to_rise=lambda caller, tier: "Ask.")
    for name, offer in offers.items():
        catalog.add(name, offer)
    return catalog


def test_a_refusal_names_the_tier_and_the_way_to_it():
    catalog = _catalog(Rule("demo", Tier.MEMBERS), offers={"demo": Offer([_tool("a")])})
    with pytest.raises(NotAllowed) as refusal:
        catalog.tool("a", CALLERS[Tier.OPEN])
    assert refusal.value.message == "Requires members access. Current: open. Ask."


def test_a_hidden_item_is_unknown_below_its_tier_and_listed_at_it():
    rules = Rule("demo/a", Tier.MEMBERS, hidden=True)
    catalog = _catalog(rules, offers={"demo": Offer([_tool("a")])})
    with pytest.raises(NotFound, match="Unknown tool: a"):
        catalog.tool("a", CALLERS[Tier.PUBLIC])
    assert catalog.beyond(CALLERS[Tier.OPEN]) == {}
    assert [item.name for item in catalog.listed("tool", CALLERS[Tier.MEMBERS])] == ["a"]


def test_of_two_items_with_one_name_the_later_is_set_aside_with_the_fix():
    catalog = _catalog(offers={"one": Offer([_tool("a")]), "two": Offer([_tool("a")])})
    (aside,) = catalog.set_aside
    assert str(aside) == (
        "two/a: one already offers 'a'. In portal.yaml, under plugins: two:, "
        "write alias: {a: ANOTHER_NAME}"
    )
    assert catalog.tool("a", CALLERS[Tier.MEMBERS]).plugin == "one"


def test_which_of_two_plugins_has_a_name_does_not_depend_on_which_opens_first():
    catalog = Catalog(TierRules())
    catalog.expect(["one", "two"])
    catalog.add("two", Offer([_tool("a"), _tool("b")]))
    assert catalog.tool("a", CALLERS[Tier.MEMBERS]).plugin == "two"
    catalog.add("one", Offer([_tool("a")]))
    assert catalog.tool("a", CALLERS[Tier.MEMBERS]).plugin == "one"
    assert [each.plugin for each in catalog.set_aside] == ["two"]
    assert [item.plugin for item in catalog.listed("tool", CALLERS[Tier.MEMBERS])] == ["one", "two"]
    catalog.add("one", Offer())
    assert catalog.tool("a", CALLERS[Tier.MEMBERS]).plugin == "two"
    assert catalog.set_aside == []


def test_what_plugins_say_of_themselves_stands_in_their_order_whichever_opens_first():
    catalog = Catalog(TierRules())
    catalog.expect(["one", "two"])
    catalog.add("two", Offer(instructions="Two."))
    catalog.add("one", Offer(instructions="One."))
    catalog.add("one", Offer(instructions="Another."))
    assert list(catalog.instructions.values()) == ["Another.", "Two."]


def test_an_alias_serves_both():
    catalog = Catalog(TierRules())
    catalog.add("one", Offer([_tool("a")]))
    catalog.add("two", Offer([_tool("a")]), {"a": "b"})
    assert catalog.set_aside == []
    assert catalog.tool("b", CALLERS[Tier.MEMBERS]).plugin == "two"


def test_an_offer_again_makes_what_is_new_in_it_and_an_alias_everything():
    catalog, kept = Catalog(TierRules()), _tool("a")
    catalog.add("demo", Offer([kept, _tool("b")]))
    before = {item.name: item for item in catalog.items()}
    catalog.add("demo", Offer([kept, _tool("b")]))
    after = {item.name: item for item in catalog.items()}
    assert after["a"] is before["a"]
    assert after["b"] is not before["b"]
    catalog.add("demo", Offer([kept]), {"a": "c"})
    assert [item.name for item in catalog.items()] == ["c"]


def test_aliases_that_are_swapped_leave_the_lines_with_the_tools_they_name():
    rules = TierRules((Rule("demo/look", Tier.OPEN), Rule("demo/erase", Tier.MEMBERS)))
    offer = Offer([_tool("look"), _tool("erase")])
    for alias in ({}, {"look": "erase", "erase": "look"}, {"look": "erase", "erase": "gone"}):
        catalog = Catalog(rules)
        catalog.add("demo", offer, alias)
        served = {name: alias.get(name, name) for name in ("look", "erase")}
        assert catalog.tool(served["look"], CALLERS[Tier.OPEN]).identity == "look"
        with pytest.raises(NotAllowed):
            catalog.tool(served["erase"], CALLERS[Tier.PUBLIC])


def test_a_line_may_name_an_alias_that_no_other_tool_is_declared_as():
    offer = Offer([_tool("look"), _tool("erase")])
    for line in ("demo/peek", "demo/pe*", "demo/look"):
        catalog = Catalog(TierRules((Rule("demo", Tier.MEMBERS), Rule(line, Tier.OPEN))))
        catalog.add("demo", offer, {"look": "peek"})
        assert catalog.tool("peek", CALLERS[Tier.OPEN]).identity == "look"
        assert [item.name for item in catalog.listed("tool", CALLERS[Tier.OPEN])] == ["peek"]


def test_the_key_of_an_item_is_what_its_plugin_declares():
    catalog = Catalog(TierRules())
    catalog.add("demo", Offer([_tool("look")]), {"look": "peek"})
    (key,) = catalog.keys()
    assert str(key) == "demo/look"
    assert [item.key for item in catalog.named("demo/look")] == ["demo/peek"]


def test_a_token_for_named_tools_is_for_those_of_the_portal_s_names():
    catalog = _catalog(Rule("demo", Tier.MEMBERS), offers={})
    catalog.add("demo", Offer([_tool("look"), _tool("erase")]), {"look": "erase", "erase": "look"})
    caller = Caller(person="p", tier=Tier.MEMBERS, tools=frozenset({"look"}))
    assert catalog.tool("look", caller).identity == "erase"
    with pytest.raises(NotAllowed):
        catalog.tool("erase", caller)


def test_a_bad_declaration_is_set_aside_and_the_rest_is_served():
    bad = Tool("bad", "A tool.", _run, input_schema={"type": "array"})
    catalog = _catalog(offers={"demo": Offer([bad, _tool("good")])})
    assert [each.item for each in catalog.set_aside] == ["bad"]
    assert catalog.tool("good", CALLERS[Tier.MEMBERS]).name == "good"


def test_an_endpoint_of_one_plugin_knows_no_other():
    catalog = _catalog(
        Rule("one", Tier.OPEN),
        Rule("two", Tier.OPEN),
        offers={"one": Offer([_tool("a")]), "two": Offer([_tool("b")])},
    )
    assert [i.name for i in catalog.listed("tool", CALLERS[Tier.OPEN], "one")] == ["a"]
    with pytest.raises(NotFound):
        catalog.tool("b", CALLERS[Tier.OPEN], "one")


def test_new_rules_count_at_once():
    catalog = _catalog(offers={"demo": Offer([_tool("a")])})
    before = catalog.version
    catalog.apply(TierRules((Rule("demo", Tier.OPEN),)))
    assert catalog.version > before
    assert catalog.tool("a", CALLERS[Tier.OPEN]).name == "a"


def test_what_nobody_names_is_for_members():
    catalog = _catalog(offers={"demo": Offer([_tool("a"), _tool("b", tier=Tier.OPEN)])})
    assert [item.name for item in catalog.listed("tool", CALLERS[Tier.OPEN])] == ["b"]


tiers = st.sampled_from(Tier)
rules = st.builds(
    Rule,
    key=st.sampled_from(["demo", "demo/*", "demo/a*", "demo/a", "demo/prompt:*", "other"]),
    tier=tiers,
    hidden=st.booleans(),
)


@given(
    st.lists(rules, max_size=4, unique_by=lambda rule: rule.key),
    st.lists(st.tuples(tiers | st.none(), tiers), min_size=4, max_size=4),
    tiers,
)
def test_nothing_is_listed_or_handed_out_below_its_tier(rules, declared, tier):
    keys = [{"tier": suggestion, "floor": floor} for suggestion, floor in declared]
    offer = Offer(
        tools=[_tool("a", **keys[0])],
        prompts=[Prompt("a", "A prompt.", _run, **keys[1])],
        resources=[Resource("demo://a", "a", "A resource.", _run, **keys[2])],
        templates=[ResourceTemplate("demo://t/{x}", "t", "A template.", _run, **keys[3])],
    )
    catalog, caller = _catalog(*rules, offers={"demo": offer}), CALLERS[tier]
    get = {
        "tool": lambda: catalog.tool("a", caller),
        "prompt": lambda: catalog.prompt("a", caller),
        "resource": lambda: catalog.resource("demo://a", caller)[0],
        "template": lambda: catalog.resource("demo://t/1", caller)[0],
    }
    for item in catalog.items():
        decision = catalog.explain(item, CALLERS[Tier.OPEN]).decision
        assert decision.tier >= item.declared.floor
        allowed = tier >= decision.tier
        assert (item in catalog.listed(item.kind, caller)) == allowed
        if allowed:
            assert get[item.kind]() is item
        else:
            with pytest.raises(NotFound if decision.hidden else NotAllowed):
                get[item.kind]()


def test_a_row_is_explained_by_the_line_that_names_it_and_by_nothing_else():
    kind = RowKind("page", "a page", lambda: ["a", "b"])
    offers = {"demo": Offer([_tool("t")], rows=[kind])}
    catalog = _catalog(Rule("demo/page:a", Tier.MEMBERS), offers=offers)
    told = catalog.explain_row("demo/page:a", CALLERS[Tier.PUBLIC])
    assert told is not None
    assert (told.allowed, told.decision.tier) == (False, Tier.MEMBERS)
    assert told.because.endswith("a higher tier that demo itself asks for counts too")
    with pytest.raises(NotFound, match="what demo says of it decides"):
        catalog.explain_row("demo/page:b", CALLERS[Tier.OPEN])
    assert catalog.explain_row("demo/t", CALLERS[Tier.OPEN]) is None
