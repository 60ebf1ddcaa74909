"""``passport_score``: a wallet that is probably one person's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from auth.facts import Question
from auth.rules.base import (
    Accounts,
    Answers,
    Finding,
    WordPart,
    answer_to,
    short,
    unknown,
    verdict_of,
)
from auth.rules.scalars import Amount
from auth.rules.verdict import Verdict
from auth.rules.wallets import wallets

DEFAULT_SCORE = Decimal(25)
"""The score from which on an address counts as one person's, where a rule names none."""


class PassportScore(WordPart):
    """Having a proof-of-personhood score. The bare word asks for 25.

    A score belongs to an address on no particular chain, so only keys count.
    """

    passport_score: Annotated[Amount, Field(le=100)] = Field(
        description="Wallets with at least this proof-of-personhood score; alone, 25. Where it is "
        "asked stands in portal.yaml under roles.passport.",
    )

    word = "passport_score"
    default = DEFAULT_SCORE

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """The score of each wallet with a key."""
        return [_question(address) for address in wallets(accounts, None).addresses]

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any wallet has the score."""
        linked = wallets(accounts, None)
        least = f"a passport score of at least {self.passport_score}"
        return verdict_of(
            f"passport_score: {self.passport_score}",
            f"have {least}",
            [*self._findings(linked.addresses, answers), *linked.outdated],
            linked.otherwise(f"no linked wallet has {least}"),
        )

    def _findings(self, addresses: Iterable[str], answers: Answers) -> Iterator[Finding]:
        for address in addresses:
            answer = answer_to(_question(address), answers)
            score = answer.value
            if isinstance(score, bool) or not isinstance(score, int | float) or score != score:
                yield unknown(answer)
            elif score >= self.passport_score:
                yield "yes", f"has a passport score of {score:g} ({short(address)})"


def _question(address: str) -> Question:
    return Question("passport", ("score", address))
