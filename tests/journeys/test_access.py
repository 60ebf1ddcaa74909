"""People sign in at a community's portal in a browser, and their MCP clients act for them.

Everything is real but the providers: ``porch serve`` in a directory of its own, Chromium, a wallet
that signs, a chain, and the SDK's client with its own OAuth.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from eth_account import Account as Key
from playwright.async_api import Browser, expect

from auth.hat_ids import parse
from tests.access.test_sdk_client import Kept
from tests.browser.chromium import Wallet
from tests.chain.anvil import Chain
from tests.journeys.community import community, rpc
from tests.journeys.member import Member, member, plain_client, tools
from tests.journeys.test_newcomer import inspected
from tests.journeys.world import (
    DOCUMENT,
    ERAS,
    HAT,
    MEMBERS,
    OPEN,
    TIERS,
    World,
    eventually,
    refused,
    settings,
)
from tests.servers.github import Github, Org
from tests.servers.identity_provider import IdentityProvider

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def github() -> Iterator[Github]:
    """A GitHub, which asks who one is, and whose organizations the portal may read."""
    with Github() as github:
        github.tokens["reads organizations"] = True
        github.approves = None
        yield github


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    """An OpenID Connect provider, which asks who one is."""
    with IdentityProvider() as provider:
        provider.approves = None
        yield provider


@pytest.fixture(scope="module")
def world(
    chain: Chain,
    github: Github,
    provider: IdentityProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """A portal as the README starts it."""
    app = {"client_id": "portal", "client_secret": "env:PROVIDER_SECRET"}
    at_github = {"token": "env:GITHUB_TOKEN", "url": github.url, "api_url": github.api_url}
    at_provider = {"name": "Garden ID", "issuer": provider.issuer}
    known = {"PROVIDER_SECRET": "the-secret", "GITHUB_TOKEN": "reads organizations"}
    with rpc(chain.url) as reads:
        config = settings(reads, github={**app, **at_github}, oidc=[{**app, **at_provider}])
        with community(tmp_path_factory.mktemp("garden"), config, TIERS, known) as portal:
            yield World(portal, chain, reads)


# A member with a hat.


async def test_a_newcomer_becomes_a_member_and_stops_being_one(
    browser: Browser, world: World, era: str
) -> None:
    wallet = world.wearer()
    kept = Kept()
    async with member(browser, world.url, wallet) as person:
        await person.sign_in()
        shown = await person.account()
        assert "Your tier: Members" in shown
        assert f"Members: wears the hat {HAT}" in shown
        assert "looked up again every 3 seconds" in shown
        pasted = await person.snippet("For Codex")
        assert pasted.endswith(f"--url {world.url}/mcp")
        address = await person.snippet("The address that always asks")
        async with person.connected(address, era, kept) as client:
            assert {OPEN, MEMBERS} <= await tools(client)
            assert not (await client.call_tool(MEMBERS, DOCUMENT)).is_error
            await check_hat(world, wallet, person, client)
            await check_silent_chain(world, person, client)
            assert len(person.asked) == 1
            assert "The SDK" in person.consents[0]
            await check_end(world, person, address, kept)
            # Its next call sends the person to the browser again, to sign in and to agree.
            assert not await refused(client)
            assert len(person.asked) == len(person.consents) == 2


async def check_hat(world: World, wallet: Wallet, person: Member, client: Any) -> None:
    """The hat is taken and given back, and the client that is connected feels both."""

    async def is_refused() -> bool:
        return bool(await refused(client))

    async def works() -> bool:
        return not await refused(client)

    world.chain.take_hat(wallet.key.address, parse(HAT))
    await eventually(is_refused, "the call is refused")
    why = await refused(client)
    assert "Requires members access. Current: public." in why
    assert f"What members access takes is on {world.url}/account." in why
    assert MEMBERS not in await tools(client)
    shown = await person.account()
    assert "What you would need for Members" in shown
    assert f"hat {HAT}" in shown
    world.chain.give_hat(wallet.key.address, parse(HAT))
    await eventually(works, "the hat counts again")
    assert MEMBERS in await tools(client)


async def check_silent_chain(world: World, person: Member, client: Any) -> None:
    """Nobody tells who wears what: the lower tier, and that it may be too low."""

    async def is_refused() -> bool:
        return "Roles cannot be read completely" in await refused(client)

    async def works() -> bool:
        return not await refused(client)

    world.rpc.down = True
    try:
        await eventually(is_refused, "the silent chain is noticed")
        assert not (await client.call_tool(OPEN, {"query": "seasons"})).is_error
        shown = await person.account()
        assert "your tier may be lower than it should be" in shown
        assert "Your tier: Public" in shown
        assert "Members: not known now. The chain 10 cannot be read (127.0.0.1: " in shown
        assert ".." not in shown
    finally:
        world.rpc.down = False
    await eventually(works, "the chain is read again")


async def check_end(world: World, person: Member, address: str, kept: Kept) -> None:
    """Signing out everywhere ends the client's tokens at once."""
    tokens, registered = kept.tokens, kept.client
    assert tokens is not None
    assert registered is not None
    assert "The SDK" in await person.account()
    await person.page.get_by_role("button", name="Sign out everywhere").click()
    await expect(person.page.get_by_text("You are signed out of every browser")).to_be_visible()
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        bearer = {"authorization": f"Bearer {tokens.access_token}"}
        answer = await http.post(address, json={}, headers=bearer)
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        form = {
            "grant_type": "refresh_token",
            "refresh_token": tokens.refresh_token,
            "client_id": registered.client_id,
        }
        answer = await http.post(f"{world.url}/token", data=form)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


