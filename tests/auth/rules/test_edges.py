"""What is just within a rule and what is just beyond it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from auth import Account
from auth.facts import Answer, Question
from auth.rules import AccessRules, Rule, github
from auth.rules.access import MAX_VALUES
from auth.rules.verdict import Verdict, lines, needs

ONE = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
TWO = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
TOKEN = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
KEY = Account.of_key(ONE)
ISSUER = "https://id.example.org"
HAT = {"hat": "30.1"}

_rule: TypeAdapter[Any] = TypeAdapter(Rule)


def judge(written: Any, *accounts: Account, **facts: Any) -> Verdict:
    """The verdict; ``facts`` are answers by the question's source or the first of its key."""
    rule = _rule.validate_python(written)
    answers: dict[Question, Answer] = {}
    for question in rule.questions(accounts):
        for name in (question.source, question.key[0]):
            if name in facts:
                answers[question] = Answer(facts[name], 1.0)
    found: Verdict = rule.verdict(accounts, answers)
    return found


def token(standard: str = "erc721", **more: str) -> dict[str, Any]:
    return {"token": {"chain": "10", "contract": TOKEN, "standard": standard, **more}}


def of_issuer(issuer: str, **claims: Any) -> Account:
    return Account(f"oidc:{issuer}#s", "oidc", claims=claims)


def test_who_is_signed_in_is_judged_by_the_rule_alone() -> None:
    rules = AccessRules.model_validate({"members": {"not": HAT}, "admins": HAT})
    (question,) = rules.questions([KEY])
    wears, bare = {question: Answer(True, 1.0)}, {question: Answer(False, 1.0)}
    assert rules.verdict("members", [KEY], bare).rule == "not"
    assert rules.verdict("members", [KEY], wears).rule == "not"
    assert rules.verdict("admins", [KEY], {}).rule == "hat: 30.1"


def test_who_is_not_signed_in_is_refused_by_the_rule_or_for_that() -> None:
    rules = AccessRules.model_validate({"members": {"not": HAT}, "admins": HAT})
    assert rules.verdict("admins", [], {}).rule == "hat: 30.1"
    joined = rules.verdict("members", [], {})
    assert (joined.rule, joined.holds) == ("all_of", "no")
    assert [each.rule for each in joined.parts] == ["signed_in", "not"]


def test_the_largest_rule_is_read_and_one_value_more_is_not() -> None:
    AccessRules.model_validate({"members": {"any_of": ["signed_in"] * (MAX_VALUES - 2)}})
    with pytest.raises(ValidationError, match="the rule for members has more than"):
        AccessRules.model_validate({"members": {"any_of": ["signed_in"] * (MAX_VALUES - 1)}})


@pytest.mark.parametrize(
    ("written", "said", "holds"),
    [
        (ISSUER, ISSUER, "yes"),
        (f"{ISSUER}/", ISSUER, "yes"),
        (ISSUER, f"{ISSUER}/", "yes"),
        (f"{ISSUER}/X", f"{ISSUER}/", "no"),
        (f"{ISSUER}/", f"{ISSUER}/X", "no"),
    ],
)
def test_an_issuer_is_the_same_with_and_without_its_last_slash(
    written: str, said: str, holds: str
) -> None:
    claim = {"claim": {"name": "groups", "value": "staff", "issuer": written}}
    assert judge(claim, of_issuer(said, groups="staff")).holds == holds


def test_an_account_of_another_issuer_does_not_hide_the_one_that_counts() -> None:
    claim = {"claim": {"name": "groups", "value": "staff", "issuer": ISSUER}}
    accounts = of_issuer("https://other.example"), of_issuer(ISSUER, groups="staff")
    assert judge(claim, *accounts).holds == "yes"


@pytest.mark.parametrize(("value", "said"), [(True, True), (3, 3), ("true", True)])
def test_a_program_may_write_a_claims_value_as_what_it_is(value: Any, said: Any) -> None:
    claim = {"claim": {"name": "groups", "value": value}}
    assert judge(claim, of_issuer(ISSUER, groups=said)).holds == "yes"


def test_an_address_is_at_the_domain_after_its_last_at() -> None:
    account = Account("oidc:i#s", "oidc", email='"a@example.org"@evil.example')
    assert judge({"email": "*@evil.example"}, account).holds == "yes"


def test_a_contract_holds_tokens_and_is_an_address_on_its_own_chain() -> None:
    contract = Account.of_contract(10, TWO)
    assert judge(token(), contract, tokens=1).holds == "yes"
    other = judge({"address": f"eip155:10:{ONE}"}, contract)
    assert other.because == "no linked wallet is the listed one"


def test_an_answer_that_is_true_is_no_chain() -> None:
    contract = Account.of_contract(1, TWO)
    assert judge(HAT, contract, chain=1, wears=True).holds == "yes"
    assert judge(HAT, contract, chain=True, wears=True).holds == "unknown"


@pytest.mark.parametrize(
    ("decimals", "balance", "holds"),
    [
        (255, 2**256 - 1, "no"),
        (256, 2**256 - 1, "unknown"),
        (0, 2**256 - 1, "yes"),
        (0, 2**256 + 1, "unknown"),
    ],
)
def test_what_no_token_can_have_is_unknown(decimals: int, balance: int, holds: str) -> None:
    found = judge(token("erc20"), KEY, decimals=decimals, balance=balance)
    assert found.holds == holds


def test_an_account_without_a_name_has_no_login() -> None:
    assert judge({"github": "xxxx"}, Account("github:1", "github")).holds == "no"


def _made(moment: str) -> Account:
    return Account("github:1", "github", claims={"created_at": moment})


def test_an_age_is_reached_to_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Clock:
            return cls(2026, 11, 22, 12, tzinfo=tz)

    monkeypatch.setattr(github, "datetime", Clock)
    day_old = "2026-11-21T12:00:00+00:00"
    assert judge({"github_age": "1d"}, _made(day_old)).holds == "yes"
    assert judge({"github_age": "1d"}, _made("2026-11-21T12:00:01+00:00")).holds == "no"


def test_the_time_zone_of_a_moment_counts() -> None:
    there = timezone(timedelta(hours=14))
    moment = (datetime.now(UTC) - timedelta(hours=25)).astimezone(there)
    assert judge({"github_age": "1d"}, _made(moment.isoformat())).holds == "yes"


def test_the_case_of_every_letter_of_an_address_is_checked() -> None:
    with pytest.raises(ValidationError, match="its checksum"):
        _rule.validate_python({"address": f"0xF{TWO[3:].lower()}"})


@pytest.mark.parametrize("written", ["signed_in", HAT, {"not": HAT}, {"any_of": [HAT]}])
def test_a_rule_that_was_read_already_is_taken_as_it_is(written: str | Mapping[str, Any]) -> None:
    rule = _rule.validate_python(written)
    assert _rule.validate_python(rule) is rule
    assert AccessRules(members=rule).members is rule


def test_the_lines_of_a_verdict_are_indented_by_their_depth() -> None:
    found = judge({"any_of": [{"not": "signed_in"}, "signed_in"]}, KEY)
    told = [(depth, each.rule) for depth, each in lines(found)]
    assert told == [(0, "any_of"), (1, "not"), (2, "signed_in"), (1, "signed_in")]


def test_what_nothing_brings_about_is_not_told_as_needed() -> None:
    never: dict[str, Any] = {"all_of": [{"any_of": []}, {"any_of": []}]}
    assert needs(judge({"any_of": [never, {"any_of": []}]}, KEY)) == []
