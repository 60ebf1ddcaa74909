"""``passport_score``: a wallet that is probably one person's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from auth.facts import Question
from auth.rules.parts import (
    Accounts,
    Answers,
    Finding,
    Part,
    judged,
    or_word,
    short,
    told,
    unknown,
)
from auth.rules.scalars import Amount
from auth.rules.wallets import wallets
from auth.verdicts import Verdict

DEFAULT = Decimal(25)
"""The score from which on an address counts as one person's, where a rule names none."""


class PassportScore(Part):
    """Having a proof-of-personhood score. The bare word asks for 25.

    A score is an address's on no chain in particular, so that only keys count.
    """

    passport_score: Annotated[Amount, Field(le=100)] = Field(
        description="Wallets with at least this proof-of-personhood score; alone, 25. Where it is "
        "asked stands in portal.yaml under roles.passport.",
    )

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"passport_score": DEFAULT} if value == "passport_score" else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return or_word("passport_score", handler(schema))

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """The score of each wallet with a key."""
        return [_question(address) for address in wallets(accounts, None).addresses]

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any wallet has the score."""
        linked = wallets(accounts, None)
        least = f"a passport score of at least {self.passport_score}"
        return judged(
            f"passport_score: {self.passport_score}",
            f"have {least}",
            [*self._findings(linked.addresses, answers), *linked.outdated],
            linked.otherwise(f"no linked wallet has {least}"),
        )

    def _findings(self, addresses: Iterable[str], answers: Answers) -> Iterator[Finding]:
        for address in addresses:
            answer = told(_question(address), answers)
            score = answer.value
            if isinstance(score, bool) or not isinstance(score, int | float) or score != score:
                yield unknown(answer)
            elif score >= self.passport_score:
                yield "yes", f"has a passport score of {score:g} ({short(address)})"


def _question(address: str) -> Question:
    return Question("passport", ("score", address))
