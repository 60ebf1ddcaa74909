"""Every item the portal offers, handed out only to a caller: the tier gate.

A surface asks ``catalog.tool(name, caller)``; there is no other way to what an item runs. What
decides the tier is :mod:`gateway.catalog.tier_rule`, which beside this module only the reader of
``tiers.yaml`` imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from auth import Caller, Tier
from gateway.catalog.approval_rule import ApprovalRule
from gateway.catalog.decisions import Decisions
from gateway.catalog.item_factory import Made, made
from gateway.catalog.items import OWN_TOOLS, Item, Kind
from gateway.catalog.refusals import BeyondToken, NotAllowed, unknown
from gateway.catalog.rejected_declarations import Rejected, clash
from gateway.catalog.skills import SkillTree
from gateway.catalog.tier_rule import (
    Decision,
    Explanation,
    ItemKey,
    TierRules,
    may_know,
    may_use,
    within_limits,
)
from gateway.catalog.views import Views, is_view
from gateway.contract import Offer, SkillFile
from gateway.contract.rows import RowKind
from gateway.errors import NotFound
from gateway.observability.logs import get_logger

__all__ = ["Catalog", "Decision", "Explanation", "HowToRise", "Rejected"]

log = get_logger(__name__)


HowToRise = Callable[[Caller, Tier], str]
"""The sentence that tells a caller how to get the tier they need."""


def _no_way(caller: Caller, tier: Tier) -> str:
    return ""


class Catalog:
    """The items of all open plugins under the tier rules in force.

    Args:
        rules: what ``tiers.yaml`` says.
        how_to_rise: tells a refused caller how to get a higher tier.
    """

    def __init__(self, rules: TierRules, how_to_rise: HowToRise = _no_way) -> None:
        self._rules = rules
        self.how_to_rise = how_to_rise
        kinds: tuple[Kind, ...] = ("tool", "prompt", "family", "resource", "template", "skill")
        self._items: dict[Kind, dict[str, Item]] = {kind: {} for kind in kinds}
        self._made: dict[str, Sequence[Made]] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._skills = SkillTree()
        self.views = Views()
        self._decisions = self._decide(rules)
        self.approvals: Mapping[str, ApprovalRule] = {}
        self.row_kinds: dict[str, dict[str, RowKind]] = {}
        self.set_aside: list[Rejected] = []
        self.instructions: dict[str, str] = {}
        self.said: dict[str, Mapping[str, str]] = {}
        self.version = 0

    # What plugins bring.

    def expect(self, plugins: Iterable[str]) -> None:
        """Have plugins count in this order, in lists and where two offer one name."""
        self._made = dict.fromkeys(plugins, ()) | self._made

    def add(self, plugin: str, offer: Offer, alias: Mapping[str, str] | None = None) -> None:
        """Take in a plugin's offer, in place of what it offered before.

        What cannot be served is set aside, the rest is served.

        Args:
            plugin: the plugin's name.
            offer: its declarations.
            alias: new names for its items, from ``portal.yaml``, by the declared name.
        """
        names = alias or {}
        before = self._made.get(plugin, ()) if names == self._names.get(plugin) else ()
        self._made[plugin], self._names[plugin] = made(plugin, offer, names, before), names
        self.row_kinds[plugin] = {kind.name: kind for kind in offer.rows}
        self.said[plugin] = offer.said
        texts = {**self.instructions, plugin: offer.instructions}
        self.instructions = {name: texts[name] for name in self._made if name in texts}
        self._resolve()

    def _resolve(self) -> None:
        """Serve what was made; of two items with one name that of the plugin that comes first."""
        known, self.set_aside = {*self.set_aside}, []
        self._items = {kind: {} for kind in self._items}
        for plugin, declared, item in self._in_turn():
            if isinstance(item, Rejected):
                self.set_aside.append(item)
            elif holder := self._holder(item):
                reason = clash(item, declared, holder)
                told = "another one has its name"
                self.set_aside.append(Rejected(plugin, declared, reason, item.declared, told))
            else:
                self._items[item.kind][item.name] = item
        for each in self.set_aside:
            if each not in known:
                log.warning(
                    "item_set_aside", plugin=each.plugin, item=each.item, reason=each.reason
                )
        self._skills = SkillTree(self._items["skill"].values())
        self.views = Views(self._items["resource"].values())
        self.apply(self._rules)

    def _in_turn(self) -> list[tuple[str, str, Item | Rejected]]:
        """What was made, plugin after plugin; what other servers made cannot take a name away."""
        every = [(plugin, *each) for plugin, several in self._made.items() for each in several]
        return sorted(every, key=lambda each: isinstance(each[2], Item) and bool(each[2].origin))

    def _holder(self, item: Item) -> Item | None:
        # A skill is the resource of its SKILL.md: both have one key in tiers.yaml.
        kinds: tuple[Kind, ...] = (item.kind,)
        if item.kind in ("resource", "skill"):
            kinds = ("resource", "skill")
        held = [self._items[kind].get(item.name) for kind in kinds]
        if item.kind == "family":
            others = self._items["family"].values()
            held += [each for each in others if each.covers(item) or item.covers(each)]
        return next((each for each in held if each), None)

    # What the rules say.

    def apply(self, rules: TierRules) -> None:
        """Put new tier rules in force, for every item at once."""
        self._rules = rules
        self._decisions = self._decide(rules)
        self.approvals = self._decisions.approvals
        self.version += 1

    def _decide(self, rules: TierRules) -> Decisions:
        return Decisions(rules, self.items(), self._skills.above)

    def names_rows(self, plugin: str) -> bool:
        """Whether any line of ``tiers.yaml`` may speak about single rows of a plugin."""
        return self._decisions.names_rows(plugin)

    def row_tier(self, plugin: str, row: str, own: Tier) -> Tier:
        """The tier of a plugin's row: its own, or the higher one of the line that names it."""
        return self._decisions.row(plugin, row, own).tier

    def explain_row(self, key: str, caller: Caller) -> Explanation | None:
        """Why ``tiers.yaml`` lets a caller see a row, or not; the plugin's own tier is its own.

        Args:
            key: the row's, such as ``knowledge/document:pattern/coordination``.
            caller: who asks.

        Returns:
            None where the key is no row's.

        Raises:
            NotFound: no line names the row, and what its plugin says of it is not known here.
        """
        plugin, _, row = key.partition("/")
        if row.partition(":")[0] not in self.row_kinds.get(plugin, {}):
            return None
        if (decision := self._decisions.line(plugin, row)) is None:
            raise NotFound(f"No line of tiers.yaml names {key}: what {plugin} says of it decides.")
        allowed = caller.tier.allows(decision.tier)
        word = "is enough for" if allowed else "is below"
        because = (
            f"the caller's tier, {caller.tier}, {word} {decision.tier}; "
            f"a higher tier that {plugin} itself asks for counts too"
        )
        return Explanation(decision, allowed, allowed or not decision.hidden, because)

    def explain(self, item: Item, caller: Caller) -> Explanation:
        """Why a caller may use an item, or may not: the one way to ask."""
        key, decision = self._decisions.keys[item.key], self._decisions[item]
        allowed = may_use(caller, key, decision)
        if not within_limits(caller, key):
            because = f"the credential is for {', '.join(sorted(caller.tools or ()))} only"
        else:
            word = "is enough for" if allowed else "is below"
            because = f"the caller's tier, {caller.tier}, {word} {decision.tier}"
        return Explanation(decision, allowed, may_know(caller, key, decision), because)

    def may_know(self, key: ItemKey, tier: Tier | None, floor: Tier, caller: Caller) -> bool:
        """Whether a caller may be told of what is not served: the rules are those of items.

        Args:
            key: what ``tiers.yaml`` would call it.
            tier: the tier that its plugin suggests.
            floor: the tier below which it makes no sense.
            caller: who asks.
        """
        return may_know(caller, key, self._rules.decide(key, tier, floor))

    def requires(self, item: Item) -> Tier:
        """The tier that an item asks for."""
        return self._decisions[item].tier

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
        """The prompt of that name, or else the family that it would be of, which is to find it.

        Arguments and errors as in :meth:`tool`.
        """
        if name in self._items["prompt"]:
            with suppress(NotFound):  # it is hidden, or another plugin's than the endpoint's
                return self._gate("prompt", name, caller, only)
        for family in self._items["family"].values():
            if family.may_hold(name) and only in (None, family.plugin):
                return self._admit(family, family, ("prompt", name), caller)
        raise unknown("prompt", name)

    def resource(
        self, uri: str, caller: Caller, only: str | None = None
    ) -> tuple[Item, dict[str, str]]:
        """The resource or template behind a URI, and the template's variables in it.

        Arguments and errors as in :meth:`tool`.
        """
        if found := self._skills.file(uri, only):
            child, path = found
            return self._admit(child.owner, child.gate, ("resource", uri), caller), {"path": path}
        if uri in self._items["resource"]:
            return self._gate("resource", uri, caller, only), {}
        for template in self._items["template"].values():
            variables = template.variables(uri)
            if variables is not None:
                # One that is hidden must leave no trace: the next may match as well.
                with suppress(NotFound):
                    return self._gate("template", template.name, caller, only), variables
        raise unknown("resource", uri)

    def template(self, name: str, caller: Caller, only: str | None = None) -> Item:
        """The resource template as it is written; arguments and errors as in :meth:`tool`."""
        return self._gate("template", name, caller, only)

    def skill(self, uri: str, caller: Caller, only: str | None = None) -> Item:
        """The skill whose SKILL.md a URI names; arguments and errors as in :meth:`tool`."""
        return self._gate("skill", uri, caller, only)

    def files(self, skill: Item, caller: Caller) -> list[SkillFile]:
        """A skill's manifest, as far as this caller may read it: a nested skill may need more."""
        return [
            file
            for file, gate in self._skills.manifest(skill)
            if gate is skill or self._is_for(caller, gate)
        ]

    def directory(
        self, uri: str, caller: Caller, only: str | None = None
    ) -> list[Mapping[str, Any]]:
        """The resource entries of a directory's children; arguments and errors as in :meth:`tool`.

        A directory is there for a caller if any file below it is.
        """
        children = self._skills.children(uri, only)
        entries = {
            child.entry["uri"]: child.entry
            for child in reversed(children)  # so that the innermost skill's word counts
            if self._is_for(caller, child.gate)
        }
        if children and not entries:
            lowest = min(children, key=lambda child: self._decisions[child.gate].tier.level)
            self._admit(lowest.owner, lowest.gate, ("directory", uri), caller)
        if not entries:
            raise unknown("directory", uri)
        return list(reversed(entries.values()))

    def listed(self, kind: Kind, caller: Caller, only: str | None = None) -> list[Item]:
        """What this caller may use of a kind, in the order in which plugins offered it."""
        of = self._items[kind].values()
        return [each for each in of if only in (None, each.plugin) and self._is_for(caller, each)]

    def app_of(self, tool: str) -> Item | None:
        """The App of what the portal calls a tool: its view's, or that of calls that wait."""
        return self.views.app(self._items["tool"].get(tool), self.approvals)

    def called(self, plugin: str, tool: str) -> str | None:
        """What the portal calls a plugin's tool of that declared name; None where it has none."""
        for item in self._items["tool"].values():
            if item.plugin == plugin and getattr(item.declared, "name", None) == tool:
                return item.name
        return None

    def keyed(self, key: str) -> str | None:
        """What the portal calls the tool that ``tiers.yaml`` calls by that key."""
        tools = self._items["tool"].values()
        return next((each.name for each in tools if key == f"{each.plugin}/{each.identity}"), None)

    def allows(self, plugin: str, tool: str, caller: Caller) -> bool:
        """Whether a caller may use a plugin's tool, which is named as the plugin declared it."""
        name = self.called(plugin, tool)
        return name is not None and self._is_for(caller, self._items["tool"][name])

    def beyond(self, caller: Caller, only: str | None = None) -> dict[Tier, list[Item]]:
        """The tools that a higher tier would add, by tier; hidden ones are not told."""
        more: dict[Tier, list[Item]] = {}
        for item in self._items["tool"].values():
            decision = self._decisions[item]
            if (
                not (caller.tier.allows(decision.tier) or decision.hidden)
                and only in (None, item.plugin)
                and within_limits(caller, self._decisions.keys[item.key])
            ):
                more.setdefault(decision.tier, []).append(item)
        return dict(sorted(more.items(), key=lambda pair: pair[0].level))

    def items(self) -> Iterable[Item]:
        """Every item, for the admin's eyes: not a way to run one."""
        for items in self._items.values():
            yield from items.values()

    def named(self, name: str) -> list[Item]:
        """The items of a name or key, whatever their kind: for the admin's eyes, as items().

        A prompt of a family is decided as its family is, which stands for it.
        """
        return [
            item
            for item in self.items()
            if name in (item.name, item.key, f"{self._decisions.keys[item.key]}")
            or item.may_hold(name)
            or (item.kind == "family" and name.startswith(item.key[:-1]))
        ]

    def ruled(self, rules: TierRules | None = None) -> list[tuple[Item, str, Decision]]:
        """Every item that lines can name, its key, and what these rules, or those in force, say."""
        decided, keys = self._decide(rules) if rules else self._decisions, self._decisions.keys
        return [(item, f"{keys[item.key]}", decided[item]) for item in self._ruled()]

    def decisions(self, rules: TierRules | None = None) -> list[tuple[str, Decision]]:
        """Every item's key, and what is decided for it, as :meth:`ruled`."""
        return [(key, decision) for _, key, decision in self.ruled(rules)]

    def keys(self) -> list[ItemKey]:
        """The key of every item, as ``tiers.yaml`` writes it."""
        return [self._decisions.keys[item.key] for item in self._ruled()]

    def _ruled(self) -> list[Item]:
        """What lines of ``tiers.yaml`` can name: a view is what its tool is."""
        return [item for item in self.items() if not is_view(item)]

    def holds(self, kind: Kind, name: str) -> bool:
        """Whether a plugin has declared an item of that kind under that very name."""
        return name in self._items[kind]

    def knows(self, name: str) -> bool:
        """Whether any item has this name: a bound on what metrics are labelled with."""
        return name in OWN_TOOLS or any(name in items for items in self._items.values())

    def plugins(self) -> set[str]:
        """The plugins that have an offer here."""
        return set(self.instructions)

    def _gate(self, kind: Kind, name: str, caller: Caller, only: str | None) -> Item:
        item = self._items[kind].get(name)
        if item is None or only not in (None, item.plugin):
            raise unknown(kind, name)
        return self._admit(item, item, (kind, name), caller)

    def _admit(self, item: Item, gate: Item, asked: tuple[str, str], caller: Caller) -> Item:
        """Let a caller have an item, under what was decided for another that holds it."""
        key, decision = self._decisions.keys[item.key], self._decisions[gate]
        if may_use(caller, key, decision):
            return item
        if not may_know(caller, key, decision):
            raise unknown(*asked)
        if caller.tools is not None and caller.tier.allows(decision.tier):
            raise BeyondToken(item.key, decision.tier, caller.tier, caller.tools)
        how = self.how_to_rise(caller, decision.tier)
        raise NotAllowed(item.key, decision.tier, caller.tier, how)

    def _is_for(self, caller: Caller, item: Item) -> bool:
        return may_use(caller, self._decisions.keys[item.key], self._decisions[item])
