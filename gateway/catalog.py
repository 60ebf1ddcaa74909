"""Every item the portal offers, handed out only to a caller: the tier gate.

A surface asks ``catalog.tool(name, caller)``; there is no other way to what an item runs. What
decides the tier is :mod:`gateway.access`, which beside this module only the reader of
``tiers.yaml`` imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from auth import Caller, Tier
from gateway.access import Decision, ItemKey, TierRules, may_know, may_use
from gateway.contract import Offer
from gateway.errors import NotAllowed, NotFound
from gateway.items import (
    BadDeclaration,
    Item,
    Kind,
    prompt_item,
    resource_item,
    template_item,
    tool_item,
)
from gateway.logs import get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SetAside:
    """An item that is not served, why, and what to do about it."""

    plugin: str
    item: str
    reason: str

    def __str__(self) -> str:
        return f"{self.plugin}/{self.item}: {self.reason}"


class Catalog:
    """The items of all open plugins under the tier rules in force.

    Args:
        rules: what ``tiers.yaml`` says.
        how_to_rise: the sentence that tells a refused caller how to get a higher tier.
    """

    def __init__(self, rules: TierRules, how_to_rise: str = "") -> None:
        self._rules = rules
        self._how_to_rise = how_to_rise
        self._items: dict[Kind, dict[str, Item]] = {
            "tool": {},
            "prompt": {},
            "resource": {},
            "template": {},
        }
        self._decisions: dict[str, Decision] = {}
        self.set_aside: list[SetAside] = []
        self.instructions: dict[str, str] = {}
        self.version = 0

    # What plugins bring.

    def add(self, plugin: str, offer: Offer, alias: Mapping[str, str] | None = None) -> None:
        """Take in a plugin's offer; what cannot be served is set aside, the rest is served.

        Args:
            plugin: the plugin's name.
            offer: its declarations.
            alias: new names for its items, from ``portal.yaml``, by the declared name.
        """
        names = alias or {}
        for tool in offer.tools:
            name = names.get(tool.name, tool.name)
            self._take(plugin, tool.name, partial(tool_item, plugin, tool, name))
        for prompt in offer.prompts:
            name = names.get(prompt.name, prompt.name)
            self._take(plugin, prompt.name, partial(prompt_item, plugin, prompt, name))
        for resource in offer.resources:
            self._take(plugin, resource.uri, partial(resource_item, plugin, resource))
        for template in offer.templates:
            self._take(plugin, template.uri_template, partial(template_item, plugin, template))
        self.instructions[plugin] = offer.instructions
        self.version += 1

    def _take(self, plugin: str, name: str, make: Callable[[], Item]) -> None:
        try:
            item = make()
        except BadDeclaration as error:
            self._set_aside(plugin, name, f"{error}. Its author must mend it.")
            return
        except Exception as error:
            log.exception("item_set_aside", plugin=plugin, item=name)
            reason = f"{type(error).__name__}: {error}. Its author must mend it."
            self._set_aside(plugin, name, reason)
            return
        items = self._items[item.kind]
        if holder := items.get(item.name):
            self._set_aside(plugin, name, _clash(plugin, name, holder))
            return
        items[item.name] = item
        self._decide(item)

    def _set_aside(self, plugin: str, name: str, reason: str) -> None:
        log.warning("item_set_aside", plugin=plugin, item=name, reason=reason)
        self.set_aside.append(SetAside(plugin, name, reason))

    # What the rules say.

    def apply(self, rules: TierRules) -> None:
        """Put new tier rules in force, for every item at once."""
        self._rules = rules
        self._decisions = {}
        for item in self.items():
            self._decide(item)
        self.version += 1

    def _decide(self, item: Item) -> None:
        self._decisions[item.key] = self._rules.decide(
            _item_key(item), item.declared.tier, item.declared.floor
        )

    def explain(self, item: Item) -> Decision:
        """The tier an item asks for and what decided it: the one way to ask why."""
        return self._decisions[item.key]

    # What callers get.

    def tool(self, name: str, caller: Caller, only: str | None = None) -> Item:
        """The tool of that name, if this caller may use it.

        Args:
            name: the tool's name in the portal.
            caller: who asks.
            only: a plugin's name, where the endpoint serves one plugin alone.

        Raises:
            NotFound: there is no such tool, or it is hidden from this caller.
            NotAllowed: the caller's tier is below the tool's.
        """
        return self._gate("tool", name, caller, only)

    def prompt(self, name: str, caller: Caller, only: str | None = None) -> Item:
        """The prompt of that name; arguments and errors as in :meth:`tool`."""
        return self._gate("prompt", name, caller, only)

    def resource(
        self, uri: str, caller: Caller, only: str | None = None
    ) -> tuple[Item, dict[str, str]]:
        """The resource or template behind a URI, and the template's variables in it.

        Arguments and errors as in :meth:`tool`.
        """
        if uri in self._items["resource"]:
            return self._gate("resource", uri, caller, only), {}
        for template in self._items["template"].values():
            variables = template.variables(uri)
            if variables is not None:
                # One that is hidden must leave no trace: the next may match as well.
                with suppress(NotFound):
                    return self._gate("template", template.name, caller, only), variables
        raise _unknown("resource", uri)

    def template(self, name: str, caller: Caller, only: str | None = None) -> Item:
        """The resource template as it is written; arguments and errors as in :meth:`tool`."""
        return self._gate("template", name, caller, only)

    def listed(self, kind: Kind, caller: Caller, only: str | None = None) -> list[Item]:
        """What this caller may use of a kind, in the order in which plugins offered it."""
        return [
            item
            for item in self._items[kind].values()
            if (only is None or item.plugin == only) and may_use(caller, self._decisions[item.key])
        ]

    def beyond(self, caller: Caller, only: str | None = None) -> dict[Tier, list[Item]]:
        """The tools that a higher tier would add, by tier; hidden ones are not told."""
        more: dict[Tier, list[Item]] = {}
        for item in self._items["tool"].values():
            decision = self._decisions[item.key]
            beyond = not may_use(caller, decision) and may_know(caller, decision)
            if beyond and only in (None, item.plugin):
                more.setdefault(decision.tier, []).append(item)
        return dict(sorted(more.items(), key=lambda pair: pair[0].level))

    def items(self) -> Iterable[Item]:
        """Every item, for the admin's eyes: not a way to run one."""
        for items in self._items.values():
            yield from items.values()

    def keys(self) -> list[ItemKey]:
        """The key of every item, as ``tiers.yaml`` writes it."""
        return [_item_key(item) for item in self.items()]

    def knows(self, name: str) -> bool:
        """Whether any item has this name: a bound on what metrics are labelled with."""
        return any(name in items for items in self._items.values())

    def plugins(self) -> set[str]:
        """The plugins that have an offer here."""
        return set(self.instructions)

    def _gate(self, kind: Kind, name: str, caller: Caller, only: str | None) -> Item:
        item = self._items[kind].get(name)
        if item is None or only not in (None, item.plugin):
            raise _unknown(kind, name)
        decision = self._decisions[item.key]
        if may_use(caller, decision):
            return item
        if not may_know(caller, decision):
            raise _unknown(kind, name)
        raise NotAllowed(item.key, decision.tier, caller.tier, self._how_to_rise)


def _unknown(kind: Kind, name: str) -> NotFound:
    word = "resource" if kind == "template" else kind
    return NotFound(f"Unknown {word}: {name}", {"uri" if word == "resource" else "name": name})


def _item_key(item: Item) -> ItemKey:
    return ItemKey(item.plugin, "resource" if item.kind == "template" else item.kind, item.name)


def _clash(plugin: str, name: str, holder: Item) -> str:
    return (
        f"{holder.plugin} already offers {name!r}. In portal.yaml, under plugins: {plugin}:, "
        f"write alias: {{{name}: ANOTHER_NAME}}"
    )
