"""``email``: a verified e-mail address, or any at a domain."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from auth.claims import EMAIL
from auth.rules.base import Accounts, Answers, Finding, Part, verdict_of
from auth.rules.scalars import Email
from auth.rules.verdict import Verdict

_ANY = "*@"


class VerifiedEmail(Part):
    """Having an e-mail address that the provider of the account has verified."""

    email: Email = Field(
        description='One verified e-mail address, or "*@example.org" (in quotes) for a domain.'
    )

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether an account has the address, or one at the domain."""
        domain = self.email.removeprefix(_ANY) if self.email.startswith(_ANY) else None
        whose = f"at {domain}" if domain else "that an admin has listed"
        return verdict_of(
            f"email: {self.email}",
            f"sign in where your e-mail address {whose} is verified",
            self._findings(accounts),
            f"no verified e-mail address is {'one ' + whose if domain else 'the listed one'}",
        )

    def _findings(self, accounts: Accounts) -> Iterator[Finding]:
        for account in accounts:
            if account.email and self._is(account.email):
                yield "yes", f"has the verified address {account.email}"
            elif EMAIL in account.outdated:
                yield "outdated", "the e-mail address was verified too long ago to count"

    def _is(self, email: str) -> bool:
        email = email.lower()
        if self.email.startswith(_ANY):
            return email.rpartition("@")[2] == self.email.removeprefix(_ANY)
        return email == self.email
