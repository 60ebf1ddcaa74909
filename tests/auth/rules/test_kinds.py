"""Each kind of condition: what it asks, and how it judges."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from auth import Account
from auth import hat_ids as hats
from auth.facts import Answer, Question
from auth.rules import KINDS, Rule

ONE = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
TWO = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
CONTRACT = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
ISSUER = "https://id.example.org"

WALLET = Account.of_key(ONE)
OTHER_WALLET = Account.of_key(TWO)
GITHUB = Account("github:583231", "github", name="OctoCat", email="octo@example.org")
OIDC = Account(
    f"oidc:{ISSUER}#subject#1",
    "oidc",
    email="ana@example.org",
    claims={"groups": ["staff", "board"], "level": 3, "active": True, "team": "red"},
)

_rule = TypeAdapter(Rule)


def rule(written):
    return _rule.validate_python(written)


def judge(written, *accounts, **facts):
    """The verdict; ``facts`` are values by the question's source, the same for every question."""
    judged = rule(written)
    answers = {
        question: Answer(facts[question.source], 1.0)
        for question in judged.questions(accounts)
        if question.source in facts
    }
    return judged.verdict(accounts, answers)


def asked(written, *accounts):
    return list(rule(written).questions(accounts))


def refusal(written) -> str:
    with pytest.raises(ValidationError) as raised:
        rule(written)
    return str(raised.value.errors()[0]["msg"])


def test_signed_in_is_whoever_has_an_account():
    for written in ("signed_in", {"signed_in": "true"}, {"signed_in": True}):
        assert judge(written, GITHUB).holds == "yes"
        assert judge(written).holds == "no"
    assert judge("signed_in").need == "sign in"


def test_signed_in_takes_no_other_value():
    assert "write signed_in alone" in refusal({"signed_in": "false"})


def test_a_hat_is_asked_for_every_wallet():
    hat = hats.parse("30.3.1")
    assert asked({"hat": "30.3.1"}, WALLET, GITHUB, OTHER_WALLET) == [
        Question("hats", ("wears", ONE, hat)),
        Question("hats", ("wears", TWO, hat)),
    ]


def test_a_wearer_is_told_with_the_wallet_and_is_in_the_hats_group():
    verdict = judge({"hat": "30.3.1"}, WALLET, hats=True)
    assert (verdict.holds, verdict.groups) == ("yes", {"hat:30.3.1"})
    assert verdict.because == "wears the hat 30.3.1 (0x5aAe…eAed)"
    assert verdict.rule == "hat: 30.3.1"
    assert verdict.need == "wear the hat 30.3.1"


def test_who_wears_no_hat_is_in_no_group_and_is_told_why():
    bare = judge({"hat": "30.3.1"}, WALLET, hats=False)
    assert (bare.holds, bare.groups) == ("no", frozenset())
    assert bare.because == "no linked wallet wears the hat 30.3.1"
    assert judge({"hat": "30.3.1"}, GITHUB).because == "no wallet is linked"


def test_one_wallet_of_several_suffices_even_where_another_is_unknown():
    hat = rule({"hat": "30.3.1"})
    first, second = hat.questions([WALLET, OTHER_WALLET])
    for known, holds in ((True, "yes"), (False, "unknown")):
        answers = {first: Answer(None, 1.0, "no RPC answers"), second: Answer(known, 1.0)}
        assert hat.verdict([WALLET, OTHER_WALLET], answers).holds == holds


def test_an_unknown_fact_is_told_with_its_problem():
    hat = rule({"hat": "30.3.1"})
    answers = dict.fromkeys(hat.questions([WALLET]), Answer(None, 1.0, "no RPC answers"))
    verdict = hat.verdict([WALLET], answers)
    assert (verdict.holds, verdict.because) == ("unknown", "no RPC answers")


@pytest.mark.parametrize("nonsense", ["yes", 1, 0, [], {}])
def test_an_answer_that_makes_no_sense_is_unknown(nonsense):
    assert judge({"hat": "30.3.1"}, WALLET, hats=nonsense).holds == "unknown"
    assert judge({"github_org": "superbenefit"}, GITHUB, github=nonsense).holds == "unknown"


