"""``address``: one wallet."""

from __future__ import annotations

from pydantic import Field

from auth.rules.base import Accounts, Answers, Finding, Part, short, verdict_of
from auth.rules.scalars import WalletAddress
from auth.rules.verdict import Verdict
from auth.rules.wallets import wallets


class OneAddress(Part):
    """Being one wallet: a key's by its address, a contract's by its address on a chain."""

    address: WalletAddress = Field(
        description="One wallet, by its address; a contract's by its chain and address, such as "
        "eip155:10:0x52908400098527886E0F7030069857D2E4169EE7 (CAIP-10)."
    )

    @property
    def chain(self) -> int | None:
        """The chain on which a contract counts; None where only a key does."""
        _, chain, _ = self.address.split(":") if ":" in self.address else ("", "", "")
        return int(chain) if chain else None

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether a linked wallet is the one."""
        address = self.address.rpartition(":")[2]
        named = [each for each in accounts if each.address.lower() == address.lower()]
        linked = wallets(named, self.chain)
        is_it: Finding = ("yes", f"is the wallet {short(address)}")
        return verdict_of(
            f"address: {self.address}",
            "sign in with a wallet that an admin has listed",
            [*(is_it for _ in linked.addresses), *linked.outdated],
            "; ".join(linked.elsewhere)
            or wallets(accounts, self.chain).otherwise("no linked wallet is the listed one"),
        )
