"""``access:`` of ``tiers.yaml``: one rule for each tier above open, and one for admins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from auth.facts import Question
from auth.rules.language import AnyOf, Condition, Location, Rule, all_of, conditions
from auth.rules.parts import Accounts, Answers, Part
from auth.rules.signed_in import SignedIn
from auth.verdicts import Verdict

RuleName = Literal["public", "members", "admins"]
NAMES: tuple[RuleName, ...] = ("public", "members", "admins")
"""The rules, from the lowest tier up."""

DEEPEST = 12
"""Levels of mappings and lists that one rule may have."""
LARGEST = 2_000
"""Keys and values that one rule may have."""

_SIGNED_IN = SignedIn(signed_in=True)


class AccessRules(Part):
    """Who has which tier. Nobody who has not signed in has more than open, whatever a rule says."""

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
            if not _is_bounded(rule):
                most = f"{DEEPEST} levels or {LARGEST} keys and values"
                raise ValueError(f"the rule for {key} has more than {most}; make it simpler")
        return {key: rule for key, rule in value.items() if rule is not None or key not in NAMES}

    def rule(self, name: RuleName) -> Rule:
        """One of the rules."""
        found: Rule = getattr(self, name)
        return found

    def conditions(self) -> Iterator[tuple[Location, Condition]]:
        """Every condition, with its place below ``access:``."""
        for name in NAMES:
            yield from conditions(self.rule(name), (name,))

    def groups(self) -> frozenset[str]:
        """The groups that the rules below admins' can put somebody in.

        What makes an admin is told to nobody else.
        """
        told = (each for (name, *_), each in self.conditions() if name != "admins")
        return frozenset(group for each in told if (group := getattr(each, "group", None)))

    def questions(self, accounts: Accounts) -> tuple[Question, ...]:
        """What must be asked to judge someone by every rule; each question once."""
        asked = (each for name in NAMES for each in self.rule(name).questions(accounts))
        return tuple(dict.fromkeys(asked))

    def verdict(self, name: RuleName, accounts: Accounts, answers: Answers) -> Verdict:
        """Judge someone by one rule.

        Args:
            name: the rule.
            accounts: everything that the person has proved to be theirs.
            answers: to :meth:`questions`; what is not among them is unknown.
        """
        verdict = self.rule(name).verdict(accounts, answers)
        signed_in = _SIGNED_IN.verdict(accounts, answers)
        if signed_in.holds == "yes" or verdict.holds == "no":
            return verdict
        # A `not` holds for a stranger too, who is none the wiser for it.
        return all_of((signed_in, verdict))


def _is_bounded(rule: Any) -> bool:
    waiting, seen = [(rule, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST or seen > LARGEST:
            return False
        below = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict | list | tuple):
            waiting.extend((each, depth + 1) for each in below)
    return True