@pytest.mark.parametrize("nonsense", ["25", True, float("nan"), []])
def test_a_score_that_is_no_number_is_unknown(nonsense):
    assert judge("passport_score", WALLET, passport=nonsense).holds == "unknown"


def token(**more):
    return {"token": {"chain": "10", "contract": CONTRACT, "standard": "erc20", **more}}


def test_an_erc20_is_asked_with_its_decimals():
    assert asked(token(minimum="0.5"), WALLET) == [
        Question("tokens", ("decimals", 10, CONTRACT)),
        Question("tokens", ("balance", 10, CONTRACT, "erc20", None, ONE)),
    ]
    assert asked(token(minimum="0.5"), GITHUB) == []


@pytest.mark.parametrize(
    ("balance", "holds"),
    [(5 * 10**17, "yes"), (5 * 10**17 - 1, "no"), (0, "no"), (2**256 - 1, "yes"), (-1, "unknown")],
)
def test_an_erc20s_minimum_is_in_whole_tokens_and_exact(balance, holds):
    written = rule(token(minimum="0.5"))
    decimals, held = written.questions([WALLET])
    answers = {decimals: Answer(18, 1.0), held: Answer(balance, 1.0)}
    assert written.verdict([WALLET], answers).holds == holds


def test_an_erc20_without_known_decimals_is_unknown():
    written = rule(token(minimum="0.5"))
    _, held = written.questions([WALLET])
    assert written.verdict([WALLET], {held: Answer(10**30, 1.0)}).holds == "unknown"


@settings(deadline=None)
@given(
    st.decimals(min_value="0.000001", max_value=10**40, places=6),
    st.integers(0, 40),
    st.integers(0, 2**256 - 1),
)
def test_no_amount_is_rounded(minimum, places, balance):
    written = rule(token(minimum=f"{minimum:f}"))
    decimals, held = written.questions([WALLET])
    answers = {decimals: Answer(places, 1.0), held: Answer(balance, 1.0)}
    enough = balance * 10**6 >= int(minimum.scaleb(6)) * 10**places
    assert written.verdict([WALLET], answers).holds == ("yes" if enough else "no")


def test_an_nft_is_counted_and_an_erc1155_is_asked_by_its_id():
    assert asked(token(standard="erc721"), WALLET) == [
        Question("tokens", ("balance", 10, CONTRACT, "erc721", None, ONE))
    ]
    assert asked(token(standard="erc1155", id="0x10"), WALLET) == [
        Question("tokens", ("balance", 10, CONTRACT, "erc1155", 16, ONE))
    ]
    assert judge(token(standard="erc721", minimum="2"), WALLET, tokens=2).holds == "yes"
    assert judge(token(standard="erc721", minimum="2"), WALLET, tokens=1).holds == "no"


def test_no_two_wallets_are_added_up():
    assert (
        judge(token(standard="erc721", minimum="2"), WALLET, OTHER_WALLET, tokens=1).holds == "no"
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"standard": "erc1155"}, "erc1155 needs the id"),
        ({"id": "1"}, "the other standards have none"),
        ({"standard": "erc721", "minimum": "1.5"}, "is a whole number"),
        ({"minimum": "0"}, "greater than 0"),
        ({"minimum": "-1"}, "must be a number"),
        ({"minimum": "1e5"}, "must be a number"),
        ({"minimum": "nan"}, "must be a number"),
        ({"chain": "0o17"}, "must be a whole number"),
        ({"chain": "10.0"}, "must be a whole number"),
        ({"standard": "erc1155", "id": f"0x1{'0' * 64}"}, "must be a whole number"),
        ({"standard": "erc1155", "id": f"{2**256}"}, "less than"),
        ({"contract": CONTRACT.replace("D", "d")}, "checksum"),
    ],
)
def test_a_token_that_cannot_be_is_refused(more, reason):
    assert reason in refusal(token(**more))


def test_a_login_is_compared_without_case_and_a_number_only_with_the_id():
    assert judge({"github": "octocat"}, GITHUB).holds == "yes"
    assert judge({"github": "583231"}, GITHUB).holds == "yes"
    squatter = Account("github:7", "github", name="583231")
    assert judge({"github": "583231"}, squatter).holds == "no"
    assert judge({"github": "octocat"}, WALLET).because == "no GitHub account is linked"


