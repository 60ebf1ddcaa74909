"""What people and admins read of a verdict, word by word, for every kind of condition."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from auth import Account
from auth.facts import Answer
from auth.rules import AccessRules, Rule
from auth.rules.base import answer_to
from auth.rules.hat import Hat
from auth.rules.passport import PassportScore
from auth.rules.verdict import Holds, Verdict

ONE = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
TWO = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
TOKEN = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
ISSUER = "https://id.example.org"

KEY, OTHER_KEY = Account.of_key(ONE), Account.of_key(TWO)
ON_1, ON_10 = Account.of_contract(1, TWO), Account.of_contract(10, TWO)
LAPSED = replace(ON_10, lapsed=True)
UNSIGNED = Account(f"wallet:{TWO}", "wallet")
GITHUB = Account("github:583231", "github", name="OctoCat", email="octo@example.org")
NEW = Account("github:1", "github", claims={"created_at": f"{datetime.now(UTC).date()}"})
OLD = Account("github:1", "github", name="old", claims={"created_at": "2011-01-25"})
OIDC = Account(
    f"oidc:{ISSUER}#subject#1", "oidc", email="ana@example.org", claims={"groups": ["staff"]}
)
OUTDATED = Account(f"oidc:{ISSUER}#s", "oidc", outdated=frozenset({"groups", "email"}))

ALWAYS_OLD = "signed too long ago, as its owners may change, and has to sign in again"
LAPSED_PROOF = f"the contract wallet 0xfB69…d359 on chain 10 {ALWAYS_OLD}"
UNKNOWN_PROOF = (
    "the wallet 0xfB69…d359 was linked before it was kept whether its key or a contract signed, "
    "and has to sign in once more"
)
NO_GITHUB = "no GitHub account is linked"
LISTED_WALLET = "sign in with a wallet that an admin has listed"
LISTED_GITHUB = "have a GitHub account that an admin has listed"
SOME_PROVIDER = "have the claim groups=staff from a provider that people sign in with"


def elsewhere(chain: int, here: str) -> str:
    return f"the contract wallet 0xfB69…d359 on chain {chain} does not count, for {here} do"


@dataclass(frozen=True)
class Case:
    """What is told to someone with some accounts, of a rule as it is written."""

    written: Any
    accounts: tuple[Account, ...]
    holds: Holds
    because: str
    need: str
    rule: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    again: bool = False


def token(**more: str) -> dict[str, Any]:
    return {"token": {"chain": "10", "contract": TOKEN, "standard": "erc721", **more}}


def held(least: str) -> str:
    return f"hold at least {least} of the token 0x3bc1…d137 on chain 10 in one wallet"


HAT, WEAR = {"hat": "30.3.1"}, "wear the hat 30.3.1"
ERC20, ERC1155 = token(standard="erc20"), token(standard="erc1155", id="7")
CLAIM = {"claim": {"name": "groups", "value": "staff"}}
OF_ISSUER = {"claim": {"name": "groups", "value": "staff", "issuer": ISSUER}}
CONTRACT_RULE = {"address": f"eip155:10:{TWO}"}
ORG, OF_ORG = {"github_org": "a"}, "be a member of the GitHub organization a"
AT_DOMAIN = "sign in where your e-mail address at example.com is verified"
LISTED_EMAIL = "sign in where your e-mail address that an admin has listed is verified"

CASES = [
    Case("signed_in", (), "no", "nobody is signed in", "sign in", "signed_in"),
    Case("signed_in", (GITHUB,), "yes", "is signed in", "sign in", "signed_in"),
    Case("signed_in", (LAPSED,), "unknown", LAPSED_PROOF, "sign in", "signed_in", again=True),
    Case(HAT, (), "no", "no wallet is linked", WEAR, "hat: 30.3.1"),
    Case(HAT, (LAPSED,), "unknown", LAPSED_PROOF, WEAR, "hat: 30.3.1", again=True),
    Case(HAT, (ON_10,), "unknown", "hats was not asked", WEAR, "hat: 30.3.1"),
    Case(HAT, (KEY,), "unknown", "the answer makes no sense", WEAR, facts={"hats": 1}),
    Case(ERC20, (KEY,), "unknown", "tokens was not asked", held("1")),
    Case(ERC20, (UNSIGNED,), "unknown", UNKNOWN_PROOF, held("1"), again=True),
    Case(
        ERC20,
        (KEY,),
        "no",
        "no linked wallet holds 1 of the token 0x3bc1…d137",
        held("1"),
        f"token: {{chain: 10, contract: {TOKEN}, standard: erc20, minimum: 1}}",
        {"tokens": 1},
    ),
    Case(
        token(minimum="2"),
        (KEY, ON_1),
        "no",
        "no linked wallet holds 2 of the token 0x3bc1…d137; "
        + elsewhere(1, "keys and contracts on chain 10"),
        held("2"),
        facts={"tokens": 1},
    ),
    Case(
        ERC1155,
        (KEY,),
        "yes",
        "holds at least 1 of the token 0x3bc1…d137 (0x5aAe…eAed)",
        held("1"),
        f"token: {{chain: 10, contract: {TOKEN}, standard: erc1155, id: 7, minimum: 1}}",
        {"tokens": 1},
    ),
    Case({"address": ONE}, (KEY,), "yes", "is the wallet 0x5aAe…eAed", LISTED_WALLET),
    Case({"address": ONE}, (), "no", "no wallet is linked", LISTED_WALLET, f"address: {ONE}"),
    Case({"address": ONE}, (OTHER_KEY,), "no", "no linked wallet is the listed one", LISTED_WALLET),
    Case(CONTRACT_RULE, (ON_10,), "yes", "is the wallet 0xfB69…d359", LISTED_WALLET),
    Case(
        CONTRACT_RULE,
        (ON_1,),
        "no",
        elsewhere(1, "keys and contracts on chain 10"),
        LISTED_WALLET,
        f"address: eip155:10:{TWO}",
    ),
    Case(
        {"address": TWO},
        (ON_1, ON_10),
        "no",
        f"{elsewhere(1, 'keys alone')}; {elsewhere(10, 'keys alone')}",
        LISTED_WALLET,
    ),
    Case(
        {"email": "ana@example.org"},
        (OIDC,),
        "yes",
        "has the verified address ana@example.org",
        LISTED_EMAIL,
        "email: ana@example.org",
    ),
    Case(
        {"email": "ana@example.org"},
        (GITHUB,),
        "no",
        "no verified e-mail address is the listed one",
        LISTED_EMAIL,
    ),
    Case(
        {"email": "*@example.com"},
        (GITHUB,),
        "no",
        "no verified e-mail address is one at example.com",
        AT_DOMAIN,
        "email: *@example.com",
    ),
    Case(
        {"email": "*@example.com"},
        (OUTDATED,),
        "unknown",
        "the e-mail address was verified too long ago to count",
        AT_DOMAIN,
        again=True,
    ),
    Case(
        CLAIM,
        (OIDC,),
        "yes",
        f"has the claim groups=staff from {ISSUER}",
        SOME_PROVIDER,
        "claim: {name: groups, value: staff}",
    ),
    Case(
        OF_ISSUER,
        (GITHUB,),
        "no",
        "no linked account has the claim groups=staff",
        f"have the claim groups=staff from {ISSUER}",
        f"claim: {{name: groups, value: staff, issuer: {ISSUER}}}",
    ),
    Case(
        CLAIM,
        (OUTDATED,),
        "unknown",
        f"what {ISSUER} said of groups is too old to count",
        SOME_PROVIDER,
        again=True,
    ),
    Case(
        "passport_score",
        (KEY,),
        "yes",
        "has a passport score of 30 (0x5aAe…eAed)",
        "have a passport score of at least 25",
        "passport_score: 25",
        {"passport": 30.0},
    ),
    Case(
        "passport_score",
        (KEY,),
        "no",
        "no linked wallet has a passport score of at least 25",
        "have a passport score of at least 25",
        facts={"passport": 3},
    ),
    Case(
        {"passport_score": "30.5"},
        (ON_1,),
        "no",
        elsewhere(1, "keys alone"),
        "have a passport score of at least 30.5",
        "passport_score: 30.5",
    ),
    Case(
        {"github": "octocat"},
        (GITHUB,),
        "yes",
        "is OctoCat on GitHub",
        LISTED_GITHUB,
        "github: octocat",
    ),
    Case(
        {"github": "nobody"},
        (GITHUB,),
        "no",
        "no linked GitHub account is the listed one",
        LISTED_GITHUB,
    ),
    Case({"github": "nobody"}, (), "no", NO_GITHUB, LISTED_GITHUB),
    Case(
        ORG,
        (GITHUB,),
        "yes",
        "OctoCat is a member of the GitHub organization a",
        OF_ORG,
        "github_org: a",
        {"github": True},
    ),
    Case(
        ORG,
        (GITHUB,),
        "no",
        "no linked account is a known member of the GitHub organization a",
        OF_ORG,
        facts={"github": False},
    ),
    Case(ORG, (), "no", NO_GITHUB, OF_ORG),
    Case(
        {"github_team": "a/b"},
        (GITHUB,),
        "yes",
        "OctoCat is a member of the GitHub team a/b",
        "be a member of the GitHub team a/b",
        "github_team: a/b",
        {"github": True},
    ),
    Case(
        {"github_age": "90d"},
        (OLD,),
        "yes",
        "old is on GitHub since 2011-01-25",
        "have a GitHub account that is at least 90d old",
        "github_age: 90d",
    ),
    Case(
        {"github_age": "36h"},
        (NEW,),
        "no",
        "no linked GitHub account is 36h old",
        "have a GitHub account that is at least 36h old",
        "github_age: 36h",
    ),
    Case(
        {"github_age": "90d"},
        (GITHUB,),
        "unknown",
        "GitHub did not say when OctoCat was made",
        "have a GitHub account that is at least 90d old",
    ),
    Case(
        {"github_age": "1d"}, (), "no", NO_GITHUB, "have a GitHub account that is at least 1d old"
    ),
    Case({"any_of": []}, (KEY,), "no", "the rules give this to nobody", "", "any_of"),
    Case({"any_of": ["signed_in"]}, (KEY,), "yes", "", "one of these", "any_of"),
    Case({"all_of": ["signed_in"]}, (KEY,), "yes", "", "all of these", "all_of"),
    Case({"not": "signed_in"}, (KEY,), "no", "", "not this", "not"),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}" for n in range(len(CASES))])
def test_a_verdict_says_in_these_words_why_and_what_it_would_take(case: Case) -> None:
    rule: Any = TypeAdapter(Rule).validate_python(case.written)
    answers = {
        question: Answer(case.facts[question.source], 1.0)
        for question in rule.questions(case.accounts)
        if question.source in case.facts
    }
    found: Verdict = rule.verdict(case.accounts, answers)
    assert (found.holds, found.because) == (case.holds, case.because)
    assert found.need == case.need
    assert found.again is case.again
    if case.rule:
        assert found.rule == case.rule


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"hatt": "30.1"}, "unknown kind of condition; did you mean hat?"),
        (
            {"zzz": "1"},
            "unknown kind of condition; valid: any_of, all_of, not, signed_in, hat, token, github, "
            "github_org, github_team, github_age, address, email, claim, passport_score",
        ),
        ("hat", "needs a value, as in {hat: …}"),
        (
            {"hat": "1", "github": "a"},
            "has more than one kind; join conditions with any_of or all_of",
        ),
        ([{"hat": "1"}], "is a list; write any_of or all_of before it"),
        (None, "is empty; write signed_in, {hat: 30.3.1} or another condition"),
        (
            {"signed_in": "no"},
            "takes no value: write signed_in alone, below not for the contrary",
        ),
        (
            token(standard="erc1155"),
            "erc1155 needs the id of the token, and the other standards have none",
        ),
        (token(minimum="1.5"), "a minimum of erc721 is a whole number"),
        (token(chain="ten"), "must be a whole number"),
        (token(minimum="much"), "must be a number, such as 100 or 0.5"),
        ({"github_age": "90"}, "must be days or hours with their unit, such as 90d or 36h"),
        ({"address": "0x12"}, "must be an address: 0x and 40 hexadecimal digits"),
        (
            {"address": ONE.replace("Aeb", "aeb")},
            "is no address that exists: its checksum (the case of its letters, EIP-55) is wrong; "
            "copy it again",
        ),
        ({"email": "ana"}, 'must be an address, or "*@example.org" for all of a domain'),
    ],
)
def test_what_is_no_rule_is_refused_in_these_words(written: Any, told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Rule).validate_python(written)
    assert [each["msg"] for each in refused.value.errors()] == [f"Value error, {told}"]


def test_a_rule_that_is_too_large_is_refused_in_these_words() -> None:
    with pytest.raises(ValidationError) as refused:
        AccessRules.model_validate({"admins": {"any_of": ["signed_in"] * 2_000}})
    assert refused.value.errors()[0]["msg"] == (
        "Value error, the rule for admins has more than 12 levels or 2000 keys and values; "
        "make it simpler"
    )


def test_the_groups_that_rules_can_put_people_in_are_told_without_those_of_admins() -> None:
    rules = AccessRules.model_validate(
        {
            "public": {"any_of": ["signed_in", CLAIM]},
            "members": {"all_of": [HAT, {"not": {"github_team": "a/b"}}]},
            "admins": ORG,
        }
    )
    assert rules.groups() == {"claim:groups=staff", "hat:30.3.1", "github_team:a/b"}
    assert [place for place, _ in rules.conditions()] == [
        ("public", "any_of", 0),
        ("public", "any_of", 1),
        ("members", "all_of", 0),
        ("members", "all_of", 1, "not"),
        ("admins",),
    ]


def test_a_question_that_was_not_asked_has_an_answer_that_says_so() -> None:
    (question,) = Hat(hat="30.3.1").questions([KEY])
    assert answer_to(question, {}) == Answer(None, 0.0, "hats was not asked")


def test_a_condition_that_may_be_a_word_alone_is_one_in_its_schema() -> None:
    word, whole = PassportScore.model_json_schema()["anyOf"]
    assert word == {"const": "passport_score"}
    assert whole["required"] == ["passport_score"]
