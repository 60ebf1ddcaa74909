"""``porch people`` shows who has signed in, signs them out, forgets them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from click.testing import CliRunner

from auth.callers import Account
from auth.revocations import Revocations
from auth.sessions import BrowserSessions
from auth.stores import Grant, Stores
from auth.tiers import Tier
from auth.tokens.api_tokens import ApiTokens
from gateway.cli import main
from gateway.cli.options import EXIT
from tests.auth.stores import empty_stores
from tests.gateway.cli.conftest import Run

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
ALICE = Account.of_key(ADDRESS, "alice.eth")
OCTO = Account("github:583231", "github", "octocat", None, {"login": "octocat"})
MALLORY = Account("oidc:https://id.example.org#1", "oidc", "Mal\x1b[2J\nperson:x  lory")

T = TypeVar("T")


def remembered(place: Path, act: Callable[[Stores], Awaitable[T]]) -> T:
    async def run() -> T:
        async with empty_stores(place / "data") as stores:
            return await act(stores)

    return asyncio.run(run())


@pytest.fixture
def alice(place: Path) -> str:
    """The id of somebody with a wallet and a GitHub account, a browser and a token."""

    async def come(stores: Stores) -> str:
        person = await stores.people.signed_in(ALICE)
        await stores.people.link(person.id, OCTO)
        await BrowserSessions(stores.sessions, timedelta(days=7)).begin(person.id, "A browser")
        tokens = ApiTokens(stores.tokens, stores.people, Revocations(stores.revocations))
        ends = datetime.now(UTC) + timedelta(days=1)
        await tokens.create(person.id, "laptop", ceiling=Tier.MEMBERS, expires=ends)
        return person.id

    return remembered(place, come)


def test_nobody_is_said_so(porch: Run) -> None:
    assert porch("people", "list").stdout == "Nobody has signed in yet.\n"
    assert json.loads(porch("people", "list", "--json").stdout) == []


def test_people_are_listed_each_on_a_line(porch: Run, place: Path, alice: str) -> None:
    remembered(place, lambda stores: stores.people.signed_in(MALLORY))
    first, second = porch("people", "list").stdout.splitlines()
    assert first.startswith(alice)
    assert first.endswith(f"wallet:{ADDRESS} (alice.eth), github:583231 (octocat)")
    assert "\x1b" not in second
    listed = json.loads(porch("people", "list", "--json").stdout)
    assert [each["name"] for each in listed] == ["alice.eth", MALLORY.name]


@pytest.mark.parametrize(
    "who",
    [
        ADDRESS,
        ADDRESS.lower(),
        f"wallet:{ADDRESS}",
        "wallet:Alice.eth",
        "github:OctoCat",
        "github:583231",
    ],
)
def test_a_person_is_found_by_what_an_admin_knows(porch: Run, alice: str, who: str) -> None:
    shown = json.loads(porch("people", "show", who, "--json").stdout)
    assert shown["id"] == alice
    assert json.loads(porch("people", "show", alice, "--json").stdout) == shown
    assert [each["name"] for each in shown["api_tokens"]] == ["laptop"]


def test_a_person_is_shown_to_read(porch: Run, alice: str) -> None:
    shown = porch("people", "show", alice).stdout
    for part in (alice, ADDRESS, "octocat", "laptop", "A browser"):
        assert part in shown


def test_a_client_of_theirs_is_shown_with_its_scope_to_read(
    porch: Run, place: Path, alice: str
) -> None:
    now = datetime.now(UTC)
    scope = ("public", "members")
    grant = Grant("g1", alice, "a-client", "Editor", "http://localhost", scope, now, used=now)
    remembered(place, lambda stores: stores.grants.add(grant))
    shown = " ".join(porch("people", "show", alice).stdout.split())  # a line may end anywhere
    assert "scope public, members" in shown


@pytest.mark.parametrize("who", ["github:nobody", "person:nobody", "0x" + "0" * 40, "someone"])
def test_who_is_not_known_is_said_so(porch: Run, alice: str, who: str) -> None:
    for command in (("show",), ("sign-out",), ("delete", "--yes")):
        result = porch("people", *command, who)
        assert result.exit_code == EXIT.PROBLEM
        assert f"Nobody known here is {who}" in result.stderr


def test_a_name_that_may_mean_two_people_means_nobody(porch: Run, place: Path, alice: str) -> None:
    tricky = Account("github:9", "github", "583231")
    other = remembered(place, lambda stores: stores.people.signed_in(tricky)).id
    result = porch("people", "delete", "--yes", "github:583231")
    assert result.exit_code == EXIT.PROBLEM
    assert alice in result.stderr
    assert other in result.stderr


def test_signing_out_ends_browsers_and_tokens_where_asked(
    porch: Run, place: Path, alice: str
) -> None:
    assert porch("people", "sign-out", "github:octocat").stdout == (
        f"{alice} is signed out everywhere.\n"
    )
    shown = json.loads(porch("people", "show", alice, "--json").stdout)
    assert (shown["sessions"], shown["api_tokens"][0]["revoked"]) == ([], None)
    porch("people", "sign-out", alice, "--tokens")
    shown = json.loads(porch("people", "show", alice, "--json").stdout)
    assert shown["api_tokens"][0]["revoked"]
    notes = remembered(place, lambda stores: stores.revocations.since(0))
    assert [tag for _, tag in notes] == [alice, alice]


def test_an_account_is_taken_away_and_the_last_one_is_not(porch: Run, alice: str) -> None:
    assert porch("people", "unlink", alice, "github:nobody").exit_code == EXIT.PROBLEM
    taken = porch("people", "unlink", "github:octocat", ADDRESS.lower())
    assert taken.stdout == f"wallet:{ADDRESS} is not an account of {alice} any more.\n"
    last = porch("people", "unlink", alice, "github:octocat")
    assert last.exit_code == EXIT.PROBLEM
    assert "`porch people delete`" in last.stderr


def test_a_person_is_forgotten_after_a_question(porch: Run, alice: str) -> None:
    refused = CliRunner().invoke(main, ["people", "delete", alice], input="n\n")
    assert refused.exit_code == EXIT.PROBLEM
    assert ADDRESS in refused.stderr
    assert porch("people", "show", alice).exit_code == EXIT.DONE
    assert porch("people", "delete", alice, "--yes").stdout == f"{alice} is forgotten.\n"
    assert porch("people", "show", alice).exit_code == EXIT.PROBLEM
