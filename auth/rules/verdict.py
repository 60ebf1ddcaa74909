"""Verdicts of rules on a person, with reasons: yes, no, or unknown, which grants nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from auth.callers import Caller
from auth.tiers import Tier

Holds = Literal["yes", "no", "unknown"]
"""Whether a rule holds; ``unknown`` if that depends on a source that did not answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a rule, or a part of one, for one person.

    Attributes:
        rule: the rule as an admin writes it, on one line: ``hat: 30.3.1``, ``any_of``, ``not``.
            It may name people, so it is for admins.
        holds: whether it holds.
        because: the fact that decided it, as the end of a sentence about the person:
            ``wears the hat 30.3.1 (0x3bc1…d137)``; empty for ``any_of``, ``all_of`` and ``not``,
            whose parts say why.
        parts: the parts of an ``any_of``, ``all_of`` or ``not``, in the order written.
        groups: the groups that a condition which holds puts the person in, such as
            ``hat:30.3.1``, ``github_org:NAME``, ``github_team:ORG/TEAM``, ``claim:NAME=VALUE``.
        need: what people can do for the condition to hold, such as ``wear the hat 30.3.1``; of
            parts, ``one of these``, ``all of these`` or ``not this``. It names nobody.
        again: whether it is unknown because a proof is too old, which signing in again renews.
    """

    rule: str
    holds: Holds
    because: str = ""
    parts: tuple[Verdict, ...] = ()
    groups: frozenset[str] = frozenset()
    need: str = ""
    again: bool = False

    def conditions(self) -> Iterator[Verdict]:
        """The conditions in it, in the order written; itself if it is one."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.conditions()


def lines(verdict: Verdict) -> list[tuple[int, Verdict]]:
    """A verdict and its parts from top to bottom, each with its depth, from 0."""
    found = [(0, verdict)]
    for part in verdict.parts:
        found += [(depth + 1, each) for depth, each in lines(part)]
    return found


def deciding(verdict: Verdict) -> Iterator[Verdict]:
    """The conditions that decided a verdict."""
    if not verdict.parts:
        yield verdict
    for part in verdict.parts:
        if verdict.rule == "not" or part.holds == verdict.holds:
            yield from deciding(part)


def needs(verdict: Verdict) -> list[str]:
    """What people can do for a rule to hold that does not hold now.

    Returns:
        Lines for people, indented by two spaces for each level; none if the rule holds, or if
        nothing makes it hold.
    """
    return _needs(verdict, "yes") if verdict.holds != "yes" else []


_OTHERWISE: dict[Holds, Holds] = {"yes": "no", "no": "yes"}
_ENOUGH_ALREADY = {("all_of", "yes"), ("any_of", "no")}


def _needs(verdict: Verdict, wanted: Holds) -> list[str]:
    """What would turn a verdict into the wanted one; below a ``not`` that is a no."""
    if not verdict.parts:
        return [verdict.need] if verdict.need else []
    parts = verdict.parts
    if verdict.rule == "not":
        return _below(verdict.need, _needs(parts[0], _OTHERWISE[wanted]))
    if (verdict.rule, wanted) in _ENOUGH_ALREADY:
        # Every part must be as wanted, so only those that are not yet count.
        parts = tuple(part for part in parts if part.holds != wanted)
    if len(parts) == 1:
        return _needs(parts[0], wanted)
    return _below(verdict.need, [each for part in parts for each in _needs(part, wanted)])


def _below(heading: str, wanted: list[str]) -> list[str]:
    return [f"{heading}:", *(f"  {each}" for each in wanted)] if wanted else []


@dataclass(frozen=True, slots=True)
class Resolution:
    """How an identity got its tier: everything that ``porch explain`` prints.

    Attributes:
        caller: the result.
        granted: the tier that the credential itself carries, if so; then no rule counts.
        public: the verdict on the rule for the public tier.
        members: the verdict on the rule for the members tier.
        admins: the verdict on the rule for admins.
    """

    caller: Caller
    granted: Tier | None
    public: Verdict
    members: Verdict
    admins: Verdict

    @property
    def next(self) -> tuple[Tier, Verdict] | None:
        """The tier above the caller's and the verdict on its rule; None at the top.

        If the members rule holds already, the credential's ceiling is what keeps the tier lower.
        """
        if self.caller.tier is Tier.MEMBERS or self.granted is not None:
            return None
        if self.caller.tier is Tier.PUBLIC:
            return Tier.MEMBERS, self.members
        return Tier.PUBLIC, self.public
