"""How pages write accounts, moments and spans."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from auth.callers import Account
from gateway.surfaces.pages import words

ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"


@pytest.mark.parametrize(
    ("account", "name", "provider"),
    [
        (Account.of_key(ADDRESS), "0x19E7…ff2A", "Wallet"),
        (Account.of_key(ADDRESS, "ana.eth"), "ana.eth", "Wallet"),
        (Account("github:583231", "github", "octo-cat"), "octo-cat", "GitHub"),
        (Account("github:583231", "github"), "583231", "GitHub"),
        (Account("oidc:https://id.example.org#7", "oidc", "Ana"), "Ana", "id.example.org"),
        (Account("oidc:https://x/y#7", "oidc", email="a@b.org"), "a@b.org", "x/y"),
        (Account("github:7", "github", "\u202eevil\u2066\n"), "evil", "GitHub"),
        (Account("github:7", "github", "\u202e"), "7", "GitHub"),
        (Account("github:7", "github", "x" * 99), "x" * 60, "GitHub"),
        (Account("oidc:https://x#0123456789abcdef", "oidc"), "012345…cdef", "x"),
    ],
)
def test_an_account_is_called_what_people_know_it_by(
    account: Account, name: str, provider: str
) -> None:
    assert (words.account(account), words.provider(account)) == (name, provider)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (300, "5 minutes"),
        (3600, "1 hour"),
        (86_400, "1 day"),
        (90 * 86_400, "90 days"),
    ],
)
def test_a_span_is_written_in_its_largest_unit(seconds: int, text: str) -> None:
    assert words.span(seconds) == text


def test_moments_are_written_in_utc() -> None:
    there = datetime(2026, 11, 21, 18, 5, tzinfo=timezone(timedelta(hours=2)))
    assert words.moment(there) == "21 November 2026, 16:05 UTC"
    assert words.day(datetime(2026, 3, 1, tzinfo=UTC)) == "1 March 2026"
    assert words.iso(there) == "2026-11-21T16:05:00+00:00"


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit Chrome/156 Safari/537", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/150 Safari/537.36 Edg/150", "Edge on Windows"),
        ("Mozilla/5.0 (Android 15; Mobile; rv:140) Firefox/140.0", "Firefox on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18 like Mac OS X) Safari/604", "Safari on iPhone"),
        ("curl/8", "curl/8"),
        ("", "A browser"),
    ],
)
def test_a_browser_is_called_what_people_call_it(agent: str, text: str) -> None:
    assert words.agent(agent) == text


@pytest.mark.parametrize(
    ("description", "gist"),
    [
        ("Find documents. Use it often.", "Find documents."),
        ("Find documents", "Find documents"),
        ("\nFind e.g.\nmore.", "Find e.g."),
        ("Version 1.2 of it.", "Version 1.2 of it."),
        (None, ""),
    ],
)
def test_a_description_is_told_by_its_first_sentence(description: str | None, gist: str) -> None:
    assert words.gist(description) == gist
