"""``email``: a verified e-mail address, or any at a domain."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from auth.facts import Question
from auth.rules.parts import Accounts, Answers, Part, judged
from auth.rules.scalars import Email
from auth.verdicts import Verdict

_ANY = "*@"


class VerifiedEmail(Part):
    """Having an e-mail address that the provider of the account has verified."""

    email: Email = Field(
        description='One verified e-mail address, or "*@example.org" (in quotes) for a domain.'
    )

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """Nothing: the provider said it at sign-in."""
        return ()

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether an account has the address, or one at the domain."""
        found = [account.email for account in accounts if account.email]
        domain = self.email.removeprefix(_ANY) if self.email.startswith(_ANY) else None
        whose = f"at {domain}" if domain else "that an admin has listed"
        return judged(
            f"email: {self.email}",
            f"sign in where your e-mail address {whose} is verified",
            [("yes", f"has the verified address {each}") for each in found if self._is(each)],
            f"no verified e-mail address is {'one ' + whose if domain else 'the listed one'}",
        )

    def _is(self, email: str) -> bool:
        email = email.lower()
        if self.email.startswith(_ANY):
            return email.rpartition("@")[2] == self.email.removeprefix(_ANY)
        return email == self.email