class OwnedContract:
    """The key of a contract wallet: its owner signs, the contract is the account."""

    def __init__(self, address: str, owner: Any) -> None:
        self.address = address
        self._owner = owner

    def sign_message(self, message: Any) -> Any:
        return self._owner.sign_message(message)


async def test_a_contract_wallet_with_a_name_signs_in_at_localhost(
    browser: Browser, world: World
) -> None:
    owner, contract = Key.create(), world.chain.deploy("wallet")
    world.chain.send(contract, "setUp", owner.address)
    world.chain.give_hat(contract, parse(HAT))
    world.chain.name_wallet(contract, "treasury.garden.eth")
    here = world.url.replace("127.0.0.1", "localhost")
    async with member(browser, here, Wallet(OwnedContract(contract, owner))) as person:
        await person.sign_in()
        assert person.page.url == f"{here}/account"
        shown = await person.account()
    assert "You are treasury.garden.eth" in shown
    assert contract in shown
    assert "Your tier: Members" in shown


# Other ways in.


async def test_github_is_linked_and_its_organization_makes_a_member(
    browser: Browser, world: World, github: Github
) -> None:
    ana = github.add("ana-of-the-garden")
    github.orgs["garden"] = Org(members={ana})
    async with member(browser, world.url, Wallet(Key.create())) as person:
        page = person.page
        await person.sign_in()
        assert "Your tier: Public" in await person.account()
        await page.get_by_role("link", name="Link another account").click()
        await page.get_by_role("button", name="Continue with GitHub").click()
        await page.get_by_role("button", name="Authorize as ana-of-the-garden").click()
        await expect(page.get_by_text("GitHub ana-of-the-garden is linked.")).to_be_visible()
        assert "Your tier: Members" in await person.account()
        first = await page.get_by_label("You", exact=True).inner_text()
    async with member(browser, world.url) as person:
        await person.page.goto(f"{world.url}/signin")
        await person.page.get_by_role("button", name="Continue with GitHub").click()
        await person.page.get_by_role("button", name="Authorize as ana-of-the-garden").click()
        await person.page.wait_for_url("**/account")
        assert await person.page.get_by_label("You", exact=True).inner_text() == first
        assert "Your tier: Members" in await person.account()
    told = await world.portal.porch("explain", "--as", "github:ana-of-the-garden")
    assert "is a member of the GitHub organization garden" in told


