"""Lines of ``tiers.yaml``: the one that decided, as it stands there, and what to write instead."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from textwrap import dedent

import yaml

from auth import Tier
from auth.callers import Account
from auth.rules.access import NAMES, RuleName
from gateway.catalog.approval_rule import NOBODY
from gateway.catalog.catalog import Decision
from gateway.config.tiers_file import TierRulesFile

_WHOLE = re.compile(r"'([1-9]\d*)'")
MAX_LINE_CHARACTERS = 300
"""Characters of a line that are shown."""
MAX_BLOCK_LINES = 30
"""Lines of a rule that are shown."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """What decided, as an admin finds it.

    Attributes:
        place: ``config/tiers.yaml:8``; empty where no line did.
        text: that line as it is written.
        because: the decision's own word, where no line did.
    """

    place: str
    text: str
    because: str


@dataclass(frozen=True, slots=True)
class Change:
    """What to write so that an item has another tier.

    Attributes:
        where: the place, as an instruction.
        lines: one line for each other way, with what it means.
    """

    where: str
    lines: Sequence[tuple[str, str]]


def item_line(key: str, tier: Tier, *, hidden: bool = False, approve: str = "") -> str:
    """The line below ``items:`` that gives an item a tier.

    Args:
        key: the item's.
        tier: the tier.
        hidden: whether it is unknown to callers below.
        approve: whose yes it waits for, as the file writes it; empty where for nobody's.
    """
    more = ", hidden: true" * hidden + f", approve: {approve}" * bool(approve)
    return f"  {_scalar(key)}: " + (f"{{tier: {tier}{more}}}" if more else str(tier))


def condition(account: Account) -> str | None:
    """The condition that an account alone fulfils; None where rules cannot name it."""
    if account.provider == "wallet":
        return f"address: {account.address}"
    if account.provider == "github":
        return f"github: {account.id}"
    return f"email: {_scalar(account.email)}" if account.email else None


def _scalar(text: str) -> str:
    """A text as YAML reads it as one: as it is, or quoted."""
    try:
        plain = yaml.safe_load(f"{text}: 0\n") == {text: 0} and text.isprintable()
    except yaml.YAMLError:
        plain = False
    return text if plain else yaml.safe_dump(text, default_style='"', width=math.inf).strip()


class TiersLines:
    """Finds lines in the file that is in force.

    Args:
        tiers: the file.
    """

    def __init__(self, tiers: TierRulesFile) -> None:
        self._tiers = tiers

    def deciding(self, decision: Decision) -> Deciding:
        """The line that decided, or the reason where none did."""
        if not decision.line:
            return Deciding("", "", decision.because)
        place = f"{self._tiers.file}:{decision.line}"
        return Deciding(place, line_of(self._tiers.text, decision.line), decision.because)

    def change(self, key: str, decision: Decision, floor: Tier) -> Change:
        """What to write so that an item has another tier.

        Args:
            key: the item's.
            decision: what is decided now.
            floor: the tier below which its plugin lets it not go.
        """
        named = next((rule for rule in self._tiers.current.rules if rule.key == key), None)
        file = self._tiers.file
        where = (
            f"In {file}, line {named.line} becomes one of these:"
            if named
            else f"In {file}, add one of these below items:"
        )
        ways = [
            (tier, hidden)
            for tier in Tier
            for hidden in (False, True)
            if tier >= floor and not (hidden and tier is Tier.OPEN)
        ]
        now, approve = (decision.tier, decision.hidden), self._approve(decision)
        lines = [
            (item_line(key, tier, hidden=hidden, approve=approve), _meaning(tier, hidden))
            for tier, hidden in ways
            if (tier, hidden) != now
        ]
        return Change(where, lines)

    def _approve(self, decision: Decision) -> str:
        """What the line that decided has as ``approve:``, on one line, so that it is not lost."""
        rules = self._tiers.current.rules
        rule = next((rule for rule in rules if rule.line == decision.line), None)
        if rule is None or (rule.approval is None and not rule.waived):
            return ""  # nobody's, or whose the plugin suggests
        if rule.waived:
            return NOBODY
        key = rule.key
        written = self._tiers.tiers.source.texts(("items", key, "approve"))
        text = yaml.safe_dump(written, default_flow_style=True, width=math.inf, sort_keys=False)
        return _WHOLE.sub(r"\1", text.removesuffix("...\n").strip())

    def rule(self, name: RuleName) -> Deciding:
        """Where a rule on people stands, and its lines; the default where none is written."""
        tiers = self._tiers.tiers
        if name not in (tiers.source.data.get("access") or {}):
            return Deciding(
                "", "", f"{self._tiers.file} has no rule for {name}: the default counts"
            )
        line = tiers.source.line(("access", name))
        return Deciding(f"{self._tiers.file}:{line}", block_of(self._tiers.text, line), "")

    def rules(self) -> dict[str, Deciding]:
        """Every rule on people by its name, the highest first."""
        return {name: self.rule(name) for name in reversed(NAMES)}


def line_of(text: str, number: int) -> str:
    """A line of a file, from 1, as it is written; empty where there is none."""
    lines = text.splitlines()
    return lines[number - 1][:MAX_LINE_CHARACTERS] if 0 < number <= len(lines) else ""


def block_of(text: str, number: int) -> str:
    """A line of a file, from 1, with those below it that are its own, moved to the margin."""
    first, *below = text.splitlines()[number - 1 :] or [""]
    own = takewhile(lambda line: not line.strip() or _indent(line) > _indent(first), below)
    lines = [each[:MAX_LINE_CHARACTERS] for each in (first, *own)][:MAX_BLOCK_LINES]
    return dedent("\n".join(lines)).rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" -"))


def _meaning(tier: Tier, hidden: bool) -> str:
    who = {"open": "anyone", "public": "whoever has signed in", "members": "members"}[tier]
    return (
        f"{who}; unknown to others"
        if hidden
        else f"{who}; others are told what it takes"
        if (tier is not Tier.OPEN)
        else who
    )
