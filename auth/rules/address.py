"""``address``: one wallet."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from auth.facts import Question
from auth.rules.parts import Accounts, Answers, Part, judged, of, short
from auth.rules.scalars import Address
from auth.verdicts import Verdict


class OneAddress(Part):
    """Being one wallet."""

    address: Address = Field(description="One wallet, by its address.")

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """Nothing: the wallet has signed."""
        return ()

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether a linked wallet is the one."""
        wallets = of("wallet", accounts)
        listed = any(wallet.id.lower() == self.address.lower() for wallet in wallets)
        return judged(
            f"address: {self.address}",
            "sign in with a wallet that an admin has listed",
            [("yes", f"is the wallet {short(self.address)}")] if listed else [],
            "no linked wallet is the listed one" if wallets else "no wallet is linked",
        )