def test_an_account_of_another_provider_is_no_github_account():
    impostor = Account(f"oidc:{ISSUER}#583231", "oidc", name="octocat")
    assert judge({"github": "octocat"}, impostor).holds == "no"


def test_organizations_and_teams_are_asked_by_the_accounts_id():
    assert asked({"github_org": "superbenefit"}, GITHUB, WALLET) == [
        Question("github", ("org", "superbenefit", "583231"))
    ]
    assert asked({"github_team": "superbenefit/core.dev"}, GITHUB) == [
        Question("github", ("team", "superbenefit", "core.dev", "583231"))
    ]


def test_a_member_is_in_the_group_of_the_organization_or_team():
    verdict = judge({"github_org": "superbenefit"}, GITHUB, github=True)
    assert verdict.groups == {"github_org:superbenefit"}
    assert verdict.because == "OctoCat is a member of the GitHub organization superbenefit"
    assert judge({"github_team": "a/b"}, GITHUB, github=True).groups == {"github_team:a/b"}
    assert judge({"github_team": "a/b"}, GITHUB, github=False).holds == "no"


@pytest.mark.parametrize("written", ["a/b", "-a", "a b", "", "a" * 101])
def test_what_is_no_name_on_github_is_refused(written):
    assert refusal({"github": written})
    assert refusal({"github_org": written})


def test_a_team_is_named_with_its_organization():
    assert refusal({"github_team": "core"})


def made(**ago):
    moment = datetime.now(UTC) - timedelta(**ago)
    return Account("github:1", "github", name="new", claims={"created_at": moment.isoformat()})


def test_an_account_on_github_must_have_the_age():
    assert judge({"github_age": "90d"}, made(days=91)).holds == "yes"
    assert judge({"github_age": "90d"}, made(days=89)).holds == "no"
    assert judge({"github_age": "36h"}, made(hours=37)).rule == "github_age: 36h"
    assert judge({"github_age": "90d"}, WALLET).holds == "no"


def test_githubs_own_way_to_write_a_moment_is_read():
    account = Account("github:1", "github", claims={"created_at": "2011-01-25T18:44:36Z"})
    verdict = judge({"github_age": "90d"}, account)
    assert verdict.because == "1 is on GitHub since 2011-01-25"


@pytest.mark.parametrize("claims", [{}, {"created_at": None}, {"created_at": "long ago"}])
def test_an_account_of_unknown_age_is_unknown(claims):
    assert judge({"github_age": "1d"}, Account("github:1", "github", claims=claims)).holds == (
        "unknown"
    )


@pytest.mark.parametrize("written", ["90", "d", "-1d", "90m", "1e3d", "9999999d"])
def test_an_age_without_a_sensible_unit_is_refused(written):
    assert "90d or 36h" in refusal({"github_age": written})


@pytest.mark.parametrize("written", [ONE, ONE.lower(), "0x" + ONE[2:].upper()])
def test_an_address_is_the_same_in_any_case(written):
    verdict = judge({"address": written}, WALLET)
    assert verdict.holds == "yes"
    assert verdict.rule == f"address: {ONE}"
    assert judge({"address": written}, OTHER_WALLET).holds == "no"


@pytest.mark.parametrize("written", ["0x12", ONE[2:], ONE + "0", "vitalik.eth", ""])
def test_what_is_no_address_is_refused(written):
    assert "must be an address" in refusal({"address": written})


def test_an_address_with_a_wrong_checksum_is_refused():
    assert "its checksum" in refusal({"address": ONE.replace("Aeb", "aeb")})


def test_an_email_is_compared_whole_or_by_its_domain():
    for written in ("ana@example.org", "ANA@Example.org", "*@example.org", "*@EXAMPLE.org"):
        assert judge({"email": written}, OIDC).holds == "yes"
    for written in ("*@ample.org", "*@mail.example.org", "bob@example.org"):
        assert judge({"email": written}, OIDC).holds == "no"
    assert judge({"email": "octo@example.org"}, GITHUB).holds == "yes"
    assert judge({"email": "*@example.org"}, WALLET).holds == "no"


