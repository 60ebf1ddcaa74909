"""What the tier rules decide for every item of the catalog, and for the rows that items show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from auth import Tier
from gateway.catalog.approval_rule import OWN, ApprovalRule
from gateway.catalog.items import Item, Kind
from gateway.catalog.tier_rule import Decision, ItemKey, RowRules, TierRules, strictest
from gateway.contract import View

_KEY_KIND: Mapping[Kind, Literal["tool", "prompt", "resource"]] = {
    "tool": "tool",
    "prompt": "prompt",
    "family": "prompt",
    "resource": "resource",
    "template": "resource",
    "skill": "resource",
}


class Decisions:
    """What some rules decide; made anew whenever the rules or the items change.

    Args:
        rules: the rules.
        items: every item of the portal.
        above: gives the skills around a nested one.

    Attributes:
        keys: what ``tiers.yaml`` calls each item, by what records call it (``Item.key``).
        approvals: whose yes tools wait for, by what records call them.
    """

    def __init__(
        self, rules: TierRules, items: Iterable[Item], above: Callable[[Item], Iterable[Item]]
    ) -> None:
        everything = list(items)
        self._rules, self._above = rules, above
        self.keys = _keys(everything)
        self._tools = {(item.plugin, item.identity): item for item in _tools(everything)}
        self._rows = RowRules(rules, self._doors(everything))
        self._of: dict[str, Decision] = {}
        self.approvals: dict[str, ApprovalRule] = {}
        # What views show is decided before them.
        for item in sorted(everything, key=lambda item: isinstance(item.declared, View)):
            decided = self._of[item.key] = self._decided(item)
            if decided.approval is not None and item.kind == "tool":
                self.approvals[item.key] = decided.approval

    def __getitem__(self, item: Item) -> Decision:
        """The decision for an item: its own lines, those of its rows and of what it is part of."""
        return self._of[item.key]

    def names_rows(self, plugin: str) -> bool:
        """Whether any line may speak about single rows of a plugin."""
        return self._rules.names_rows(plugin)

    def row(self, plugin: str, row: str, own: Tier) -> Decision:
        """The decision for a plugin's row: its own tier, or the line that asks for a higher one.

        Args:
            plugin: whose row it is.
            row: its kind and name.
            own: the plugin's word, which no line lowers.
        """
        decided = self.line(plugin, row)
        if decided is None or own > decided.tier:
            return Decision(own, True, f"{plugin}, which no line of tiers.yaml lowers")
        return decided

    def line(self, plugin: str, row: str) -> Decision | None:
        """What the lines decide that name a row; None where none does."""
        return self._rows.decide(plugin, row)

    def _decided(self, item: Item) -> Decision:
        several = [self._alone(item)]
        if item.kind == "skill":  # a nested skill is part of those around it
            several += map(self._alone, self._above(item))
        of_rows = [self._rows.decide(row.plugin, row.name) for row in _rows(item)]
        return strictest(*several, *(each for each in of_rows if each is not None))

    def _alone(self, item: Item) -> Decision:
        key = self.keys[item.key]
        if isinstance(item.declared, View):  # a view is for whoever may use what it shows
            tool = self._tools.get((item.plugin, item.declared.tool))
            return self._rules.decide(key, None, Tier.MEMBERS) if tool is None else self[tool]
        asks = OWN if getattr(item.declared, "approve", None) else None
        return self._rules.decide(key, item.declared.tier, item.declared.floor, asks)

    def _doors(self, items: Iterable[Item]) -> dict[ItemKey, list[ItemKey]]:
        """The keys of the items that show a row, by the row's own."""
        doors: dict[ItemKey, list[ItemKey]] = {}
        for item in items:
            for row in _rows(item)[:1]:
                doors.setdefault(row, []).append(self.keys[item.key])
        return doors


def _keys(items: Sequence[Item]) -> dict[str, ItemKey]:
    """The keys of items: what a plugin declares, and not what an alias makes of it.

    A line that names an alias counts as long as no other item is declared under that name: else
    two aliases that are swapped would swap what the lines allow. What another server made is bound
    by that server's name and its own alone.
    """
    declared = {(item.plugin, _KEY_KIND[item.kind], item.identity): item for item in items}
    keys: dict[str, ItemKey] = {}
    for item in items:
        plugin, kind = item.plugin, _KEY_KIND[item.kind]
        listed = item.name if item.name != item.identity else ""
        is_bound = item.origin is not None or (plugin, kind, listed) in declared
        alias = "" if is_bound else listed
        keys[item.key] = ItemKey(plugin, kind, item.identity, alias, listed)
    return keys


def _tools(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.kind == "tool"]


def _rows(item: Item) -> list[ItemKey]:
    return [ItemKey(item.plugin, "row", row) for row in getattr(item.declared, "rows", ())]
