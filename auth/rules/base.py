"""What every part of a rule has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from auth.callers import Account
from auth.facts import Answer, Question
from auth.rules.verdict import Holds, Verdict

Accounts = Sequence[Account]
"""A person's linked accounts."""

Answers = Mapping[Question, Answer]
"""The sources' answers."""

Finding = tuple[Holds | Literal["outdated"], str]
"""Whether a condition holds for one account, and the fact behind it.

``outdated`` is a kind of unknown: the proof is too old to count, and signing in again renews it.
"""


class Written(BaseModel):
    """Something in ``tiers.yaml``: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(Written):
    """A part of a rule: a condition, or several joined."""

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """What sources must be asked to judge a person; nothing where the accounts say it all.

        Args:
            accounts: everything that the person has proved to be theirs.
        """
        return ()

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Judge a person. One account that satisfies a condition is enough.

        Args:
            accounts: everything that the person has proved to be theirs.
            answers: what the sources said to :meth:`questions`; anything else is unknown.
        """
        raise NotImplementedError


class WordPart(Part):
    """A condition that may also be written as its name alone, which gives it a default value."""

    word: ClassVar[str]
    default: ClassVar[Any]

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {cls.word: cls.default} if value == cls.word else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"const": cls.word}, handler(schema)]}


def accounts_of(provider: str, accounts: Accounts) -> list[Account]:
    """The accounts of one provider: ``wallet``, ``github`` or ``oidc``."""
    return [account for account in accounts if account.provider == provider]


def short(address: str) -> str:
    """An address as people recognise it, its middle left out: ``0x3bc1…d137``."""
    return f"{address[:6]}…{address[-4:]}"


def answer_to(question: Question, answers: Answers) -> Answer:
    """The answer to a question; an unknown one if it was not asked."""
    return answers.get(question) or Answer(None, 0.0, f"{question.source} was not asked")


def unknown(answer: Answer) -> Finding:
    """The finding when a source gave no usable answer."""
    return "unknown", answer.problem or "the answer makes no sense"


def verdict_of(
    rule: str, need: str, findings: Iterable[Finding], otherwise: str, *groups: str
) -> Verdict:
    """The verdict on a condition: one account is enough, and an unknown fact is not a no.

    Args:
        rule: the condition as an admin writes it.
        need: what people can do for it to hold; it names nobody.
        findings: what was found, account by account.
        otherwise: why it does not hold, if no account satisfies it.
        groups: the groups of people for whom it holds.
    """
    because: dict[Holds | Literal["outdated"], str] = {}
    for holds, fact in findings:
        because.setdefault(holds, fact)
    if "yes" in because:
        return Verdict(rule, "yes", because["yes"], groups=frozenset(groups), need=need)
    if "unknown" in because:
        return Verdict(rule, "unknown", because["unknown"], need=need)
    if "outdated" in because:
        return Verdict(rule, "unknown", because["outdated"], need=need, again=True)
    return Verdict(rule, "no", otherwise, need=need)
