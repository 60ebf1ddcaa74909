"""What people do with their account, and that it counts at once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from auth.account_service import AccountService
from auth.callers import Account
from auth.revocations import Revocations
from auth.sessions import BrowserSessions
from auth.stores import AccountTaken, Code, Grant, LastAccount, Person, RefreshToken, Stores
from auth.tiers import Tier
from auth.tokens.api_tokens import ApiTokens
from tests.auth.stores import empty_stores

ALICE = Account.of_key("0x00000000000000000000000000000000000A11cE")
OCTO = Account("github:583231", "github", "octo", "octo@example.org", {"login": "octo"})
NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=30)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with empty_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
def service(stores: Stores) -> AccountService:
    return AccountService(stores, Revocations(stores.revocations))


@pytest.fixture
async def alice(service: AccountService) -> str:
    return (await service.sign_in(ALICE)).id


async def noted(stores: Stores) -> list[str]:
    return [tag for _, tag in await stores.revocations.since(0)]


async def give(stores: Stores, person: str, name: str = "grant-1") -> None:
    """Grant something to a client, which takes it."""
    grant = Grant(name, person, "client", "A client", "http://x", ("members",), NOW)
    code = Code(name, "http://127.0.0.1:9/cb", True, "c" * 43, LATER)
    await stores.grants.add(grant, code, f"code-{name}")
    await stores.grants.add_refresh(RefreshToken(name, LATER), f"refresh-{name}")


async def token_of(stores: Stores, person: str) -> str:
    tokens = ApiTokens(stores.tokens, stores.people, Revocations(stores.revocations))
    return (await tokens.create(person, "laptop", ceiling=Tier.MEMBERS, expires=LATER))[1]


async def test_signing_in_again_is_noted_only_where_something_is_new(
    service: AccountService, stores: Stores, alice: str
) -> None:
    await service.sign_in(ALICE)
    assert await noted(stores) == []
    named = await service.sign_in(replace(ALICE, name="alice.eth"))
    assert (named.id, named.name) == (alice, "alice.eth")
    assert await noted(stores) == [alice]


async def test_an_account_that_a_token_speaks_of_is_written_only_where_something_is_new(
    service: AccountService, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    write = stores.people.signed_in

    async def counted(account: Account) -> Person:
        written.append(account)
        return await write(account)

    monkeypatch.setattr(stores.people, "signed_in", counted)
    first = await service.recognise(OCTO)
    again = await service.recognise(replace(OCTO))
    assert (again, written) == (first, [OCTO])
    changed = replace(OCTO, claims={"login": "octo", "groups": ["core"]})
    assert (await service.recognise(changed)).accounts == (changed,)
    assert written == [OCTO, changed]
    assert await noted(stores) == [first.id]
    await service.delete(first.id)
    assert (await service.recognise(changed)).id != first.id


async def test_linking_and_unlinking_are_noted(
    service: AccountService, stores: Stores, alice: str
) -> None:
    await service.link(alice, OCTO)
    assert (await service.sign_in(OCTO)).id == alice
    assert await noted(stores) == [alice]
    await service.unlink(alice, ALICE.subject)
    assert await noted(stores) == [alice, alice]
    with pytest.raises(LastAccount):
        await service.unlink(alice, OCTO.subject)


async def test_two_people_who_both_exist_are_never_merged(
    service: AccountService, stores: Stores, alice: str
) -> None:
    octo = await service.sign_in(OCTO)
    with pytest.raises(AccountTaken):
        await service.link(alice, OCTO)
    assert (await service.sign_in(OCTO)).id == octo.id != alice
    assert await noted(stores) == []


async def test_signing_out_everywhere_ends_sessions_and_grants_and_tokens_if_asked(
    service: AccountService, stores: Stores, alice: str
) -> None:
    sessions = BrowserSessions(stores.sessions, timedelta(days=7))
    cookie = await sessions.begin(alice)
    await give(stores, alice)
    await token_of(stores, alice)
    await service.sign_out_everywhere(alice)
    assert await sessions.find(cookie) is None
    assert await stores.grants.of(alice) == []
    assert not await stores.grants.spend_refresh("refresh-grant-1")
    assert len(await stores.tokens.of(alice)) == 1
    assert await noted(stores) == [alice]
    await service.sign_out_everywhere(alice, api_tokens=True)
    assert await stores.tokens.of(alice) == []


async def test_one_grant_is_revoked_by_its_owner_alone(
    service: AccountService, stores: Stores, alice: str
) -> None:
    await give(stores, alice)
    await give(stores, alice, "grant-2")
    octo = (await service.sign_in(OCTO)).id
    assert not await service.revoke_grant(octo, "grant-1")
    assert not await service.revoke_grant(alice, "grant-9")
    assert await noted(stores) == []
    assert await service.revoke_grant(alice, "grant-1")
    assert await noted(stores) == ["grant:grant-1"]
    assert [each.id for each in await stores.grants.of(alice)] == ["grant-2"]


async def test_who_is_deleted_is_gone(service: AccountService, stores: Stores, alice: str) -> None:
    await give(stores, alice)
    await token_of(stores, alice)
    await service.delete(alice)
    assert await stores.people.get(alice) is None
    assert await stores.tokens.of(alice, ended=True) == []
    assert await stores.grants.of(alice, ended=True) == []
    assert await noted(stores) == [alice]
    assert (await service.sign_in(ALICE)).id != alice


async def test_an_export_holds_everything_and_no_secret(
    service: AccountService, stores: Stores, alice: str
) -> None:
    await service.link(alice, OCTO)
    cookie = await BrowserSessions(stores.sessions, timedelta(days=7)).begin(alice, "A browser")
    token = await token_of(stores, alice)
    await give(stores, alice)
    await service.revoke_grant(alice, "grant-1")
    export = await service.export(alice)
    text = json.dumps(export)
    assert [each["subject"] for each in export["accounts"]] == [ALICE.subject, OCTO.subject]
    assert export["accounts"][1]["claims"] == {"login": "octo"}
    assert [each["agent"] for each in export["sessions"]] == ["A browser"]
    assert [(each["name"], each["ceiling"]) for each in export["api_tokens"]] == [
        ("laptop", "members")
    ]
    assert [(each["client_name"], bool(each["revoked"])) for each in export["clients"]] == [
        ("A client", True)
    ]
    for secret in (cookie, token, "digest", "code-grant-1", "refresh-grant-1"):
        assert secret not in text
    with pytest.raises(LookupError):
        await service.export("person:nobody")
