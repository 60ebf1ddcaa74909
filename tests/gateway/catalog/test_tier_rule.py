import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Caller, Tier
from gateway.catalog.tier_rule import (
    Decision,
    ItemKey,
    RowRules,
    Rule,
    TierRules,
    may_know,
    may_use,
)
from gateway.config.tiers_file import parse_rules

OPEN, PUBLIC, MEMBERS = Tier

TIERS = st.sampled_from(list(Tier))
PLUGINS = st.sampled_from(["knowledge", "skills_repo"])
KINDS = st.sampled_from(["tool", "prompt", "resource"])
NAMES = st.text("ab_", min_size=1, max_size=4)
ITEMS = st.builds(ItemKey, PLUGINS, KINDS, NAMES)
SUGGESTIONS = st.none() | TIERS


@st.composite
def keys(draw):
    item = draw(ITEMS)
    text = str(item)
    start = draw(st.integers(text.index("/") + 1, len(text)))
    end = draw(st.integers(start, len(text)))
    return draw(st.sampled_from([item.plugin, text, f"{text[:start]}*{text[end:]}"]))


RULES = st.builds(
    lambda entries, default: TierRules(
        tuple(Rule(key, tier, hidden, line=n) for n, (key, (tier, hidden)) in enumerate(entries)),
        default,
    ),
    st.dictionaries(keys(), st.tuples(TIERS, st.booleans()), max_size=8).map(
        lambda entries: list(entries.items())
    ),
    TIERS,
)


def tool(text: str) -> ItemKey:
    plugin, _, name = text.partition("/")
    return ItemKey(plugin, "tool", name)


def rules(**tiers: str) -> TierRules:
    return TierRules(tuple(Rule(key, Tier(tier)) for key, tier in tiers.items()))


def tier_of(found: TierRules, item: str | ItemKey, suggestion=None, floor=OPEN) -> Tier:
    key = item if isinstance(item, ItemKey) else tool(item)
    return found.decide(key, suggestion, floor).tier


def test_the_most_specific_key_wins_whatever_the_order():
    lines = {
        "kb": "open",
        "kb/get_document": "members",
        "kb/get_*": "public",
        "kb/get_doc*": "open",
        "kb/list_*": "public",
    }
    for found in (rules(**lines), rules(**dict(reversed(lines.items())))):
        assert tier_of(found, "kb/get_document") == MEMBERS
        assert tier_of(found, "kb/get_docs") == OPEN
        assert tier_of(found, "kb/get_group") == PUBLIC
        assert tier_of(found, "kb/list_groups") == PUBLIC
        assert tier_of(found, "kb/search") == OPEN
        assert tier_of(found, "other/search") == MEMBERS


def test_an_exact_name_wins_over_a_pattern_whose_star_stands_for_nothing():
    assert tier_of(rules(**{"kb/get*": "members", "kb/get": "open"}), "kb/get") == OPEN


def test_of_two_patterns_as_long_as_each_other_the_stricter_one_wins():
    for lines in ({"kb/get_*": "open", "kb/*_all": "members"}, {"kb/*_all": "members"}):
        assert tier_of(rules(**lines, **{"kb/a*": "open"}), "kb/get_all") == MEMBERS


def test_of_two_patterns_with_one_length_and_tier_the_one_that_hides_wins():
    hides, shows = Rule("kb/get_*", MEMBERS, hidden=True), Rule("kb/*_all", MEMBERS)
    for lines in ((hides, shows), (shows, hides)):
        assert TierRules(lines).decide(tool("kb/get_all"), None, OPEN).hidden


def test_stars_that_add_nothing_do_not_make_a_pattern_longer():
    found = rules(**{"kb/a****": "open", "kb/ab*": "members"})
    assert tier_of(found, "kb/abc") == MEMBERS


def test_a_suggestion_counts_only_where_the_file_names_neither_item_nor_plugin():
    assert tier_of(rules(), "kb/search", suggestion=OPEN) == OPEN
    assert tier_of(rules(kb="members"), "kb/search", suggestion=OPEN) == MEMBERS
    assert tier_of(rules(**{"kb/s*": "members"}), "kb/search", suggestion=OPEN) == MEMBERS
    assert tier_of(rules(**{"kb/other": "members"}), "kb/search", suggestion=OPEN) == OPEN


def test_prompts_and_resources_have_keys_of_their_own():
    found = rules(**{"kb/prompt:ask": "open", "kb/resource:kb://{type}/*": "public"})
    assert tier_of(found, ItemKey("kb", "prompt", "ask")) == OPEN
    assert tier_of(found, ItemKey("kb", "tool", "ask")) == MEMBERS
    assert tier_of(found, ItemKey("kb", "resource", "kb://{type}/{id}")) == PUBLIC
    assert tier_of(rules(**{"kb/*": "open"}), ItemKey("kb", "prompt", "ask")) == OPEN


