"""Attacks on signing in with a wallet: what was signed elsewhere, before, or by another."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from eth_account import Account as Key
from eth_account.messages import encode_defunct

from auth.portal_addresses import Site
from auth.sealer import Sealer
from auth.sign_in.wallet import WalletSignIn
from tests.access.attacks import BASE, Attacked, attacked, person_of
from tests.gateway.surfaces.pages.browser import Browser


@pytest.fixture
async def portal() -> AsyncIterator[Attacked]:
    async with attacked() as portal:
        yield portal


@pytest.fixture
async def victim(portal: Attacked) -> Browser:
    browser = portal.browser()
    await browser.get("/signin")
    return browser


async def asked(browser: Browser, key: Any, chain: str = "1") -> str:
    """The message that the portal makes for this browser."""
    answer = await browser.client.get(
        "/signin/wallet",
        params={"address": key.address, "chain": chain},
        headers={"accept": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    message: str = answer.json()["message"]
    return message


def signed(key: Any, message: str) -> str:
    """A wallet's signature."""
    return f"0x{key.sign_message(encode_defunct(text=message)).signature.hex()}"


async def given(browser: Browser, message: str, signature: str) -> httpx2.Response:
    """What comes of a message and a signature in a browser."""
    return await browser.submit("/signin/wallet", {"message": message, "signature": signature})


async def refuses(
    portal: Attacked, browser: Browser, message: str, signature: str, key: Any
) -> None:
    """Nobody is signed in, and the address has no person."""
    answer = await given(browser, message, signature)
    assert answer.status_code in {303, 400}
    assert answer.headers.get("location", "/signin?").startswith("/signin?")
    assert await person_of(portal, browser) is None
    assert await portal.who.stores.people.by_subject(f"wallet:{key.address}") is None


CHANGES = {
    "domain": ("localhost wants you", "evil.example wants you"),
    "a domain that begins alike": ("localhost wants you", "localhost.evil.example wants you"),
    "a scheme": ("localhost wants you", "https://localhost wants you"),
    "statement": ("This costs nothing", "This costs something"),
    "URI": (f"URI: {BASE}/signin", "URI: https://evil.example/signin"),
    "path": (f"URI: {BASE}/signin", f"URI: {BASE}/account"),
    "version": ("Version: 1", "Version: 2"),
    "chain": ("Chain ID: 1\n", "Chain ID: 10\n"),
    "a chain that is not taken": ("Chain ID: 1\n", "Chain ID: 56\n"),
    "nonce": ("Nonce: ", "Nonce: 0"),
    "a time before": ("Issued At: 2", "Issued At: 1"),
    "a time to come": ("Issued At: 2", "Issued At: 3"),
    "expiry": ("Expiration Time: 2", "Expiration Time: 3"),
    "a beginning to come": (
        "\nExpiration Time",
        "\nNot Before: 2999-01-01T00:00:00Z\nExpiration Time",
    ),
    "a request id": ("", ""),
    "resources": ("", ""),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_no_line_of_a_message_can_be_changed_though_the_wallet_signs_it(
    portal: Attacked, victim: Browser, what: str
) -> None:
    key = Key.create()
    message = await asked(victim, key)
    changed = message.replace(*CHANGES[what], 1)
    if what == "a request id":
        changed = f"{message}\nRequest ID: x"
    if what == "resources":
        changed = f"{message}\nResources:\n- https://evil.example"
    assert changed != message
    await refuses(portal, victim, changed, signed(key, changed), key)
    assert (await given(victim, message, signed(key, message))).headers["location"] == "/account"


async def test_a_message_of_another_portal_signs_nobody_in(
    portal: Attacked, victim: Browser
) -> None:
    """A site in the middle shows this portal's message as its own, or takes its own here."""
    key = Key.create()
    for url, secret in (("https://evil.example", b"e" * 32), (BASE, b"e" * 32)):
        site = Site(url, local=True)
        other = WalletSignIn(site, Sealer(secret, "wallet"), portal.who.stores.spent, [1], "Hi.")
        for bound in (victim.client.cookies["porch_browser"], "another browser's cookie"):
            message = other.challenge(url, key.address, 1, bound)
            await refuses(portal, victim, message, signed(key, message), key)


async def test_a_message_made_for_another_name_of_this_machine_signs_nobody_in(
    portal: Attacked, victim: Browser
) -> None:
    key = Key.create()
    params = {"address": key.address, "chain": "1"}
    answer = await victim.client.get(
        "/signin/wallet",
        params=params,
        headers={
            "accept": "application/json",
            "host": "127.0.0.1",
            "cookie": f"porch_browser={victim.client.cookies['porch_browser']}",
        },
    )
    message = answer.json()["message"]
    assert message.startswith("127.0.0.1 wants you")
    await refuses(portal, victim, message, signed(key, message), key)


async def test_a_message_for_another_browser_signs_nobody_in(
    portal: Attacked, victim: Browser
) -> None:
    """Login CSRF: what Mallory signs in her browser is no good in the victim's, or without one."""
    mallory, key = portal.browser(), Key.create()
    await mallory.get("/signin")
    message = await asked(mallory, key)
    await refuses(portal, victim, message, signed(key, message), key)
    bare = portal.browser()
    bare.page = victim.page
    answer = await given(bare, message, signed(key, message))
    assert answer.status_code == 403
    assert await person_of(portal, bare) is None


async def test_a_nonce_signs_in_once_and_of_many_at_once_only_one(
    portal: Attacked, victim: Browser
) -> None:
    import asyncio

    key = Key.create()
    message = await asked(victim, key)
    signature = signed(key, message)
    form = victim.page
    answers = await asyncio.gather(*(given(victim, message, signature) for _ in range(6)))
    good = [each for each in answers if each.headers["location"] == "/account"]
    assert len(good) == 1
    browser = victim.client.cookies["porch_browser"]
    victim.client.cookies.clear()
    victim.client.cookies.set("porch_browser", browser)
    victim.page = form
    again = await given(victim, message, signature)
    assert again.headers["location"].startswith("/signin?")
    assert await person_of(portal, victim) is None


async def test_a_message_is_no_good_after_its_time(
    portal: Attacked, victim: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet, key = portal.who.methods.wallet, Key.create()
    assert wallet is not None
    for ahead in (601, -120):
        message = await asked(victim, key)
        monkeypatch.setattr(wallet._sealer, "_clock", lambda ahead=ahead: time.time() + ahead)
        await refuses(portal, victim, message, signed(key, message), key)
        monkeypatch.undo()


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "0x",
        "0x" + "00" * 65,
        "0x" + "ff" * 65,
        "0x" + "00" * 64 + "1b",
        "0x" + "11" * 64,
        "0x" + "zz" * 65,
        "0x" + "11" * 9000,
        "00" * 65,
        "\x00",
    ],
    ids=range(10),
)
async def test_what_is_no_signature_of_the_address_signs_nobody_in(
    portal: Attacked, victim: Browser, signature: str
) -> None:
    key = Key.create()
    await refuses(portal, victim, await asked(victim, key), signature, key)


