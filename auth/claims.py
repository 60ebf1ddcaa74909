"""What a provider said of somebody, and when: the newest word on each claim counts, for a while.

An issuer speaks of an account at several doors: in the JWTs that programs bring, and at each
sign-in. These are one source, because a subject is of one issuer and its clock dates them all. So
of each claim the newest word is kept with its time (``Account.dated``), and an older one changes
nothing, whenever it arrives. A token that is silent on a claim says nothing about it; an empty
list does. Accounts of two issuers never touch each other: they are two accounts.

What two tokens of the same second say differently is granted only as far as both say it, so that
the order in which they arrive decides nothing. A word without a time can be compared with none: it
is never kept, and counts for its own request alone, where nothing dated was ever said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from auth.callers import Account

SHORTEST_AGE_S = 3600.0
"""The least age, in seconds, at which what was said may be taken to be unknown."""
EMAIL = "email"
"""The claim that ``Account.email`` is of."""

_MISSING = object()


def statements(account: Account) -> frozenset[str]:
    """The claims of an account whose time matters, because they may become untrue.

    What GitHub says beside the address never does: the number, and since when it is.
    """
    said = set(account.claims) if account.provider == "oidc" else set()
    return frozenset(said | ({EMAIL} if account.email else set()))


def merged(known: Account | None, said: Account) -> Account:
    """What is known of an account once its provider has said something.

    Args:
        known: what was known, if anything; each of its statements is dated.
        said: what the provider says; where ``dated`` is None it was asked just now, and its word
            replaces all that it said before.

    Returns:
        The account, with the newest word on each claim; without what ``said`` does not date.
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
    """Whether a provider's word changes what is known of an account, or since when."""
    heard = merged(known, said)
    return heard != known or (said.dated is not None and heard.dated != known.dated)


def renewed(before: Iterable[Account], now: Iterable[Account]) -> bool:
    """Whether accounts say something else, or what might have counted as too old counts again."""
    earlier = {account.subject: account for account in before}
    later = list(now)
    if list(earlier.values()) != later:
        return True
    return any(
        at - (earlier[account.subject].dated or {}).get(claim, 0.0) >= SHORTEST_AGE_S
        for account in later
        for claim, at in (account.dated or {}).items()
    )


def with_undated(known: Account, said: Account) -> Account:
    """A kept account, and what a token without a time says where nothing dated was ever said.

    Args:
        known: what is kept.
        said: what the token of this very request says.
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
    """An account without what was said too long ago, which is named in ``outdated``.

    Args:
        account: the account as it is kept.
        now: seconds since the epoch.
        age: seconds for which a provider's word counts.
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
    """What two words of one moment both say; elements of lists that are in both."""
    if isinstance(one, list) and isinstance(other, list):
        both = {_text(each) for each in one} & {_text(each) for each in other}
        return [each for each in one if _text(each) in both]
    if one is _MISSING or other is _MISSING:
        return _MISSING
    return one if _text(one) == _text(other) else None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def dated(claims: Mapping[str, Any], at: float) -> dict[str, float]:
    """The time of everything that a token makes a statement about.

    An address and whether it is verified are one statement, so that the one is never of another
    token than the other. A claim that the token only points to (OpenID Connect Core 1.0, section
    5.6.2; what providers do with very many groups) is not what it was, so it is not said.

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
