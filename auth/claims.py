"""Claims of an account, merged by age: the newest value of each claim counts, for a limited time.

An issuer makes claims about an account in several places: in the JWTs that programs send, and at
each sign-in. All of them are dated by the issuer's own clock, so they can be compared. The newest
value of each claim is stored with its time (``Account.dated``), and an older one changes nothing,
in whatever order they arrive. A token without a claim says nothing about it; an empty list does.
Accounts of two issuers are two accounts and never affect each other.

If two tokens of the same second differ, only what both of them say counts, so that the order in
which they arrive decides nothing. A claim without a time cannot be compared: it is never stored,
and counts for its own request alone, and only if the claim was never made with a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from auth.callers import Account

MIN_CLAIMS_AGE_S = 3600.0
"""The lowest value, in seconds, that an admin may set for the age at which claims expire."""
EMAIL = "email"
"""The claim behind ``Account.email``."""

_MISSING = object()


def statements(account: Account) -> frozenset[str]:
    """The claims of an account that may become untrue, so that their age matters.

    Of a GitHub account only the address may: its number and its age never change.
    """
    claims = set(account.claims) if account.provider == "oidc" else set()
    return frozenset(claims | ({EMAIL} if account.email else set()))


def merged(known: Account | None, said: Account) -> Account:
    """An account after its provider has made new claims.

    Args:
        known: the account as it is stored, if it is; all its claims are dated.
        said: the account as the provider describes it now. Without ``dated`` the provider was
            asked just now, and its answer replaces everything older.

    Returns:
        The account with the newest value of each claim, without undated claims of ``said``.
    """
    if said.dated is None:
        return said
    known = known or Account(said.subject, said.provider)
    claims, dated, email = dict(known.claims), dict(known.dated or {}), known.email
    for claim, at in said.dated.items():
        before = dated.get(claim)
        if before is not None and at < before:
            continue
        value = said.claims.get(claim, _MISSING)
        address = said.email if claim == EMAIL else email
        if before == at:
            value = _agreed(claims.get(claim, _MISSING), value)
            address = email if address == email else None
        claims.pop(claim, None)
        if value is not _MISSING:
            claims[claim] = value
        dated[claim], email = at, address
    newest = max(said.dated.values(), default=0.0) >= max((known.dated or {}).values(), default=0.0)
    names = (said.name, known.name) if newest else (known.name, said.name)
    return replace(
        said, name=names[0] or names[1], email=email, claims=claims, dated=dated, sid=None
    )


def is_news(known: Account | None, said: Account) -> bool:
    """Whether new claims change an account, or the times of its claims."""
    heard = merged(known, said)
    return heard != known or (said.dated is not None and heard.dated != known.dated)


def renewed(before: Iterable[Account], now: Iterable[Account]) -> bool:
    """Whether accounts changed, or claims that may have counted as expired are fresh again."""
    earlier = {account.subject: account for account in before}
    later = list(now)
    if list(earlier.values()) != later:
        return True
    return any(
        at - (earlier[account.subject].dated or {}).get(claim, 0.0) >= MIN_CLAIMS_AGE_S
        for account in later
        for claim, at in (account.dated or {}).items()
    )


def with_undated(known: Account, said: Account) -> Account:
    """A stored account with the undated claims of a request's own token, as far as they count.

    Args:
        known: the account as it is stored.
        said: the account as the token of this request describes it.
    """
    if said.dated is None:
        return known
    dated = known.dated or {}
    more = {
        claim: value
        for claim, value in said.claims.items()
        if claim not in dated and claim not in said.dated
    }
    email = said.email if EMAIL in more else known.email
    return replace(known, email=email, claims={**known.claims, **more}) if more else known


def current(account: Account, now: float, age: float) -> Account:
    """An account without its expired claims, whose names are in ``outdated``.

    Args:
        account: the account as it is stored.
        now: seconds since the epoch.
        age: seconds for which a provider's claim counts.
    """
    dated = account.dated or {}
    old = frozenset(claim for claim in statements(account) if now - dated.get(claim, now) > age)
    silent = frozenset(
        claim
        for claim, at in dated.items()
        if claim not in account.claims and account.provider == "oidc" and now - at > age
    )
    if not old and not silent:
        return account
    return replace(
        account,
        email=None if EMAIL in old else account.email,
        claims={claim: value for claim, value in account.claims.items() if claim not in old},
        outdated=old | silent,
    )


def _agreed(one: Any, other: Any) -> Any:
    """What two values of one moment agree on; of lists, the elements that both have."""
    if isinstance(one, list) and isinstance(other, list):
        both = {_text(each) for each in one} & {_text(each) for each in other}
        return [each for each in one if _text(each) in both]
    if one is _MISSING or other is _MISSING:
        return _MISSING
    return one if _text(one) == _text(other) else None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def dated(claims: Mapping[str, Any], at: float) -> dict[str, float]:
    """The time of each claim that a token makes a statement about.

    An address and whether it is verified are dated together, so that the two never come from
    different tokens. A claim that the token only refers to (a distributed claim, OpenID Connect
    Core 1.0, section 5.6.2; providers do this with very many groups) counts as stated and absent.

    Args:
        claims: what the token says of the person.
        at: when it was made, in seconds since the epoch.
    """
    named = set(claims)
    for claim in (EMAIL, "phone_number"):
        if claim in claims or claims.get(f"{claim}_verified") is False:
            named |= {claim, f"{claim}_verified"}
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping):
        named |= set(elsewhere)
    return dict.fromkeys(named, at)
