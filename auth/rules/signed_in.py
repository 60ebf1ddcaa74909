"""``signed_in``: anyone who has proved who they are."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from auth.rules.base import Accounts, Answers, Finding, WordPart, verdict_of
from auth.rules.verdict import Verdict
from auth.rules.wallets import stale_proof


def _true(value: Any) -> Any:
    if value not in (True, "true"):
        raise ValueError("takes no value: write signed_in alone, below not for the contrary")
    return True


class SignedIn(WordPart):
    """Having signed in, in whatever way. Written as the bare word."""

    signed_in: Annotated[Literal[True], BeforeValidator(_true)] = Field(
        description="Anyone who has signed in."
    )

    word = "signed_in"
    default = True

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether there is any account."""
        findings: list[Finding] = [("yes", "is signed in") for each in accounts if not each.lapsed]
        lapsed = (stale_proof(account) for account in accounts if account.lapsed)
        findings += [("outdated", why) for why in lapsed if why]
        return verdict_of("signed_in", "sign in", findings, "nobody is signed in")