def test_only_the_last_part_of_an_address_is_its_domain():
    tricky = Account("oidc:i#s", "oidc", email='"a@example.org"@evil.example')
    assert judge({"email": "*@example.org"}, tricky).holds == "no"


@pytest.mark.parametrize(
    "written", ["*", "*@", "a*@example.org", "*@*", "*@*.org", "a b@c.d", "@c.d"]
)
def test_what_is_no_email_is_refused(written):
    assert "must be an address" in refusal({"email": written})


def claim(**more):
    return {"claim": {"name": "groups", "value": "staff", **more}}


@pytest.mark.parametrize(
    ("name", "value", "holds"),
    [
        ("groups", "staff", "yes"),
        ("groups", "board", "yes"),
        ("groups", "staf", "no"),
        ("level", "3", "yes"),
        ("level", "3.0", "yes"),
        ("level", "three", "no"),
        ("active", "true", "yes"),
        ("active", "1", "no"),
        ("team", "red", "yes"),
        ("team", "Red", "no"),
        ("missing", "None", "no"),
    ],
)
def test_a_claim_is_a_text_a_number_a_truth_value_or_one_of_a_list(name, value, holds):
    verdict = judge(claim(name=name, value=value), OIDC)
    assert verdict.holds == holds
    assert verdict.groups == ({f"claim:{name}={value}"} if holds == "yes" else frozenset())


def test_a_claim_counts_from_its_issuer_alone_where_one_is_named():
    assert judge(claim(issuer=f"{ISSUER}/"), OIDC).holds == "yes"
    assert judge(claim(issuer="https://id.example"), OIDC).holds == "no"
    assert judge(claim(issuer=f"{ISSUER}#subject"), OIDC).holds == "no"


def test_what_github_says_is_no_claim():
    account = Account("github:1", "github", claims={"groups": ["staff"]})
    assert judge(claim(), account).holds == "no"


@settings(deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=4))
def test_a_claim_of_any_shape_is_judged(value):
    account = Account("oidc:i#s", "oidc", claims={"groups": value})
    assert judge(claim(), account).holds in {"yes", "no"}


def test_a_passport_score_of_25_is_asked_where_none_is_written():
    assert asked("passport_score", WALLET) == [Question("passport", ("score", ONE))]
    assert judge("passport_score", WALLET, passport=25.0).holds == "yes"
    assert judge("passport_score", WALLET, passport=24.99).holds == "no"
    assert judge({"passport_score": "30.5"}, WALLET, passport=30).holds == "no"
    assert judge("passport_score", WALLET, passport=None).holds == "unknown"
    assert judge("passport_score", GITHUB).holds == "no"


@pytest.mark.parametrize("written", ["0", "101", "1e1", "high"])
def test_a_score_that_cannot_be_is_refused(written):
    assert refusal({"passport_score": written})


EXAMPLES = [
    "signed_in",
    {"hat": "30.3.1"},
    token(),
    {"github": "octocat"},
    {"github_org": "superbenefit"},
    {"github_team": "superbenefit/core"},
    {"github_age": "90d"},
    {"address": ONE},
    {"email": "ana@example.org"},
    claim(),
    "passport_score",
]


def test_every_kind_has_an_example_here():
    written = {each if isinstance(each, str) else next(iter(each)) for each in EXAMPLES}
    assert written | {"any_of", "all_of", "not"} == set(KINDS)


@pytest.mark.parametrize("written", EXAMPLES)
def test_every_kind_says_no_to_a_stranger_and_what_it_would_take(written):
    verdict = judge(written)
    assert (verdict.holds, asked(written)) == ("no", [])
    assert verdict.because
    assert verdict.need


@pytest.mark.parametrize(
    "written", [{"email": "ana@example.org"}, {"address": ONE}, {"github": "octocat"}]
)
def test_what_members_are_told_they_need_names_nobody(written):
    (name,) = written.values()
    verdict = judge(written, Account("github:2", "github"), Account.of_key(TWO))
    assert name not in verdict.need + verdict.because
    assert name in verdict.rule
