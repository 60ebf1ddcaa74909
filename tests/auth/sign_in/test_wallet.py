"""Signing in with a wallet, and each way to get in without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from eth_account import Account as Keys
from eth_account.messages import encode_defunct
from hypothesis import given, settings
from hypothesis import strategies as st
from siwe import SiweMessage

from auth import BadCredential
from auth.sign_in.wallet import (
    MAX_CLOCK_SKEW_S,
    MAX_MESSAGE_LENGTH,
    MAX_SIGNATURE_BYTES,
    MESSAGE_LIFETIME_S,
)
from tests.auth.wallets import BASE, BROWSER, NOW, STATEMENT, Portal, alice, mallory, signed
from tests.examples import examples

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@pytest.fixture
def portal() -> Portal:
    return Portal()


async def test_whoever_signs_the_message_is_the_wallet(portal: Portal) -> None:
    message = portal.challenge(alice.address.lower())
    account = await portal.verify(message, signed(message))
    assert account.subject == f"wallet:{alice.address}"
    assert (account.provider, account.name, account.email) == ("wallet", None, None)


def test_the_message_is_the_one_that_the_siwe_package_writes(portal: Portal) -> None:
    message = portal.challenge()
    said = SiweMessage.from_message(message, abnf=True)
    assert said.prepare_message() == message
    assert (said.domain, said.uri) == ("portal.example.org", BASE + "/signin")
    assert (said.statement, said.chain_id, said.address) == (STATEMENT, 10, alice.address)
    assert said.resources is None
    assert len(message) < MAX_MESSAGE_LENGTH / 2


def test_two_messages_have_different_nonces(portal: Portal) -> None:
    assert portal.challenge() != portal.challenge()


async def test_a_local_portal_signs_in_at_its_port(portal: Portal) -> None:
    portal.base = "http://[::1]:8321"
    message = portal.challenge()
    assert message.startswith("[::1]:8321 wants you")
    assert SiweMessage.from_message(message, abnf=True).domain == "[::1]:8321"
    assert await portal.verify(message, signed(message))


async def test_a_statement_keeps_what_the_standard_has_room_for(portal: Portal) -> None:
    portal.statement = 'Sign in to "Grüne Küche"\n100% 🌱 <b>.'
    message = portal.challenge()
    assert "\n\nSign in to Grune Kuche 100 b.\n\n" in message
    assert SiweMessage.from_message(message, abnf=True).prepare_message() == message
    assert await portal.verify(message, signed(message))


@settings(max_examples=examples(50), deadline=None)
@given(statement=st.text(max_size=MAX_MESSAGE_LENGTH))
async def test_no_statement_keeps_anybody_out(statement: str) -> None:
    portal = Portal(statement=statement)
    message = portal.challenge()
    assert SiweMessage.from_message(message, abnf=True).prepare_message() == message
    assert await portal.verify(message, signed(message))


@pytest.mark.parametrize("address", ["", "0x12", alice.address + "0", "vitalik.eth"])
def test_only_an_address_gets_a_message(portal: Portal, address: str) -> None:
    with pytest.raises(BadCredential, match="no Ethereum address"):
        portal.challenge(address)


def test_a_chain_that_is_not_listed_gets_no_message(portal: Portal) -> None:
    with pytest.raises(BadCredential, match=r"on the chain 5\. Switch it to one of these: 1, 10"):
        portal.challenge(chain_id=5)


async def test_a_message_signs_in_once(portal: Portal) -> None:
    message = portal.challenge()
    await portal.verify(message, signed(message))
    assert "already" in await portal.refused(message, signed(message))


async def test_of_two_attempts_at_once_one_signs_in(portal: Portal) -> None:
    message = portal.challenge()
    attempts = [portal.verify(message, signed(message)) for _ in range(2)]
    first, second = await asyncio.gather(*attempts, return_exceptions=True)
    assert isinstance(first, BadCredential) != isinstance(second, BadCredential)


async def test_a_nonce_stays_spent_for_as_long_as_any_replica_takes_it(portal: Portal) -> None:
    message = portal.challenge()
    await portal.verify(message, signed(message))
    (until,) = portal.spent.until.values()
    assert until > datetime.fromtimestamp(NOW + MESSAGE_LIFETIME_S + MAX_CLOCK_SKEW_S, UTC)


async def test_a_failed_attempt_can_be_repeated(portal: Portal) -> None:
    message = portal.challenge()
    assert "not of" in await portal.refused(message, signed(message, by=mallory))
    assert await portal.verify(message, signed(message))


async def test_a_message_for_another_site_is_refused(portal: Portal) -> None:
    message = Portal(base="https://evil.example.net").challenge()
    assert "not made here" in await portal.refused(message, signed(message))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("portal.example.org wants", "evil.example.net wants"),
        ("portal.example.org wants", "portal.example.org:444 wants"),
        ("portal.example.org wants", "http://portal.example.org wants"),
        ("portal.example.org wants", "https://portal.example.org wants"),
        (BASE + "/signin", "https://evil.example.net/signin"),
        (BASE + "/signin", "http://portal.example.org/signin"),
        (BASE + "/signin", BASE + "/signin?next=x"),
    ],
)
async def test_domain_scheme_and_uri_are_those_of_the_portal(
    portal: Portal, ours: str, theirs: str
) -> None:
    message = portal.challenge().replace(ours, theirs, 1)
    assert "not made here" in await portal.refused(message, signed(message))


async def test_a_base_that_is_not_the_portals_is_refused(portal: Portal) -> None:
    foreign = "https://evil.example.net"
    message = portal.wallets.challenge(foreign, alice.address, 10, BROWSER)
    with pytest.raises(BadCredential, match="another site"):
        await portal.wallets.verify(foreign, message, signed(message), BROWSER)


@pytest.mark.parametrize("chain", [0, 1, 5])
async def test_a_message_for_another_chain_is_refused(portal: Portal, chain: int) -> None:
    message = portal.challenge().replace("Chain ID: 10", f"Chain ID: {chain}")
    assert "altered" in await portal.refused(message, signed(message))


async def test_a_chain_that_is_not_listed_any_more_is_refused(portal: Portal) -> None:
    message = portal.challenge(chain_id=1)
    portal.chains = (10,)
    assert "on the chain 1. Switch it" in await portal.refused(message, signed(message))


async def test_a_message_expires(portal: Portal) -> None:
    message = portal.challenge()
    portal.now += MESSAGE_LIFETIME_S
    assert "expired" in await portal.refused(message, signed(message))
    portal.now -= 1
    assert await portal.verify(message, signed(message))


async def test_an_expiry_put_off_is_refused(portal: Portal) -> None:
    message = portal.challenge()
    first, _, _ = message.rpartition("Expiration Time:")
    without, later = first.rstrip(), first + "Expiration Time: 2099-01-01T00:00:00Z"
    assert "altered" in await portal.refused(without, signed(without))
    assert "altered" in await portal.refused(later, signed(later))
    portal.now += MESSAGE_LIFETIME_S
    assert "altered" in await portal.refused(later, signed(later))
    assert "expired" in await portal.refused(message, signed(message))


async def test_a_message_of_the_future_is_refused(portal: Portal) -> None:
    portal.now += MAX_CLOCK_SKEW_S + 1
    message = portal.challenge()
    portal.now = NOW
    assert "not valid yet" in await portal.refused(message, signed(message))


async def test_the_clocks_of_two_replicas_may_differ_a_little(portal: Portal) -> None:
    portal.now += MAX_CLOCK_SKEW_S
    message = portal.challenge()
    portal.now = NOW
    assert await portal.verify(message, signed(message))


@pytest.mark.parametrize("moment", ["2099-01-01T00:00:00Z", "2020-01-01T00:00:00Z"])
async def test_a_message_with_a_beginning_is_none_of_ours(portal: Portal, moment: str) -> None:
    message = portal.challenge() + f"\nNot Before: {moment}"
    assert "altered" in await portal.refused(message, signed(message))


async def test_a_message_made_to_be_slow_is_refused_unparsed(portal: Portal) -> None:
    # With this, siwe's own parser does not come to an end.
    message = portal.challenge() + "\nResources:" + "\n- a:" * 80 + " "
    assert "altered" in await portal.refused(message, signed(message))


async def test_another_browsers_message_is_refused(portal: Portal) -> None:
    # Login CSRF: mallory has alice's browser send mallory's own signed message.
    message = portal.wallets.challenge(BASE, mallory.address, 10, "mallory's cookie")
    assert "this browser" in await portal.refused(message, signed(message, by=mallory))


async def test_a_browser_without_a_cookie_is_refused(portal: Portal) -> None:
    message = portal.wallets.challenge(BASE, alice.address, 10, "")
    assert "cookies" in await portal.refused(message, signed(message), browser="")


@pytest.mark.parametrize("nonce", ["0" * 56, "a" * 8, "Z" * 56, "f" * 56])
async def test_a_forged_nonce_is_refused(portal: Portal, nonce: str) -> None:
    message = portal.challenge()
    theirs = message.partition("Nonce: ")[2].partition("\n")[0]
    forged = message.replace(theirs, nonce)
    assert "not made here" in await portal.refused(forged, signed(forged))


async def test_a_nonce_of_another_portal_is_refused(portal: Portal) -> None:
    message = Portal(key=b"o" * 32).challenge()
    assert "not made here" in await portal.refused(message, signed(message))


async def test_a_message_for_another_address_is_refused(portal: Portal) -> None:
    message = portal.challenge(alice.address).replace(alice.address, mallory.address)
    assert "not made here" in await portal.refused(message, signed(message, by=mallory))


async def test_an_altered_statement_is_refused(portal: Portal) -> None:
    message = portal.challenge().replace("costs nothing", "costs all you have")
    assert "altered" in await portal.refused(message, signed(message))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "line ends of Windows": lambda message: message.replace("\n", "\r\n"),
    "a line more": lambda message: message + "\n",
    "a space after it": lambda message: message + " ",
    "a space before it": lambda message: " " + message,
    "a byte order mark": lambda message: "\ufeff" + message,
    "a scheme in capitals": lambda message: message.replace("https:", "HTTPS:"),
    "an invisible space": lambda message: message.replace("Sign in to", "Sign in to\u200b"),
    "half a pair": lambda message: message.replace("Sign in to", "Sign in to\ud800"),
    "no statement": lambda message: message.replace(STATEMENT + "\n", ""),
    "fractions of seconds": lambda message: message.replace("00Z", "00.000Z"),
    "a zone as an offset": lambda message: message.replace("00Z", "00+00:00"),
    "a request id": lambda message: message + "\nRequest ID: 1",
    "a resource": lambda message: message + "\nResources:\n- https://evil.example.net",
    "another version": lambda message: message.replace("Version: 1", "Version: 2"),
    "a chain id with a zero": lambda message: message.replace("Chain ID: 10", "Chain ID: 010"),
    "a year far ahead": lambda message: message.replace("Issued At: 2", "Issued At: 9"),
    "the first year": lambda message: message.replace(
        "Issued At: 2027-01-15T", "Issued At: 0001-01-01T"
    ),
    "small letters": lambda message: message.lower(),
    "nothing": lambda message: "",
}


@pytest.mark.parametrize("alter", SPELLINGS.values(), ids=list(SPELLINGS))
async def test_another_spelling_of_the_message_is_refused(
    portal: Portal, alter: Callable[[str], str]
) -> None:
    message = portal.challenge()
    altered = alter(message)
    assert altered != message
    await portal.refused(altered, signed(message))
    if altered.isprintable() or altered.isascii():
        await portal.refused(altered, signed(altered))


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data())
async def test_whatever_character_is_altered_the_message_is_refused(data: st.DataObject) -> None:
    portal = Portal()
    message = portal.challenge()
    place = data.draw(st.integers(0, len(message) - 1))
    put = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
    altered = message[:place] + put + message[place + 1 :]
    if altered != message:
        await portal.refused(altered, signed(altered))
    assert await portal.verify(message, signed(message))


@settings(max_examples=examples(200), deadline=None)
@given(message=st.text(max_size=300), signature=st.text(max_size=140))
async def test_no_text_breaks_anything(message: str, signature: str) -> None:
    portal = Portal()
    await portal.refused(message, signature)
    await portal.refused(portal.challenge(), signature)


@settings(max_examples=examples(100), deadline=None)
@given(signature=st.binary(min_size=65, max_size=65))
async def test_65_bytes_that_nobody_signed_are_refused(signature: bytes) -> None:
    portal = Portal()
    assert "not of" in await portal.refused(portal.challenge(), "0x" + signature.hex())


@pytest.mark.parametrize(
    "signature",
    ["", "0x", "0x1", "0xzz", "1234", "0x" + "00" * 65, "0x" + "ff" * 65, "0x" + "00" * 64],
)
async def test_garbage_is_no_signature(portal: Portal, signature: str) -> None:
    assert "signature" in await portal.refused(portal.challenge(), signature)


async def test_what_is_too_long_is_refused_unread(portal: Portal) -> None:
    message = portal.challenge()
    assert "too long" in await portal.refused(message + "x" * MAX_MESSAGE_LENGTH, signed(message))
    long = "0x" + "00" * (MAX_SIGNATURE_BYTES + 1)
    assert "too long" in await portal.refused(message, long)


async def test_the_twin_of_a_signature_is_refused(portal: Portal) -> None:
    message = portal.challenge()
    good = alice.sign_message(encode_defunct(text=message))
    twin = good.r.to_bytes(32) + (ORDER - good.s).to_bytes(32) + bytes([55 - good.v])
    recovered = Keys.recover_message(encode_defunct(text=message), signature=twin)
    assert recovered == alice.address
    assert "not of" in await portal.refused(message, "0x" + twin.hex())


async def test_a_wallet_that_counts_from_zero_signs_in(portal: Portal) -> None:
    message = portal.challenge()
    good = alice.sign_message(encode_defunct(text=message)).signature
    assert await portal.verify(message, "0x" + good[:64].hex() + f"{good[64] - 27:02x}")


async def test_a_longer_signature_of_the_same_key_is_refused(portal: Portal) -> None:
    message = portal.challenge()
    assert "not of" in await portal.refused(message, signed(message) + "00")