def test_nothing_in_a_key_but_the_star_is_special():
    found = rules(**{"kb/resource:kb://a.c?[x]": "open", "kb/resource:kb://q.*": "open"})
    assert tier_of(found, ItemKey("kb", "resource", "kb://a.c?[x]")) == OPEN
    assert tier_of(found, ItemKey("kb", "resource", "kb://abc?x")) == MEMBERS
    assert tier_of(found, ItemKey("kb", "resource", "kb://qx")) == MEMBERS
    assert tier_of(found, ItemKey("kb", "resource", "kb://q.\n")) == OPEN


def test_a_decision_says_what_decided():
    found = parse_rules(b"items:\n  kb: open\n  kb/get_*: public\n", "tiers.yaml")
    because = [
        found.decide(tool("kb/get_x"), None, PUBLIC).because,
        found.decide(tool("kb/get_x"), None, MEMBERS).because,
        found.decide(tool("other/x"), PUBLIC, OPEN).because,
        found.decide(tool("other/x"), None, OPEN).because,
    ]
    assert because == [
        "tiers.yaml:3 'kb/get_*'",
        "tiers.yaml:3 'kb/get_*', raised to members because kb needs it",
        "suggested by other; tiers.yaml names neither the item nor it",
        "the default of tiers.yaml",
    ]


def test_the_line_that_decides_the_tier_decides_whether_the_item_is_hidden():
    found = TierRules((Rule("kb", MEMBERS, hidden=True), Rule("kb/search", PUBLIC)))
    assert found.decide(tool("kb/get"), None, OPEN).hidden
    assert not found.decide(tool("kb/search"), None, OPEN).hidden


@pytest.mark.parametrize("hidden", [True, False])
def test_a_caller_may_know_of_what_is_not_hidden_or_theirs(hidden):
    decision = Decision(PUBLIC, hidden, "")
    callers = {tier: Caller(person="x", tier=tier) for tier in Tier}
    item = ItemKey("kb", "tool", "get")
    assert [may_use(callers[tier], item, decision) for tier in Tier] == [False, True, True]
    assert [may_know(callers[tier], item, decision) for tier in Tier] == [not hidden, True, True]


@pytest.mark.parametrize("kind", ["tool", "prompt", "resource"])
def test_a_credential_for_named_tools_is_good_for_these_and_nothing_else(kind):
    caller = Caller(person="x", tier=MEMBERS, tools=frozenset({"get"}))
    decision = Decision(PUBLIC, False, "")
    assert may_use(caller, ItemKey("kb", kind, "get"), decision) == (kind == "tool")
    assert not may_use(caller, ItemKey("kb", kind, "put"), decision)
    assert not may_use(caller, ItemKey("kb", kind, "get_all"), decision)


def reference(found: TierRules, item: ItemKey, suggestion: Tier | None) -> Tier:
    """The rule as the specification words it, step by step and without an index."""
    text = str(item)
    matching = [rule for rule in found.rules if covers(rule.key, text)]
    for level in (
        [rule for rule in matching if rule.key == text],
        longest([rule for rule in matching if "*" in rule.key]),
        [rule for rule in matching if rule.key == item.plugin],
    ):
        if level:
            return max(rule.tier for rule in level)
    return found.default if suggestion is None else suggestion


def covers(key: str, text: str) -> bool:
    if "*" in key:
        head, tail = key.split("*")
        return text.startswith(head) and text[len(head) :].endswith(tail)
    return text == key or text.startswith(key + "/")


def longest(found: list[Rule]) -> list[Rule]:
    length = max((len(rule.key) for rule in found), default=0)
    return [rule for rule in found if len(rule.key) == length]


@given(RULES, ITEMS, SUGGESTIONS)
def test_every_decision_is_the_one_the_specification_words(found, item, suggestion):
    assert tier_of(found, item, suggestion) == reference(found, item, suggestion)


@given(RULES, ITEMS, SUGGESTIONS, TIERS, TIERS)
def test_a_floor_only_ever_raises(found, item, suggestion, low, high):
    low, high = sorted((low, high), key=lambda tier: tier.level)
    without = tier_of(found, item, suggestion)
    assert tier_of(found, item, suggestion, low) == max(without, low)
    assert tier_of(found, item, suggestion, high) >= tier_of(found, item, suggestion, low)