async def test_another_wallets_signature_signs_nobody_in(portal: Attacked, victim: Browser) -> None:
    key, mallory = Key.create(), Key.create()
    message = await asked(victim, key)
    await refuses(portal, victim, message, signed(mallory, message), key)
    other = message.replace(key.address, mallory.address)
    await refuses(portal, victim, other, signed(mallory, other), mallory)


async def test_the_twin_of_a_signature_is_not_taken(portal: Attacked, victim: Browser) -> None:
    """Anyone can compute the second signature of the same key (malleability)."""
    key = Key.create()
    message = await asked(victim, key)
    made = key.sign_message(encode_defunct(text=message))
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    twin = made.r.to_bytes(32) + (order - made.s).to_bytes(32) + bytes([55 - made.v])
    await refuses(portal, victim, message, "0x" + twin.hex(), key)


@pytest.mark.parametrize(
    ("address", "chain"),
    [
        ("", "1"),
        ("0x", "1"),
        ("0x" + "0" * 41, "1"),
        ("0x" + "g" * 40, "1"),
        ("0x" + "0" * 40 + "\nURI: https://evil.example", "1"),
        ("vitalik.eth", "1"),
        ("0x" + "0" * 40, "56"),
        ("0x" + "0" * 40, "-1"),
        ("0x" + "0" * 40, "1\n"),
        ("0x" + "0" * 40, "9" * 5000),
        ("0x" + "0" * 40, "\u0661"),
        ("0x" + "\uff10" * 40, "1"),
    ],
    ids=range(12),
)
async def test_no_message_is_made_that_says_more_than_an_address(
    portal: Attacked, address: str, chain: str
) -> None:
    answer = await portal.client().get(
        "/signin/wallet",
        params={"address": address, "chain": chain},
        headers={"accept": "application/json"},
    )
    assert answer.status_code == 400
    assert "message" not in answer.json()
