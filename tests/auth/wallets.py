"""A portal that people sign in to with wallets, as tests use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from eth_account import Account as Keys
from eth_account.messages import encode_defunct

from auth import BadCredential
from auth.chain.contract_signatures import ContractWallets
from auth.chain.ens import EnsNames
from auth.portal_addresses import Site
from auth.sealer import Sealer
from auth.sign_in.wallet import WalletSignIn

BASE = "https://portal.example.org"
BROWSER = "the browser's cookie"
STATEMENT = "Sign in to Porch. This costs nothing and moves nothing."
NOW = 1_800_000_000.0

alice, mallory = Keys.from_key("0x" + "a1" * 32), Keys.from_key("0x" + "0e" * 32)


class Spent:
    """What was spent, in memory."""

    def __init__(self) -> None:
        self.until: dict[str, datetime] = {}

    async def spend(self, key: str, until: datetime) -> bool:
        first = key not in self.until
        self.until[key] = until
        return first


@dataclass
class Portal:
    """A portal whose clock a test moves."""

    base: str = BASE
    key: bytes = b"k" * 32
    now: float = NOW
    spent: Spent = field(default_factory=Spent)
    contracts: ContractWallets | None = None
    names: EnsNames | None = None
    statement: str = STATEMENT
    chains: tuple[int, ...] = (1, 10)

    @property
    def wallets(self) -> WalletSignIn:
        return WalletSignIn(
            Site(self.base, local=False),
            Sealer(self.key, "wallet", lambda: self.now),
            self.spent,
            self.chains,
            self.statement,
            self.contracts,
            self.names,
        )

    def challenge(self, address: str = alice.address, chain_id: int = 10) -> str:
        return self.wallets.challenge(self.base, address, chain_id, BROWSER)

    async def verify(self, message: str, signature: str, browser: str = BROWSER) -> Any:
        return await self.wallets.verify(self.base, message, signature, browser)

    async def refused(self, message: str, signature: str, browser: str = BROWSER) -> str:
        """Why a sign-in is refused; nothing may have been spent by it."""
        before = dict(self.spent.until)
        with pytest.raises(BadCredential) as refusal:
            await self.verify(message, signature, browser)
        assert self.spent.until == before
        return refusal.value.reason


def signed(message: str, by: Any = alice) -> str:
    signature: str = by.sign_message(encode_defunct(text=message)).signature.hex()
    return "0x" + signature