@given(RULES, ITEMS, SUGGESTIONS, st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter(found, item, suggestion, random):
    lines = list(found.rules)
    random.shuffle(lines)
    again = TierRules(tuple(lines), found.default)
    first, second = (each.decide(item, suggestion, OPEN) for each in (found, again))
    assert (first.tier, first.hidden) == (second.tier, second.hidden)


@given(RULES, ITEMS)
def test_what_nobody_names_is_never_below_the_default(found, item):
    silent = TierRules((), found.default)
    assert tier_of(silent, item) == found.default
    assert tier_of(TierRules(), item) == MEMBERS


@given(RULES, ITEMS, TIERS, TIERS)
def test_an_exact_line_settles_the_item(found, item, tier, suggestion):
    others = tuple(rule for rule in found.rules if rule.key != str(item))
    settled = TierRules((*others, Rule(str(item), tier)), found.default)
    assert tier_of(settled, item, suggestion) == tier


@given(RULES, ITEMS, SUGGESTIONS, TIERS)
def test_lines_about_one_plugin_do_not_touch_another(found, item, suggestion, tier):
    stranger = ItemKey("stranger", item.kind, item.name)
    assert tier_of(found, stranger, suggestion) == (suggestion or found.default)


@given(RULES, ITEMS, SUGGESTIONS, TIERS, TIERS)
def test_a_caller_who_may_use_an_item_may_use_it_at_every_higher_tier(
    found, item, suggestion, floor, tier
):
    decision = found.decide(item, suggestion, floor)
    if may_use(Caller(person=None, tier=tier), item, decision):
        higher = [each for each in Tier if each >= tier]
        assert all(may_use(Caller(person="x", tier=each), item, decision) for each in higher)


ROW = ItemKey("demo", "row", "page:a")
DOOR = ItemKey("demo", "resource", "demo://a")


def _row_decision(*lines: Rule):
    return RowRules(TierRules(lines), {ROW: [DOOR]}).decide("demo", "page:a")


@pytest.mark.parametrize(
    "key", ["demo", "demo/*", "demo/p*", "demo/resource:*", "demo/resource:demo://*", "demo/page"]
)
def test_a_line_about_doors_says_nothing_of_a_row(key: str) -> None:
    assert _row_decision(Rule(key, Tier.MEMBERS)) is None


@pytest.mark.parametrize(
    "key", ["demo/page:a", "demo/page:*", "demo/resource:demo://a", "demo/resource:demo://a*"]
)
def test_a_line_that_names_a_row_or_its_own_door_decides_the_row(key: str) -> None:
    decided = _row_decision(Rule(key, Tier.MEMBERS, hidden=True))
    assert decided is not None
    assert (decided.tier, decided.hidden) == (Tier.MEMBERS, True)


def test_of_the_lines_about_a_row_and_its_door_the_stricter_counts() -> None:
    row, door = Rule("demo/page:a", Tier.PUBLIC, hidden=True), Rule(f"{DOOR}", Tier.MEMBERS)
    decided = _row_decision(row, door)
    assert decided is not None
    assert (decided.tier, decided.hidden) == (Tier.MEMBERS, True)


def test_the_more_specific_of_two_lines_about_rows_counts() -> None:
    decided = _row_decision(Rule("demo/page:*", Tier.MEMBERS), Rule("demo/page:a", Tier.OPEN))
    assert decided is not None
    assert decided.tier is Tier.OPEN


def test_a_line_that_names_no_rows_speaks_about_none() -> None:
    assert not Rule("demo/*", MEMBERS).matches(ROW)
    assert Rule("demo/page:*", MEMBERS).matches(ROW)


def test_a_line_about_all_of_a_plugin_does_not_decide_a_row_beside_lines_that_name_others() -> None:
    assert _row_decision(Rule("demo", MEMBERS), Rule("demo/page:b", PUBLIC)) is None


def test_what_no_line_names_is_not_hidden() -> None:
    for suggestion in (PUBLIC, None):
        assert rules().decide(tool("kb/get"), suggestion, OPEN).hidden is False


def test_only_so_many_decisions_on_rows_are_remembered() -> None:
    assert RowRules(TierRules(), {}).decide.cache_info().maxsize == 65536


def test_a_credential_for_named_tools_may_know_of_these_where_they_are_hidden() -> None:
    caller = Caller(person="x", tier=MEMBERS, tools=frozenset({"get"}))
    decision = Decision(PUBLIC, True, "")
    assert may_know(caller, ItemKey("kb", "tool", "get"), decision)
    assert not may_know(caller, ItemKey("kb", "tool", "put"), decision)


def test_a_decision_names_the_line_that_made_it_also_where_a_floor_raises_it():
    found = TierRules((Rule("knowledge", OPEN, line=3), Rule("knowledge/ask", PUBLIC, line=7)))
    assert found.decide(tool("knowledge/ask"), None, OPEN).line == 7
    assert found.decide(tool("knowledge/get"), None, MEMBERS).line == 3
    assert found.decide(tool("skills_repo/get"), PUBLIC, OPEN).line == 0
    assert found.decide(tool("skills_repo/get"), None, OPEN).line == 0
