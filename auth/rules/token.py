"""``token``: holding a minimum of a token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field, model_validator

from auth.facts import Question
from auth.rules.base import (
    Accounts,
    Answers,
    Finding,
    Part,
    Written,
    answer_to,
    short,
    unknown,
    verdict_of,
)
from auth.rules.scalars import Address, Amount, Whole
from auth.rules.verdict import Verdict
from auth.rules.wallets import wallets

_MAX_DECIMALS = 255


class Holding(Written):
    """A token and how much of it."""

    chain: Whole = Field(description="The chain's id, such as 10; it stands in portal.yaml.")
    contract: Address = Field(description="The token's contract.")
    standard: Literal["erc20", "erc721", "erc1155"] = Field(description="The token's standard.")
    id: Whole | None = Field(
        None, lt=2**256, description="Which token of the contract; for erc1155 alone."
    )
    minimum: Amount = Field(
        Decimal(1), description="How many at least; of an erc20 in whole tokens, such as 0.5."
    )

    @model_validator(mode="after")
    def _fits(self) -> Holding:
        if (self.standard == "erc1155") is not (self.id is not None):
            raise ValueError("erc1155 needs the id of the token, and the other standards have none")
        if self.standard != "erc20" and self.minimum % 1:
            raise ValueError(f"a minimum of {self.standard} is a whole number")
        return self

    def __str__(self) -> str:
        id_ = "" if self.id is None else f", id: {self.id}"
        return (
            f"{{chain: {self.chain}, contract: {self.contract}, standard: {self.standard}{id_}, "
            f"minimum: {self.minimum}}}"
        )


class Token(Part):
    """Holding at least a minimum of an ERC-20, ERC-721 or ERC-1155 token in one wallet."""

    token: Holding = Field(description="Holders of at least a minimum of a token.")

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """What each wallet holds, and for an ERC-20 how its amounts are counted."""
        addresses = wallets(accounts, self.token.chain).addresses
        if addresses and self.token.standard == "erc20":
            yield self._decimals
        for address in addresses:
            yield self._balance(address)

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any wallet alone holds enough."""
        linked = wallets(accounts, self.token.chain)
        what = f"{self.token.minimum} of the token {short(self.token.contract)}"
        return verdict_of(
            f"token: {self.token}",
            f"hold at least {what} on chain {self.token.chain} in one wallet",
            [*self._findings(linked.addresses, answers), *linked.outdated],
            linked.otherwise(f"no linked wallet holds {what}"),
        )

    def _findings(self, addresses: Iterable[str], answers: Answers) -> Iterator[Finding]:
        holding = self.token
        for address in addresses:
            scale = answer_to(self._decimals, answers) if holding.standard == "erc20" else None
            balance = answer_to(self._balance(address), answers)
            if scale is not None and not _counts(scale.value, _MAX_DECIMALS):
                yield unknown(scale)
            elif not _counts(balance.value, 2**256):
                yield unknown(balance)
            elif balance.value >= Fraction(holding.minimum) * 10 ** (scale.value if scale else 0):
                what = f"{holding.minimum} of the token {short(holding.contract)}"
                yield "yes", f"holds at least {what} ({short(address)})"

    def _balance(self, address: str) -> Question:
        held = self.token
        key = ("balance", held.chain, held.contract, held.standard, held.id, address)
        return Question("tokens", key)

    @property
    def _decimals(self) -> Question:
        return Question("tokens", ("decimals", self.token.chain, self.token.contract))


def _counts(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most
