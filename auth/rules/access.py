"""``access:`` of ``tiers.yaml``: one rule for each tier above open, and one for admins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from auth.facts import Question
from auth.rules.base import Accounts, Answers, Written
from auth.rules.language import AnyOf, Condition, Location, Rule, all_of, conditions
from auth.rules.signed_in import SignedIn
from auth.rules.verdict import Verdict

RuleName = Literal["public", "members", "admins"]
NAMES: tuple[RuleName, ...] = ("public", "members", "admins")
"""The rules, from the lowest tier up."""

MAX_DEPTH = 12
"""Levels of mappings and lists that one rule may have."""
MAX_VALUES = 2_000
"""Keys and values that one rule may have."""

_SIGNED_IN = SignedIn(signed_in=True)


class AccessRules(Written):
    """Who has which tier. Without signing in nobody has more than open, whatever a rule says."""

    public: Rule = Field(
        AnyOf(any_of=(_SIGNED_IN,)), description="Who has the public tier: anyone signed in."
    )
    members: Rule = Field(AnyOf(any_of=()), description="Who has the members tier: nobody.")
    admins: Rule = Field(
        AnyOf(any_of=()), description="Who may see the portal's operational details: nobody."
    )

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        """Leave out rules whose lines are all comments; refuse what is too large to judge."""
        if not isinstance(value, dict):
            return value
        for key, rule in value.items():
            if not is_bounded(rule):
                most = f"{MAX_DEPTH} levels or {MAX_VALUES} keys and values"
                raise ValueError(f"the rule for {key} has more than {most}; make it simpler")
        return {key: rule for key, rule in value.items() if rule is not None or key not in NAMES}

    def rule(self, name: RuleName) -> Rule:
        """One of the rules."""
        found: Rule = getattr(self, name)
        return found

    def conditions(self) -> Iterator[tuple[Location, Condition]]:
        """Every condition, with its location below ``access:``."""
        for name in NAMES:
            yield from conditions(self.rule(name), (name,))

    def groups(self) -> frozenset[str]:
        """The groups that the rules for public and members can put people in.

        The rule for admins is left out: what makes an admin is nobody else's business.
        """
        shown = (each for (name, *_), each in self.conditions() if name != "admins")
        return frozenset(group for each in shown if (group := getattr(each, "group", None)))

    def questions(self, accounts: Accounts) -> tuple[Question, ...]:
        """The questions to judge a person by every rule, each once."""
        asked = (each for name in NAMES for each in self.rule(name).questions(accounts))
        return tuple(dict.fromkeys(asked))

    def verdict(self, name: RuleName, accounts: Accounts, answers: Answers) -> Verdict:
        """Judge a person by one rule.

        Args:
            name: the rule.
            accounts: everything that the person has proved to be theirs.
            answers: to :meth:`questions`; what is not among them is unknown.
        """
        verdict = self.rule(name).verdict(accounts, answers)
        signed_in = _SIGNED_IN.verdict(accounts, answers)
        if signed_in.holds == "yes" or verdict.holds == "no":
            return verdict
        # A `not` also holds for people who have not signed in; it must not give them the tier.
        return all_of((signed_in, verdict))


def is_bounded(rule: Any) -> bool:
    """Whether a rule, as it was written, is small enough to be read and judged."""
    waiting, seen = [(rule, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_VALUES:
            return False
        below = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict | list | tuple):
            waiting.extend((each, depth + 1) for each in below)
    return True
