"""API tokens: made once, recognised anywhere, revoked at once."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from auth.callers import Account
from auth.credentials import BadCredential
from auth.revocations import Revocations
from auth.stores import Stores
from auth.tiers import Tier
from auth.tokens import api_tokens
from auth.tokens.api_tokens import ApiTokens, NameTaken, TooManyTokens
from tests.auth.stores import empty_stores

ALICE = Account.of_key("0x00000000000000000000000000000000000A11cE", "alice.eth")


class Clock:
    """A time that tests move; begins now, as the database's does."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with empty_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
def failures() -> list[Exception]:
    return []


@pytest.fixture
async def tokens(
    stores: Stores, clock: Clock, failures: list[Exception]
) -> AsyncIterator[ApiTokens]:
    revocations = Revocations(stores.revocations)
    tokens = ApiTokens(stores.tokens, stores.people, revocations, 2, clock, failures.append)
    yield tokens
    await tokens.settled()


@pytest.fixture
async def alice(stores: Stores) -> str:
    return (await stores.people.signed_in(ALICE)).id


@pytest.fixture
def in_a_month(clock: Clock) -> datetime:
    return clock.now + timedelta(days=30)


async def test_a_personal_token_proves_its_owner_within_its_limits(
    tokens: ApiTokens, alice: str, in_a_month: datetime
) -> None:
    token, text = await tokens.create(
        alice, " laptop ", ceiling=Tier.PUBLIC, tools=["search"], expires=in_a_month
    )
    assert re.fullmatch(r"porch_[A-Za-z0-9_-]{43}", text)
    identity = await tokens.identify(text, "/mcp")
    assert identity is not None
    assert (identity.person, identity.provider, identity.name) == (alice, "api-token", "alice.eth")
    assert identity.accounts == (ALICE,)
    assert (identity.ceiling, identity.granted) == (Tier.PUBLIC, None)
    assert identity.tools == frozenset({"search"})
    assert identity.client == "laptop"
    assert identity.tags == {f"token:{token.id}", alice}
    assert identity.expires == in_a_month.timestamp()
    assert text not in repr(identity) + repr(token)


async def test_an_operators_token_carries_its_tier_under_its_name(tokens: ApiTokens) -> None:
    token, text = await tokens.create_operator("ci", Tier.MEMBERS)
    identity = await tokens.identify(text, "/api/v1/tools")
    assert identity is not None
    assert (identity.person, identity.provider) == ("token:ci", "operator-token")
    assert (identity.granted, identity.ceiling) == (Tier.MEMBERS, Tier.MEMBERS)
    assert (identity.tools, identity.expires, identity.accounts) == (None, None, ())
    assert f"token:{token.id}" in identity.tags


async def test_the_text_is_nowhere_in_the_database(tokens: ApiTokens, tmp_path: Path) -> None:
    _, text = await tokens.create_operator("ci", Tier.MEMBERS)
    with sqlite3.connect(tmp_path / "porch.db") as connection:
        dump = "\n".join(connection.iterdump())
    connection.close()
    assert "token:ci" in dump
    assert text not in dump
    assert text.removeprefix("porch_") not in dump


async def test_another_kind_of_token_is_left_to_others(tokens: ApiTokens) -> None:
    assert await tokens.identify("eyJhbGciOiJFZERTQSJ9.e30.AA", "/mcp") is None
    assert await tokens.identify("Porch_" + "x" * 43, "/mcp") is None


@pytest.mark.parametrize(
    "text", ["porch_", "porch_" + "x" * 43, "porch_" + "é" * 43, "porch_\ud800"]
)
async def test_an_unknown_token_is_bad_and_not_repeated(tokens: ApiTokens, text: str) -> None:
    with pytest.raises(BadCredential, match="not known here") as refusal:
        await tokens.identify(text, "/mcp")
    assert "xxx" not in refusal.value.reason


async def test_a_revoked_token_is_bad_and_noted_for_every_replica(
    tokens: ApiTokens, stores: Stores, alice: str, in_a_month: datetime
) -> None:
    token, text = await tokens.create(alice, "laptop", ceiling=Tier.MEMBERS, expires=in_a_month)
    assert not await tokens.revoke("person:somebodyelse", token.id)
    assert await stores.revocations.since(0) == []
    assert await tokens.revoke(alice, token.id)
    assert [tag for _, tag in await stores.revocations.since(0)] == [f"token:{token.id}"]
    assert await tokens.of(alice) == []
    with pytest.raises(BadCredential, match="revoked"):
        await tokens.identify(text, "/mcp")


async def test_an_expired_token_is_bad_and_says_so(
    tokens: ApiTokens, clock: Clock, alice: str, in_a_month: datetime
) -> None:
    _, text = await tokens.create(alice, "laptop", ceiling=Tier.MEMBERS, expires=in_a_month)
    clock.now = in_a_month
    with pytest.raises(BadCredential, match="has expired"):
        await tokens.identify(text, "/mcp")


