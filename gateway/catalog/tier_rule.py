"""The tier rule: which tier an item asks for, and what decided it.

``tiers.yaml`` decides, the most specific key first: the item's exact name, then the longer of
two patterns, then the plugin. Where it names neither the item nor the plugin, the plugin's own
suggestion counts; what nobody names gets the file's default, members. A floor that the plugin
declares raises whatever was decided.

A row is what several doors show: a document, a skill, a repository. A line that names one, by the
row's own key or by the key of a door that shows it alone, counts at every door, beside what is
decided for the door itself (:class:`RowRules`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

from auth import Caller, Tier
from gateway.catalog.approval_rule import ApprovalRule

_PREFIX = {"tool": "", "prompt": "prompt:", "resource": "resource:", "row": ""}
# What a key for prompts or resources begins with, before it says which of them.
_KIND = re.compile(r"(?:prompt|resource):(?:[a-z][a-z0-9+.-]*://)?", re.IGNORECASE)
_OF_ROWS = re.compile(r"(?!prompt:|resource:)([a-z][a-z_]*):")
_MAX_CACHED_DECISIONS = 65536


@dataclass(frozen=True, slots=True, order=True)
class ItemKey:
    """What ``tiers.yaml`` calls an item; a resource template counts as a resource.

    Attributes:
        plugin: the plugin's name.
        kind: what sort of item it is.
        name: the tool's or prompt's name as its plugin declares it, the resource's URI, or its URI
            template; of a row its kind and its name, such as ``document:pattern/coordination``.
        alias: the other name by which lines may speak about it: the portal's, where no other item
            of the plugin is declared under that one.
        listed: the portal's name, where it is another than the declared one.
    """

    plugin: str
    kind: Literal["tool", "prompt", "resource", "row"]
    name: str
    alias: str = ""
    listed: str = ""

    def __str__(self) -> str:
        return self._called(self.name)

    @property
    def called(self) -> tuple[str, ...]:
        """The keys by which lines may speak about it; its own one first."""
        return tuple(self._called(name) for name in (self.name, self.alias) if name)

    def _called(self, name: str) -> str:
        return f"{self.plugin}/{_PREFIX[self.kind]}{name}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The tier that an item asks for.

    Attributes:
        tier: the tier a caller needs.
        hidden: whether the item is unknown to callers below it, rather than refused.
        because: what decided, such as ``tiers.yaml:7 'knowledge/get_*'``.
        line: the line of ``tiers.yaml`` that decided, from 1; 0 where none did.
        approval: whose yes it waits for before it runs, or None.
        waived: whether the line says that it waits for nobody's, whatever the plugin suggests.
    """

    tier: Tier
    hidden: bool
    because: str
    line: int = field(default=0, compare=False)
    approval: ApprovalRule | None = None
    waived: bool = field(default=False, compare=False)

    @property
    def waits_for(self) -> str | None:
        """Whose yes it waits for, as people say it; None where it waits for nobody's."""
        return None if self.approval is None else str(self.approval)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a caller may use an item, or may not.

    Attributes:
        decision: the tier that the item asks for, and what decided it.
        allowed: whether the caller may use it.
        known: whether the caller is told that it exists.
        because: what it came down to, in one sentence.
    """

    decision: Decision
    allowed: bool
    known: bool
    because: str


@dataclass(frozen=True)
class Rule:
    """One line of ``tiers.yaml``.

    Attributes:
        key: ``plugin`` or ``plugin/item``, where ``*`` in the item stands for any text.
        tier: the tier it gives.
        hidden: whether the items are unknown to callers below the tier.
        file: the file's name for messages.
        line: the line, from 1.
        approval: whose yes the tools that it decides for wait for, or None.
        waived: whether it says that they wait for nobody's.
    """

    key: str
    tier: Tier
    hidden: bool = False
    file: str = "tiers.yaml"
    line: int = 0
    approval: ApprovalRule | None = field(default=None, hash=False)
    waived: bool = False

    @property
    def plugin(self) -> str:
        """The plugin that the rule is about."""
        return self.key.partition("/")[0]

    def matches(self, item: ItemKey) -> bool:
        """Whether the rule speaks about an item; of a row only where it names rows of its kind."""
        if item.kind == "row" and self.row_kind is None:
            return False
        return any(map(self._expression.fullmatch, item.called))

    @cached_property
    def row_kind(self) -> str | None:
        """The kind of rows that the rule names, such as ``document``; None where it names none."""
        match = _OF_ROWS.match(self.key.partition("/")[2])
        return match[1] if match else None

    @cached_property
    def is_particular(self) -> bool:
        """Whether it names rows, or single prompts or resources rather than all of them."""
        item = self.key.partition("/")[2]
        begun = _KIND.match(item)
        return self.row_kind is not None or bool(begun and item[begun.end() :].strip("*"))

    @cached_property
    def rank(self) -> tuple[int, int, int, bool, bool]:
        """How much the rule counts: exact name, longer pattern, shorter pattern, plugin.

        Of two patterns as long as each other the stricter one wins.
        """
        kind = 0 if "/" not in self.key else 1 if "*" in self.key else 2
        length, asks = len(self.key.replace("*", "")), self.approval is not None
        return kind, length, self.tier.level, self.hidden, asks

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        key = self.key if "/" in self.key else f"{self.key}/*"
        return re.compile(".*".join(map(re.escape, re.split(r"\*+", key))), re.DOTALL)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} '{self.key}'"


@dataclass(frozen=True)
class TierRules:
    """What ``tiers.yaml`` says. Without rules, what a plugin does not suggest is members.

    Attributes:
        rules: the lines of the file, in any order.
        default: the tier of what neither the file nor the plugin names.
        file: the file's name for messages.
    """

    rules: tuple[Rule, ...] = ()
    default: Tier = Tier.MEMBERS
    file: str = "tiers.yaml"
    _by_plugin: dict[str, tuple[Rule, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_plugin: dict[str, tuple[Rule, ...]] = {}
        for rule in sorted(self.rules, key=lambda rule: rule.rank, reverse=True):
            by_plugin[rule.plugin] = (*by_plugin.get(rule.plugin, ()), rule)
        object.__setattr__(self, "_by_plugin", by_plugin)

    def decide(
        self,
        item: ItemKey,
        suggestion: Tier | None,
        floor: Tier,
        asks: ApprovalRule | None = None,
    ) -> Decision:
        """Decide the tier of an item.

        Args:
            item: the item.
            suggestion: what its plugin suggests; counts where no rule matches the item.
            floor: what its plugin says must never be undercut.
            asks: whose yes its plugin suggests that a tool waits for; counts unless the line that
                decides names somebody, or nobody.
        """
        decision = self._first_match(item) or self._unmatched(item, suggestion)
        if decision.approval is None and not decision.waived:
            decision = replace(decision, approval=asks)
        if decision.approval is not None:
            decision = _bound_to_people(decision) if item.kind == "tool" else _without(decision)
        if decision.tier >= floor:
            return decision
        because = f"{decision.because}, raised to {floor} because {item.plugin} needs it"
        return replace(decision, tier=floor, because=because)

    def names_rows(self, plugin: str) -> bool:
        """Whether any line may speak about single rows of a plugin."""
        return any(rule.is_particular for rule in self._by_plugin.get(plugin, ()))

    def particular(self, item: ItemKey) -> Decision | None:
        """What the most specific line decides of those that name this item in particular."""
        return self._first_match(item, particular=True)

    def _first_match(self, item: ItemKey, *, particular: bool = False) -> Decision | None:
        for rule in self._by_plugin.get(item.plugin, ()):
            if (rule.is_particular or not particular) and rule.matches(item):
                said = rule.approval, rule.waived
                return Decision(rule.tier, rule.hidden, str(rule), rule.line, *said)
        return None

    def _unmatched(self, item: ItemKey, suggestion: Tier | None) -> Decision:
        if suggestion is not None:
            because = f"suggested by {item.plugin}; {self.file} names neither the item nor it"
            return Decision(suggestion, False, because)
        return Decision(self.default, False, f"the default of {self.file}")


class RowRules:
    """What ``tiers.yaml`` says of single rows: the strictest of the lines that name one.

    Args:
        rules: the lines.
        doors: the prompts and resources that show one row alone, by the row's key.
    """

    def __init__(self, rules: TierRules, doors: Mapping[ItemKey, Iterable[ItemKey]]) -> None:
        self._rules = rules
        self._doors = doors
        self.decide = lru_cache(_MAX_CACHED_DECISIONS)(self._decide)

    def _decide(self, plugin: str, row: str) -> Decision | None:
        """What is decided for a row; None where no line names it.

        Args:
            plugin: whose it is.
            row: its kind and name, such as ``document:pattern/coordination``.
        """
        if not self._rules.names_rows(plugin):
            return None
        key = ItemKey(plugin, "row", row)
        keys = (key, *self._doors.get(key, ()))
        decisions = [decided for each in keys if (decided := self._rules.particular(each))]
        return strictest(*decisions) if decisions else None


def _bound_to_people(decision: Decision) -> Decision:
    """A yes is given to somebody: whoever has not signed in cannot ask for one."""
    if decision.tier >= Tier.PUBLIC:
        return decision
    because = f"{decision.because}, raised to {Tier.PUBLIC} because a yes is given to a person"
    return replace(decision, tier=Tier.PUBLIC, because=because)


def _without(decision: Decision) -> Decision:
    """What is only read waits for nobody."""
    return replace(decision, approval=None)


def strictest(*several: Decision) -> Decision:
    """The highest tier of some decisions, hidden where one of them hides."""
    if len(several) == 1:
        return several[0]
    highest = max(several, key=lambda each: each.tier.level)
    return replace(highest, hidden=any(each.hidden for each in several))


def may_use(caller: Caller, item: ItemKey, decision: Decision) -> bool:
    """Whether a caller may use an item for which this was decided."""
    return caller.tier.allows(decision.tier) and within_limits(caller, item)


def may_know(caller: Caller, item: ItemKey, decision: Decision) -> bool:
    """Whether a caller may be told that the item exists."""
    return may_use(caller, item, decision) or not decision.hidden


def within_limits(caller: Caller, item: ItemKey) -> bool:
    """Whether the caller's credential may be used for the item; one for named tools is for these.

    The tools are named as the portal lists them.
    """
    if caller.tools is None:
        return True
    return item.kind == "tool" and (item.listed or item.name) in caller.tools


def named_items(rules: TierRules, items: Iterable[ItemKey]) -> dict[Rule, list[ItemKey]]:
    """The items that each rule speaks about, whether or not it is the one that decides."""
    known = sorted(items)
    return {rule: [item for item in known if rule.matches(item)] for rule in rules.rules}
