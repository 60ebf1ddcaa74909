"""``signed_in``: anyone who has proved who they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from auth.facts import Question
from auth.rules.parts import Accounts, Answers, Finding, Part, judged, or_word
from auth.rules.wallets import set_aside
from auth.verdicts import Verdict


def _true(value: Any) -> Any:
    if value not in (True, "true"):
        raise ValueError("takes no value: write signed_in alone, below not for the contrary")
    return True


class SignedIn(Part):
    """Having signed in, in whatever way. Written as the bare word."""

    signed_in: Annotated[Literal[True], BeforeValidator(_true)] = Field(
        description="Anyone who has signed in."
    )

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"signed_in": True} if value == "signed_in" else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return or_word("signed_in", handler(schema))

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """Nothing."""
        return ()

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether there is any account."""
        findings: list[Finding] = [("yes", "is signed in") for each in accounts if not each.lapsed]
        lapsed = (set_aside(account) for account in accounts if account.lapsed)
        findings += [("outdated", why) for why in lapsed if why]
        return judged("signed_in", "sign in", findings, "nobody is signed in")