async def test_a_deleted_persons_token_is_bad(
    tokens: ApiTokens, stores: Stores, alice: str, in_a_month: datetime
) -> None:
    token, text = await tokens.create(alice, "laptop", ceiling=Tier.MEMBERS, expires=in_a_month)
    await stores.people.delete(alice)
    with pytest.raises(BadCredential):
        await tokens.identify(text, "/mcp")
    with pytest.raises(LookupError):
        await tokens.create(alice, "again", ceiling=Tier.MEMBERS, expires=in_a_month)
    # A row that a backup brought back has no owner either.
    await stores.tokens.add(replace(token, id="kept", granted=Tier.OPEN), "irrelevant")
    with pytest.raises(BadCredential, match="no account here any more"):
        await tokens._identity(token)


async def test_a_person_may_have_so_many_and_is_told(
    tokens: ApiTokens, alice: str, in_a_month: datetime
) -> None:
    first, _ = await tokens.create(alice, "one", ceiling=Tier.MEMBERS, expires=in_a_month)
    await tokens.create(alice, "two", ceiling=Tier.MEMBERS, expires=in_a_month)
    with pytest.raises(TooManyTokens, match="You have 2 API tokens"):
        await tokens.create(alice, "three", ceiling=Tier.MEMBERS, expires=in_a_month)
    await tokens.revoke(alice, first.id)
    await tokens.create(alice, "three", ceiling=Tier.MEMBERS, expires=in_a_month)


async def test_an_operators_name_is_one_tokens_at_a_time(tokens: ApiTokens) -> None:
    token, _ = await tokens.create_operator("ci", Tier.MEMBERS)
    with pytest.raises(NameTaken, match="a token ci already"):
        await tokens.create_operator("ci", Tier.OPEN)
    assert await tokens.revoke("token:ci", token.id)
    await tokens.create_operator("ci", Tier.PUBLIC)
    assert [each.granted for each in await tokens.operators()] == [Tier.PUBLIC]


@pytest.mark.parametrize("name", ["", "CI", "a b", "x" * 41, "ci\n", "é"])
async def test_an_operators_name_is_plain(tokens: ApiTokens, name: str) -> None:
    with pytest.raises(ValueError, match="lower-case"):
        await tokens.create_operator(name, Tier.MEMBERS)


@pytest.mark.parametrize("name", [" ", "x" * 61, "a\0b", "two\nlines"])
async def test_a_personal_name_can_be_shown(
    tokens: ApiTokens, alice: str, in_a_month: datetime, name: str
) -> None:
    with pytest.raises(ValueError, match="a name"):
        await tokens.create(alice, name, ceiling=Tier.MEMBERS, expires=in_a_month)


async def test_no_token_is_made_that_has_ended(tokens: ApiTokens, clock: Clock, alice: str) -> None:
    with pytest.raises(ValueError, match="expired already"):
        await tokens.create(alice, "laptop", ceiling=Tier.MEMBERS, expires=clock.now)


async def test_the_last_use_is_noted_every_five_minutes(tokens: ApiTokens, clock: Clock) -> None:
    _, text = await tokens.create_operator("ci", Tier.MEMBERS)
    began = clock.now

    async def used_after(**span: float) -> datetime | None:
        clock.now = began + timedelta(**span)
        await tokens.identify(text, "/mcp")
        await tokens.settled()
        return (await tokens.operators())[0].used

    assert await used_after(minutes=0) == began
    assert await used_after(minutes=4) == began
    assert await used_after(minutes=6) == began + timedelta(minutes=6)


async def test_uses_while_others_are_written_are_written_together(
    tokens: ApiTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [(await tokens.create_operator(f"ci-{n}", Tier.MEMBERS))[1] for n in range(6)]
    written: list[int] = []
    begun, go_on = asyncio.Event(), asyncio.Event()
    used = tokens.store.used

    async def held(uses: Mapping[str, datetime]) -> None:
        written.append(len(uses))
        begun.set()
        await go_on.wait()
        await used(uses)

    monkeypatch.setattr(tokens.store, "used", held)
    monkeypatch.setattr(api_tokens, "MAX_UNWRITTEN_USES", 4)
    await tokens.identify(texts[0], "/mcp")
    await begun.wait()
    for text in texts[1:]:
        await tokens.identify(text, "/mcp")
    go_on.set()
    await tokens.settled()
    assert written == [1, 4]
    noted = [each.used is not None for each in await tokens.operators()]
    assert noted.count(True) == 5  # the sixth is noted at its next use


async def test_a_use_that_cannot_be_noted_does_not_harm_the_call(
    tokens: ApiTokens, tmp_path: Path, failures: list[Exception]
) -> None:
    _, text = await tokens.create_operator("ci", Tier.MEMBERS)
    with sqlite3.connect(tmp_path / "porch.db") as connection:
        connection.execute("ALTER TABLE porch_api_tokens RENAME COLUMN used TO away")
        connection.execute(
            "ALTER TABLE porch_api_tokens ADD COLUMN used TEXT GENERATED ALWAYS AS (NULL)"
        )
    connection.close()
    assert await tokens.identify(text, "/mcp") is not None
    await tokens.settled()
    assert len(failures) == 1
