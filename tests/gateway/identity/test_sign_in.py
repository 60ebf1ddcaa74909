"""The ways to sign in, as ``portal.yaml`` opens them."""

from types import SimpleNamespace
from typing import Any

from eth_account import Account as Keys
from eth_account.messages import encode_defunct

from auth.callers import Account
from gateway.config.portal import load_portal
from gateway.identity.sign_in import SignInMethods
from tests.auth.stores import empty_stores
from tests.auth.wallets import Spent

ALICE = Keys.from_key("0x" + "a1" * 32)


def opened(tmp_path, text):
    (tmp_path / "portal.yaml").write_text(text)
    portal = load_portal(tmp_path)
    stores: Any = SimpleNamespace(spent=Spent())
    return SignInMethods(portal, portal.config.site, b"k" * 32, stores)


def test_a_statement_names_the_portal_and_keeps_its_other_letters(tmp_path):
    text = 'name: Garden\nsign_in: {wallet: {statement: "{name}: water, not {money}"}}'
    wallet = opened(tmp_path, text).wallet
    assert wallet is not None
    message = wallet.challenge("http://127.0.0.1:8321", ALICE.address, 1, "browser")
    assert "\nGarden: water, not money\n" in message


async def test_a_wallet_keeps_its_name_while_the_chain_does_not_answer(tmp_path):
    text = "chains: [{id: 1, rpc: ['http://127.0.0.1:9']}]\nroles: {ens: 1}"
    (tmp_path / "portal.yaml").write_text(text)
    portal = load_portal(tmp_path)
    async with empty_stores(tmp_path) as stores:
        account = Account.of_key(ALICE.address, "alice.eth")
        await stores.people.signed_in(account)
        methods = SignInMethods(portal, portal.config.site, b"k" * 32, stores)
        assert methods.wallet is not None
        base = "http://127.0.0.1:8321"
        message = methods.wallet.challenge(base, ALICE.address, 1, "browser")
        signed = ALICE.sign_message(encode_defunct(text=message)).signature.hex()
        proved = await methods.wallet.verify(base, message, f"0x{signed}", "browser")
        assert proved == account
        await methods.close()
