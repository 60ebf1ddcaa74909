"""What every part of a rule has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from auth.callers import Account
from auth.facts import Answer, Question
from auth.verdicts import Holds, Verdict

Accounts = Sequence[Account]
"""Everything that a person has proved to be theirs."""

Answers = Mapping[Question, Answer]
"""What the sources said."""

Finding = tuple[Holds | Literal["outdated"], str]
"""Whether a condition holds for one account, and the fact that says so.

``outdated`` is unknown too: it was proved too long ago to count, until it is proved again.
"""


class Judge(Protocol):
    """A part of a rule: it says what it must know of someone, and then judges.

    Any one account of the person suffices for a condition.
    """

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """What sources must be asked to judge someone with these accounts."""
        ...

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Judge someone; what is not among the answers is unknown."""
        ...


class Part(BaseModel):
    """A part of a rule, as it is written: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def of(provider: str, accounts: Accounts) -> list[Account]:
    """The accounts of one provider: ``wallet``, ``github`` or ``oidc``."""
    return [account for account in accounts if account.provider == provider]


def short(address: str) -> str:
    """An address as people recognise it, its middle left out: ``0x3bc1…d137``."""
    return f"{address[:6]}…{address[-4:]}"


def told(question: Question, answers: Answers) -> Answer:
    """The answer to a question; unknown where it was not asked."""
    return answers.get(question) or Answer(None, 0.0, f"{question.source} was not asked")


def unknown(answer: Answer) -> Finding:
    """The finding where a source did not say."""
    return "unknown", answer.problem or "the answer makes no sense"


def judged(
    rule: str, need: str, findings: Iterable[Finding], otherwise: str, *groups: str
) -> Verdict:
    """The verdict on a condition: any account suffices, and ignorance is no refusal.

    Args:
        rule: the condition as an admin writes it.
        need: what someone would do for it to hold; names nobody.
        findings: one for each account that it asks about.
        otherwise: why it does not hold, where no account satisfies it.
        groups: the groups that someone is in for whom it holds.
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


def or_word(word: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a condition that may also be written as its name alone."""
    return {"anyOf": [{"const": word}, schema]}