async def test_a_provider_signs_in(browser: Browser, world: World) -> None:
    async with member(browser, world.url) as person:
        await person.page.goto(f"{world.url}/signin")
        await person.page.get_by_role("button", name="Continue with Garden ID").click()
        await person.page.get_by_role("button", name="Sign in as ana").click()
        await person.page.wait_for_url("**/account")
        shown = await person.account()
    assert "You are Ana" in shown
    assert "ana@example.org" in shown.lower()
    assert "Your tier: Public" in shown


# Tokens and the command line.


async def test_a_token_made_on_the_account_page_goes_as_far_as_it_was_made_for(
    browser: Browser, world: World, era: str, tmp_path: Path
) -> None:
    async with member(browser, world.url, world.wearer()) as person:
        page = person.page
        await person.sign_in()
        made = {}
        for ceiling, only in (("members", ""), ("public", ""), ("members", OPEN)):
            await page.get_by_text("Make a token").click()
            await page.get_by_label("What it is for").fill(f"A script, {only or ceiling}")
            await page.get_by_label("How far it goes at most").select_option(ceiling)
            if only:
                await page.get_by_label(only).check()
            await page.get_by_role("button", name="Make the token").click()
            made[only or ceiling] = await page.get_by_label(
                "To be copied now", exact=True
            ).inner_text()
        async with plain_client(f"{world.url}/mcp", made["members"], era) as client:
            assert MEMBERS in await tools(client)
            assert not await refused(client)
        async with plain_client(f"{world.url}/mcp", made["public"], era) as client:
            assert MEMBERS not in await tools(client)
            assert "This connection goes up to public" in await refused(client)
        async with plain_client(f"{world.url}/mcp", made[OPEN], era) as client:
            assert await tools(client) == {OPEN}
            assert f"This token may be used for {OPEN} only." in await refused(client)
        sent = ["--header", f"Authorization: Bearer {made['public']}", "--method", "tools/list"]
        inspectors = "legacy" if era == "legacy" else "modern"
        listed = await asyncio.to_thread(inspected, f"{world.url}/mcp", inspectors, tmp_path, *sent)
        names = {tool["name"] for tool in listed["tools"]}
        assert "define_term" in names
        assert MEMBERS not in names
        shown = await person.account()
        assert all(text not in shown for text in made.values())
        await page.get_by_role("button", name="Revoke A script, members").click()
        await expect(page.get_by_text("The token is revoked.")).to_be_visible()
    assert await status(world, made["members"]) == 401
    assert await status(world, made["public"]) != 401


async def status(world: World, token: str) -> int:
    """The HTTP status that a token gets."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        bearer = {"authorization": f"Bearer {token}"}
        return (await http.post(f"{world.url}/mcp", json={}, headers=bearer)).status_code


async def test_the_command_line_explains_and_makes_tokens_while_the_portal_runs(
    world: World,
) -> None:
    wearer, other = world.wearer().key.address, Key.create().address
    told = await world.portal.porch("explain", "--as", wearer, "--tool", MEMBERS)
    assert f"hat {HAT}" in told
    assert "allowed: the caller's tier, members, is enough for members." in told
    told = await world.portal.porch("explain", "--as", other, "--tool", MEMBERS, code=1)
    assert "refused: the caller's tier, public, is below members." in told
    assert "config/tiers.yaml" in told
    token = (
        await world.portal.porch("token", "create", "--tier", "members", "--name", "ci")
    ).strip()
    async with plain_client(f"{world.url}/mcp", token, ERAS[1]) as client:
        assert not await refused(client)
    told = await world.portal.porch("explain", "--as", "token:ci", "--json")
    assert json.loads(told)["tier"] == "members"
    await world.portal.porch("token", "revoke", "ci")

    async def ended() -> bool:
        return await status(world, token) == 401

    assert await eventually(ended, "the token is refused") < 5
