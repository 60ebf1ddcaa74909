"""How pages write tiers, accounts, moments and spans of time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from auth.callers import Account
from auth.stores import Person
from auth.tiers import Tier
from gateway.toolkit.counts import counted

_MAX_NAME_CHARACTERS = 60
_PROVIDERS = {"wallet": "Wallet", "github": "GitHub", "oidc": "OpenID Connect"}
# What tells browsers and systems apart, the more telling first.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("FxiOS/", "Firefox"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_TURNING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def tier(value: Tier | str) -> str:
    """A tier's name: ``Members``."""
    return str(value).capitalize()


def account(value: Account) -> str:
    """What to call an account: its name, or else what it can be told apart by."""
    if name := plain(value.name or ""):
        return name
    if value.provider == "wallet":
        return short(value.address)
    if value.email:
        return value.email
    return short(value.id.rpartition("#")[2])


def provider(value: Account) -> str:
    """What kind of account it is; for OpenID Connect, whose; of a contract, where it counts."""
    if value.provider == "oidc":
        issuer = value.id.partition("#")[0]
        return issuer.partition("://")[2] or issuer
    if value.chain is not None:
        return f"Contract wallet on chain {value.chain}"
    return _PROVIDERS.get(value.provider, value.provider)


def person(value: Person) -> str:
    """What to call a person."""
    return plain(value.name or "") or account(value.accounts[0])


def plain(name: str) -> str:
    """A name that somebody chose, without what could change how the words around it read."""
    return "".join(each for each in name if each.isprintable()).strip()[:_MAX_NAME_CHARACTERS]


def harmless(value: Any) -> Any:
    """What a template shows, without the characters that turn text around (UAX #9, 2.1 to 2.4)."""
    return value.translate(_TURNING) if type(value) is str else value


def short(text: str) -> str:
    """A long identifier with its middle left out: ``0x1234…abcd``."""
    return text if len(text) <= 14 else f"{text[:6]}…{text[-4:]}"


def moment(value: datetime) -> str:
    """A moment to the minute: ``21 November 2026, 16:20 UTC``."""
    value = value.astimezone(UTC)
    return f"{value.day} {value:%B %Y, %H:%M} UTC"


def day(value: datetime) -> str:
    """A day: ``21 November 2026``."""
    value = value.astimezone(UTC)
    return f"{value.day} {value:%B %Y}"


def iso(value: datetime) -> str:
    """A moment as machines read it."""
    return value.astimezone(UTC).isoformat(timespec="seconds")


def span(seconds: float) -> str:
    """A span of time in its largest unit: ``90 days``, ``5 minutes``."""
    for size, unit in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= size:
            return counted(round(seconds / size), unit)
    return counted(round(seconds), "second")


def gist(text: str | None) -> str:
    """The first sentence of a description, which is written for models and may be long."""
    line = (text or "").strip().partition("\n")[0]
    sentence, end, _ = line.partition(". ")
    return f"{sentence}." if end else line


def agent(text: str) -> str:
    """What a browser calls itself, as people say it: ``Firefox on Android``."""
    browser = next((name for sign, name in _BROWSERS if sign in text), "")
    system = next((name for sign, name in _SYSTEMS if sign in text), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or text[:60] or "A browser"


FILTERS: dict[str, Callable[..., Any]] = {
    "counted": counted,
    "tier": tier,
    "account": account,
    "provider": provider,
    "person": person,
    "short": short,
    "moment": moment,
    "day": day,
    "iso": iso,
    "span": span,
    "gist": gist,
    "agent": agent,
}
"""The names under which templates use them."""
