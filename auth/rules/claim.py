"""``claim``: what an OpenID Connect provider says of someone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import Field

from auth.callers import Account
from auth.rules.base import Accounts, Answers, Finding, Part, Written, accounts_of, verdict_of
from auth.rules.scalars import Word
from auth.rules.verdict import Verdict


class ClaimValue(Written):
    """A claim and the value that it must have."""

    name: Word = Field(description="The claim's name, such as groups.")
    value: Word = Field(
        description="The value: a text, a number or a truth value; of a list, one of its elements."
    )
    issuer: Word | None = Field(
        None, description="The issuer that must say so; any that people sign in with if not given."
    )

    def __str__(self) -> str:
        issuer = f", issuer: {self.issuer}" if self.issuer else ""
        return f"{{name: {self.name}, value: {self.value}{issuer}}}"


class Claim(Part):
    """Having a claim with a value."""

    claim: ClaimValue = Field(
        description="People of whom an OpenID Connect provider says something."
    )

    @property
    def group(self) -> str:
        """The group of those for whom it holds."""
        return f"claim:{self.claim.name}={self.claim.value}"

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether an account has it."""
        claim = self.claim
        what = f"{claim.name}={claim.value}"
        return verdict_of(
            f"claim: {claim}",
            f"have the claim {what} from {claim.issuer or 'a provider that people sign in with'}",
            self._findings(accounts_of("oidc", accounts)),
            f"no linked account has the claim {what}",
            self.group,
        )

    def _findings(self, accounts: Iterable[Account]) -> Iterator[Finding]:
        for account in accounts:
            # A subject may hold a "#", the address of an issuer cannot.
            issuer = account.id.partition("#")[0]
            if not self._is_of(issuer):
                continue
            if _says(account.claims.get(self.claim.name), self.claim.value):
                yield "yes", f"has the claim {self.claim.name}={self.claim.value} from {issuer}"
            elif self.claim.name in account.outdated:
                yield "outdated", f"what {issuer} said of {self.claim.name} is too old to count"

    def _is_of(self, issuer: str) -> bool:
        return self.claim.issuer is None or self.claim.issuer.rstrip("/") == issuer.rstrip("/")


def _says(claim: Any, value: str) -> bool:
    if isinstance(claim, list | tuple):
        return any(_equals(element, value) for element in claim)
    return _equals(claim, value)


def _equals(claim: Any, value: str) -> bool:
    if isinstance(claim, bool):
        return value == str(claim).lower()
    if isinstance(claim, int | float):
        try:
            return Decimal(str(claim)) == Decimal(value)
        except InvalidOperation:
            return False
    return isinstance(claim, str) and claim == value
