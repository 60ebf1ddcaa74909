"""What providers say of people: the newest word on each claim counts, for as long as configured."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.callers import Account
from auth.claims import current, is_news, merged, with_undated
from auth.issuers import oidc_claims

ISSUER = "https://id.example"


def said(claims: dict[str, Any], at: float | None) -> Account:
    """The account of a token."""
    return oidc_claims.account(ISSUER, {"sub": "ana", **claims}, at=at)


def heard(*words: Account) -> Account:
    """What is known after words that came in this order."""
    known = reduce(lambda known, word: merged(known, word), words, None)
    assert known is not None
    return known


GROUPS = st.none() | st.lists(st.sampled_from(["staff", "core", "*"]), unique=True, max_size=3)
WORDS = st.lists(
    st.builds(
        lambda at, groups, level, email, verified: said(
            ({} if groups is None else {"groups": groups})
            | ({} if level is None else {"level": level})
            | ({} if email is None else {"email": email, "email_verified": verified}),
            at,
        ),
        st.integers(0, 3),
        GROUPS,
        st.none() | st.integers(0, 2),
        st.sampled_from([None, "a@x.org", "b@x.org"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@given(WORDS, st.randoms(use_true_random=False))
def test_the_order_in_which_words_arrive_decides_nothing(words: list[Account], chance: Any) -> None:
    shuffled = [*words, *words]
    chance.shuffle(shuffled)
    one, other = heard(*words), heard(*shuffled)
    assert (one.email, one.dated) == (other.email, other.dated)
    assert set(one.claims.get("groups", [])) == set(other.claims.get("groups", []))
    assert {name: one.claims.get(name) for name in ("level", "email", "email_verified")} == {
        name: other.claims.get(name) for name in ("level", "email", "email_verified")
    }


@given(WORDS)
def test_nothing_is_kept_that_the_newest_words_do_not_all_say(words: list[Account]) -> None:
    known = heard(*words)
    for claim, value in known.claims.items():
        speaking = [word for word in words if claim in (word.dated or {})]
        newest = max((word.dated or {})[claim] for word in speaking)
        last = [word.claims.get(claim) for word in speaking if (word.dated or {})[claim] == newest]
        if claim == "groups":
            assert set(value) == set.intersection(*(set(each or ()) for each in last))
        elif value is not None:
            assert last == [value] * len(last)
    if known.email:
        speaking = [word for word in words if "email" in (word.dated or {})]
        newest = max((word.dated or {})["email"] for word in speaking)
        assert {word.email for word in speaking if (word.dated or {})["email"] == newest} == {
            known.email
        }


def test_an_address_and_its_verification_are_of_one_token() -> None:
    verified = said({"email": "a@x.org", "email_verified": True}, 100)
    other = said({"email": "b@x.org"}, 200)
    known = heard(verified, other)
    assert (known.email, known.claims) == (None, {"email": "b@x.org"})
    taken = heard(verified, said({"email_verified": False}, 200))
    assert (taken.email, taken.claims) == (None, {"email_verified": False})


def test_groups_that_a_token_only_points_to_are_not_what_they_were() -> None:
    many = said({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {}}}, 200)
    assert "groups" not in heard(said({"groups": ["staff"]}, 100), many).claims


def test_a_null_is_a_word_too() -> None:
    assert heard(said({"groups": ["staff"]}, 100), said({"groups": None}, 200)).claims == {
        "groups": None
    }


def test_a_word_without_a_time_is_never_kept_and_speaks_for_its_own_request_alone() -> None:
    undated = said({"groups": ["staff"], "level": 1}, None)
    known = heard(said({"groups": []}, 100), undated)
    assert known.claims == {"groups": []}
    assert not is_news(known, undated)
    assert with_undated(known, undated).claims == {"groups": [], "level": 1}
    assert with_undated(known, said({"level": 1}, 50)) == known
    assert heard(undated).claims == {}


def test_what_was_said_too_long_ago_is_named_and_gone() -> None:
    known = heard(said({"groups": ["staff"], "email": "a@x.org", "email_verified": True}, 100))
    assert current(known, 200, 100) is known
    old = current(known, 200.5, 100)
    assert (old.claims, old.email) == ({}, None)
    assert old.outdated == {"groups", "email", "email_verified"}
    fresh = current(heard(known, said({"level": 2}, 200)), 201, 100)
    assert fresh.claims == {"level": 2}
    assert "level" not in fresh.outdated


def test_what_cannot_become_untrue_does_not_age() -> None:
    github = Account(
        "github:1", "github", "octo", "o@x.org", {"login": "octo"}, {"email": 0.0, "login": 0.0}
    )
    assert current(github, 1e9, 1.0) == replace(github, email=None, outdated=frozenset({"email"}))
    wallet = Account("wallet:0x1", "wallet", dated={})
    assert current(wallet, 1e9, 1.0) is wallet


@pytest.mark.parametrize("at", [1e9, 1e9 - 30.0])
def test_a_word_from_a_clock_ahead_is_the_newest_until_the_clock_goes_on(at: float) -> None:
    ahead = said({"groups": ["staff"]}, at + 50)
    assert heard(ahead, said({"groups": []}, at + 49)).claims == {"groups": ["staff"]}
    assert heard(ahead, said({"groups": []}, at + 51)).claims == {"groups": []}
