"""``porch token`` makes, lists and revokes operators' tokens."""

from __future__ import annotations

import asyncio
import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from auth import BadCredential, Identity, Tier
from auth.revocations import Revocations
from auth.tokens.api_tokens import ApiTokens
from gateway.cli.options import EXIT
from tests.auth.stores import empty_stores
from tests.gateway.cli.conftest import Run, served

GET, SEARCH = "get_document", "search_knowledge"


def identified(place: Path, text: str) -> Identity | None:
    """What a portal on the same data would make of a token."""

    async def identify() -> Identity | None:
        async with empty_stores(place / "data") as stores:
            tokens = ApiTokens(stores.tokens, stores.people, Revocations(stores.revocations))
            found = await tokens.identify(text, "/mcp")
            await tokens.settled()
            return found

    return asyncio.run(identify())


def test_a_token_is_printed_and_nothing_else_and_it_is_good(porch: Run, place: Path) -> None:
    result = porch("token", "create", "--tier", "members", "--name", "ci")
    assert result.exit_code == EXIT.DONE
    assert re.fullmatch(r"porch_[A-Za-z0-9_-]{43}\n", result.stdout)
    assert result.stderr == ""
    identity = identified(place, result.stdout.strip())
    assert identity is not None
    assert (identity.person, identity.granted) == ("token:ci", Tier.MEMBERS)
    assert (identity.tools, identity.expires) == (None, None)


def test_a_token_can_be_limited(porch: Run, place: Path) -> None:
    words = ("--tier", "public", "--name", "bot", "--expires", "90d")
    made = porch("token", "create", *words, "--tool", GET, "--tool", SEARCH)
    identity = identified(place, made.stdout.strip())
    assert identity is not None
    assert identity.tools == frozenset({GET, SEARCH})
    assert identity.expires is not None
    (listed,) = json.loads(porch("token", "list", "--json").stdout)
    assert (listed["name"], listed["granted"], listed["tools"]) == (
        "bot",
        "public",
        [GET, SEARCH],
    )
    assert listed["created"].startswith(f"{datetime.now(UTC):%Y-%m-%d}T")
    assert (listed["expires"][10], listed["used"][10]) == ("T", "T")
    assert made.stdout.strip() not in json.dumps(listed)


def test_a_tool_that_no_plugin_offers_is_refused_with_those_that_come_near(porch: Run) -> None:
    words = ("token", "create", "--tier", "public", "--name", "bot", "--tool", GET)
    refused = porch(*words, "--tool", "serch_knowledge", "--tool", "zzz")
    assert refused.exit_code == EXIT.USAGE
    assert refused.stdout == ""
    assert "There is no tool 'serch_knowledge'. Is search_knowledge" in refused.stderr
    assert "There is no tool 'zzz'.\n" in refused.stderr
    assert GET not in refused.stderr
    assert porch("token", "list", "--json").stdout.strip() == "[]"


def test_an_alias_is_the_tools_name_in_a_token(porch: Run, place: Path) -> None:
    portal = place / "config" / "portal.yaml"
    portal.write_text(portal.read_text() + f"    alias: {{{SEARCH}: look_up}}\n")
    words = ("token", "create", "--tier", "public", "--name", "bot", "--tool")
    assert porch(*words, SEARCH).exit_code == EXIT.USAGE
    assert porch(*words, "look_up").exit_code == EXIT.DONE


def test_tools_of_a_plugin_that_is_off_are_taken_unchecked(porch: Run, place: Path) -> None:
    portal = place / "config" / "portal.yaml"
    portal.write_text(portal.read_text() + "    enabled: false\n")
    words = ("token", "create", "--tier", "public", "--name", "bot", "--tool", SEARCH)
    refused = porch(*words)
    assert refused.exit_code == EXIT.USAGE
    assert "Not open, so that their tools are not known: " in refused.stderr
    assert "knowledge" in refused.stderr
    made = porch(*words, "--unchecked")
    identity = identified(place, made.stdout.strip())
    assert identity is not None
    assert identity.tools == frozenset({SEARCH})


def test_tokens_are_listed_by_name(porch: Run) -> None:
    assert "There is no token" in porch("token", "list").stdout
    for name in ("zebra", "ant"):
        porch("token", "create", "--tier", "open", "--name", name)
    head, first, second = porch("token", "list").stdout.splitlines()
    assert head.split() == ["name", "tier", "created", "expires", "last", "used", "tools"]
    assert first.startswith("ant")
    assert second.startswith("zebra")
    assert first.split()[-3:] == ["never", "never", "all"]


def test_a_name_is_free_again_once_its_token_is_revoked(porch: Run, place: Path) -> None:
    text = porch("token", "create", "--tier", "members", "--name", "ci").stdout.strip()
    again = porch("token", "create", "--tier", "members", "--name", "ci")
    assert again.exit_code == EXIT.PROBLEM
    assert "There is a token ci already" in again.stderr
    assert porch("token", "revoke", "ci").stdout == "The token ci is revoked.\n"
    with pytest.raises(BadCredential, match="revoked"):
        identified(place, text)
    assert porch("token", "create", "--tier", "open", "--name", "ci").exit_code == EXIT.DONE
    unknown = porch("token", "revoke", "no-such")
    assert unknown.exit_code == EXIT.PROBLEM
    assert "There is no token 'no-such'" in unknown.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--tier", "members", "--name", "Not This"),
        ("--tier", "gold", "--name", "ci"),
        ("--tier", "members", "--name", "ci", "--expires", "soon"),
        ("--tier", "members", "--name", "ci", "--expires", "0d"),
        ("--tier", "members", "--name", "ci", "--expires", "9999999d"),
        ("--name", "ci"),
    ],
)
def test_what_is_no_token_is_a_usage_error(porch: Run, words: tuple[str, ...]) -> None:
    result = porch("token", "create", *words)
    assert result.exit_code == EXIT.USAGE
    assert result.stdout == ""


def test_a_database_that_cannot_be_used_is_told_without_a_traceback(
    porch: Run, place: Path
) -> None:
    (place / "data").mkdir()
    (place / "data" / "porch.db").write_bytes(b"this is no database, " * 500)
    result = porch("token", "list")
    assert result.exit_code == EXIT.CONFIG
    assert "porch.db cannot be used" in result.stderr


def test_a_database_that_is_none_is_told_by_its_setting(porch: Run) -> None:
    Path("config/portal.yaml").write_text("services: {database: postgresql://127.0.0.1:1/none}\n")
    result = porch("token", "list")
    assert result.exit_code == EXIT.CONFIG
    assert "services.database: PostgreSQL at 127.0.0.1:1" in result.stderr


def test_a_portal_that_runs_takes_a_new_token_and_soon_refuses_a_revoked_one(
    porch: Run, place: Path
) -> None:
    with served(place) as (url, _):
        text = porch("token", "create", "--tier", "members", "--name", "ci").stdout.strip()

        def refused() -> bool:
            answer = httpx2.get(f"{url}/api/v1/", headers={"Authorization": f"Bearer {text}"})
            return answer.status_code == 401

        assert not refused()
        assert porch("token", "revoke", "ci").exit_code == EXIT.DONE
        deadline = time.monotonic() + 60
        while not refused():
            assert time.monotonic() < deadline
            time.sleep(0.05)
