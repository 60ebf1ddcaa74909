"""The tools of a list, each that waits for a person's yes with a sentence that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from auth import Caller
from gateway.catalog.approval_rule import ApprovalRule
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item, Verbatim


class ListedTools:
    """The tools that callers are told of.

    Args:
        catalog: what there is, and for whom.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._made: dict[str, tuple[Item, ApprovalRule, Item]] = {}

    def of(self, caller: Caller, only: str | None = None) -> Sequence[Item]:
        """The tools that a caller may use; arguments as of :meth:`Catalog.listed`."""
        items = self._catalog.listed("tool", caller, only)
        if not (rules := self._catalog.approvals):
            return items
        return [self._told(item, rules[item.key]) if item.key in rules else item for item in items]

    def _told(self, item: Item, rule: ApprovalRule) -> Item:
        """The tool with the sentence; the same object as long as tool and rule are the same."""
        made = self._made.get(item.key)
        if made is None or made[0] is not item or made[1] != rule:
            made = self._made[item.key] = (item, rule, _with_sentence(item, rule))
        return made[2]


def _with_sentence(item: Item, rule: ApprovalRule) -> Item:
    text = f"{item.entry.get('description', '')}\n\n{sentence(rule)}".lstrip()
    kind = Verbatim if isinstance(item.entry, Verbatim) else dict
    return replace(item, entry=kind(item.entry, description=text))


def sentence(rule: ApprovalRule) -> str:
    """What a model is told of a tool that waits."""
    if rule.is_own:
        return (
            "Each call waits for your person's yes: they are asked in their client, or on a page "
            "that the answer names. You cannot say it for them."
        )
    return (
        f"Each call waits for the yes of {rule.who}. The first answer says where. Once it is "
        "given, call again with the very same arguments."
    )
