"""The language: shapes that are refused, and the laws of its logic."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from auth import Account
from auth.facts import Answer
from auth.rules import AccessRules, Rule, conditions
from auth.rules.access import MAX_DEPTH, MAX_VALUES
from auth.rules.verdict import deciding, lines, needs

WALLET = Account.of_key("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
HATS = ("30.1", "30.2", "30.3", "30.4")

_rule = TypeAdapter(Rule)

facts = st.dictionaries(st.sampled_from(HATS), st.booleans())
"""What is known of each hat; one that is missing is unknown."""

rules = st.recursive(
    st.sampled_from([*({"hat": hat} for hat in HATS), "signed_in"]),
    lambda parts: (
        st.builds(lambda of: {"any_of": of}, st.lists(parts, max_size=3))
        | st.builds(lambda of: {"all_of": of}, st.lists(parts, min_size=1, max_size=3))
        | st.builds(lambda part: {"not": part}, parts)
    ),
    max_leaves=8,
)


def verdict(written, known, accounts=(WALLET,)):
    rule = _rule.validate_python(written)
    # In the order of its conditions that ask, one wallet: one question each.
    hats = [part.hat for _, part in conditions(rule) if hasattr(part, "hat")]
    answers = {
        question: Answer(known.get(hat), 1.0)
        for hat, question in zip(hats, rule.questions(accounts), strict=True)
    }
    return rule.verdict(accounts, answers)


def holds(written, known):
    return verdict(written, known).holds


@settings(deadline=None)
@given(rules, facts)
def test_not_not_is_nothing(rule, known):
    assert holds({"not": {"not": rule}}, known) == holds(rule, known)


@settings(deadline=None)
@given(st.lists(rules, min_size=1, max_size=3), facts)
def test_de_morgan(parts, known):
    contraries = [{"not": part} for part in parts]
    assert holds({"not": {"any_of": parts}}, known) == holds({"all_of": contraries}, known)
    assert holds({"not": {"all_of": parts}}, known) == holds({"any_of": contraries}, known)


@settings(deadline=None)
@given(st.lists(rules, min_size=1, max_size=4), facts, st.randoms())
def test_the_order_of_parts_does_not_matter(parts, known, random):
    shuffled = random.sample(parts, len(parts))
    assert holds({"any_of": parts}, known) == holds({"any_of": shuffled}, known)
    assert holds({"all_of": parts}, known) == holds({"all_of": shuffled}, known)


@settings(deadline=None)
@given(rules, facts, facts)
def test_to_learn_more_changes_no_verdict_that_was_certain(rule, known, more):
    before, after = holds(rule, known), holds(rule, more | known)
    assert before in ("unknown", after)


@settings(deadline=None)
@given(rules, facts)
def test_what_is_unknown_never_grants_what_some_truth_would_not(rule, known):
    if holds(rule, known) == "yes":
        unknown = [hat for hat in HATS if hat not in known]
        for bits in range(2 ** len(unknown)):
            truth = {hat: bool(bits >> place & 1) for place, hat in enumerate(unknown)}
            assert holds(rule, known | truth) == "yes"


@settings(deadline=None)
@given(rules, st.fixed_dictionaries({hat: st.booleans() for hat in HATS}))
def test_who_knows_everything_is_never_in_doubt(rule, known):
    assert holds(rule, known) != "unknown"


@settings(deadline=None)
@given(rules, facts)
def test_the_deciding_conditions_are_below_the_verdict_and_say_why(rule, known):
    found = verdict(rule, known)
    decided = list(deciding(found))
    assert set(map(id, decided)) <= set(map(id, found.conditions()))
    assert all(each.because for each in decided)
    assert decided or not found.parts


@settings(deadline=None)
@given(rules, facts)
def test_the_lines_of_a_verdict_are_all_its_parts_once(rule, known):
    found = verdict(rule, known)
    told = lines(found)
    assert told[0] == (0, found)
    assert [each for _, each in told if not each.parts] == list(found.conditions())
    assert all(after <= before + 1 for (before, _), (after, _) in pairwise(told))


@settings(deadline=None)
@given(rules, facts)
def test_a_rule_that_holds_needs_nothing(rule, known):
    found = verdict(rule, known)
    assert needs(found) == [] if found.holds == "yes" else all(needs(found))


def test_unknown_is_joined_as_in_kleenes_logic():
    unknown = {"hat": "30.1"}
    yes, no = "signed_in", {"not": "signed_in"}
    assert holds({"not": unknown}, {}) == "unknown"
    assert holds({"any_of": [unknown, yes]}, {}) == "yes"
    assert holds({"any_of": [unknown, no]}, {}) == "unknown"
    assert holds({"all_of": [unknown, no]}, {}) == "no"
    assert holds({"all_of": [unknown, yes]}, {}) == "unknown"


def test_any_of_nothing_is_nobody_and_all_of_nothing_is_refused():
    assert holds({"any_of": []}, {}) == "no"
    assert holds({"any_of": None}, {}) == "no"
    with pytest.raises(ValidationError):
        _rule.validate_python({"all_of": []})


def test_what_is_needed_leaves_out_what_is_there():
    rule = {
        "any_of": [
            {"all_of": ["signed_in", {"hat": "30.1"}]},
            {"all_of": [{"hat": "30.2"}, {"not": {"hat": "30.3"}}, {"hat": "30.4"}]},
        ]
    }
    known = {"30.1": False, "30.2": False, "30.3": True, "30.4": True}
    assert needs(verdict(rule, known)) == [
        "one of these:",
        "  wear the hat 30.1",
        "  all of these:",
        "    wear the hat 30.2",
        "    not this:",
        "      wear the hat 30.3",
    ]


def test_what_must_not_be_is_told_with_what_holds():
    rule = {"not": {"any_of": [{"hat": "30.1"}, {"hat": "30.2"}]}}
    assert needs(verdict(rule, {"30.1": True, "30.2": False})) == [
        "not this:",
        "  wear the hat 30.1",
    ]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({"hatt": "30.1"}, "unknown kind of condition; did you mean hat?"),
        ("signed-in", "unknown kind of condition; did you mean signed_in?"),
        ({"zzz": "1"}, "valid: any_of, all_of, not, signed_in, hat, token"),
        ("hat", "needs a value"),
        ({"hat": "30.1", "github": "a"}, "has more than one kind"),
        ([{"hat": "30.1"}], "is a list; write any_of or all_of before it"),
        (None, "is empty"),
        ({}, "is empty"),
        ("", "is empty"),
        (30.1, "is empty"),
        ({"not": None}, "is empty"),
        ({"any_of": [None]}, "is empty"),
        ({"any_of": "signed_in"}, "tuple"),
        ({"hat": 30.1}, "string"),
        ({"token": {"chain": "10", "contracts": "0x"}}, "Field required"),
    ],
)
def test_what_is_no_rule_is_refused_with_what_to_write(written, reason):
    with pytest.raises(ValidationError) as raised:
        _rule.validate_python(written)
    assert reason in str(raised.value)


def test_the_conditions_of_a_rule_have_their_places():
    rule = _rule.validate_python({"any_of": ["signed_in", {"not": {"all_of": [{"hat": "30.1"}]}}]})
    assert [place for place, _ in conditions(rule)] == [
        ("any_of", 0),
        ("any_of", 1, "not", "all_of", 0),
    ]


def test_without_rules_whoever_signs_in_is_public_and_nobody_is_more():
    rules = AccessRules()
    assert rules == AccessRules.model_validate({"public": None, "members": None})
    assert [
        rules.verdict(name, (WALLET,), {}).holds for name in ("public", "members", "admins")
    ] == [
        "yes",
        "no",
        "no",
    ]


@settings(deadline=None)
@given(rules)
def test_no_rule_holds_for_who_has_not_signed_in(written):
    rules = AccessRules.model_validate({"members": written})
    assert rules.questions(()) == ()
    assert rules.verdict("members", (), {}).holds == "no"


def test_a_question_of_several_rules_is_asked_once():
    rules = AccessRules.model_validate({"members": {"hat": "30.1"}, "admins": {"hat": "30.1"}})
    assert len(rules.questions((WALLET,))) == 1


def test_a_rule_beyond_all_measure_is_refused():
    deep: dict[str, Any] = {"hat": "30.1"}
    for _ in range(MAX_DEPTH):
        deep = {"not": deep}
    wide = {"any_of": ["signed_in"] * MAX_VALUES}
    shared: dict[str, Any] = {"any_of": ["signed_in"] * 10}
    for _ in range(4):
        shared = {"any_of": [shared] * 10}
    for written in (deep, wide, shared):
        with pytest.raises(ValidationError, match="the rule for members has more than"):
            AccessRules.model_validate({"members": written})


def test_a_rule_as_large_as_the_measure_allows_is_judged():
    deep: dict[str, Any] = {"hat": "30.1"}
    for _ in range(MAX_DEPTH - 2):
        deep = {"not": deep}
    rules = AccessRules.model_validate(
        {"members": deep, "admins": {"any_of": ["signed_in"] * (MAX_VALUES - 3)}}
    )
    assert rules.verdict("admins", (WALLET,), {}).holds == "yes"


def test_rules_cannot_be_changed():
    rules = AccessRules()
    with pytest.raises(ValidationError):
        rules.members = rules.public  # type: ignore[misc]
