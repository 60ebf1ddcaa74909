"""``tiers.yaml``: read, checked against what the portal offers, and read again on a change.

A change that has problems is told and set aside: the last good rules stay in force, so that a
slip of the pen neither opens nor closes anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from auth import Tier
from auth.rules import AccessRules
from gateway.catalog.approval_rule import NOBODY, ApprovalRule
from gateway.catalog.tier_rule import ItemKey, Rule, TierRules, named_items
from gateway.config.followed_file import FollowedFile
from gateway.config.yaml_source import YamlSource, parse_yaml, problems_of, without_empty
from gateway.contract.rows import RowKind
from gateway.contract.suggestions import nearest
from gateway.errors import ConfigError, Problem

_READ_ONLY = re.compile(r"[^/]+/[a-z][a-z_]*:")
_WHOLE_KINDS = ("/prompt:*", "/resource:*")
_KEY = r"[A-Za-z0-9_-]+(/([a-z][a-z_]*:.+|[A-Za-z0-9_*-]+(/[A-Za-z0-9_.*-]+)?))?"


def _said(value: Any) -> Any:
    if value is None:
        raise ValueError("is empty; write {by: caller}, or leave it out")
    if isinstance(value, str) and value != NOBODY:
        raise ValueError("must be a mapping such as {by: caller}, or nobody")
    return value


class ItemRule(BaseModel):
    """The long form of an entry: ``{tier: members, hidden: true}``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tier: Tier = Field(description="The tier a caller needs: open, public or members.")
    hidden: bool = Field(
        False, description="Whether callers below the tier are not told that the item exists."
    )
    approve: Annotated[ApprovalRule | Literal["nobody"] | None, BeforeValidator(_said)] = Field(
        None,
        description="Whose yes tools wait for before they run; without it, whose their plugin "
        "suggests, which is mostly nobody's. nobody: nobody's, whatever it suggests.",
    )

    @property
    def rule(self) -> ApprovalRule | None:
        """Whose yes it asks for, or None."""
        return self.approve if isinstance(self.approve, ApprovalRule) else None


def _long_form(value: Any) -> Any:
    return value if isinstance(value, dict | ItemRule) else {"tier": value}


def _key(value: str) -> str:
    if not re.fullmatch(_KEY, value):
        raise ValueError(
            "is no key; write plugin, plugin/tool, plugin/server/tool, plugin/prompt:NAME, "
            "plugin/resource:URI, or what the plugin calls its rows, such as "
            "knowledge/document:TYPE/ID, with * for any text after the slash"
        )
    return value


Entry = Annotated[ItemRule, BeforeValidator(_long_form, json_schema_input_type=Tier | ItemRule)]
Key = Annotated[str, AfterValidator(_key)]


class TiersConfig(BaseModel):
    """``tiers.yaml``: who may use what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    access: AccessRules = Field(
        default_factory=lambda: AccessRules(),
        description="Who has which tier: a rule for public, one for members, one for admins.",
    )
    default: Tier = Field(
        Tier.MEMBERS, description="The tier of what neither this file nor its plugin names."
    )
    items: dict[Key, Entry] = Field(
        default_factory=dict,
        description="Tiers by plugin, plugin/tool, plugin/prompt:NAME, plugin/resource:URI, or "
        "one row such as knowledge/document:TYPE/ID; * after the slash stands for any text, and "
        "the most specific key wins.",
        json_schema_extra={"propertyNames": {"pattern": f"^{_KEY}$"}},
    )


@dataclass(frozen=True, slots=True)
class Tiers:
    """The content of a ``tiers.yaml``.

    Attributes:
        items: which tier each item asks for.
        access: who has which tier.
        source: the file as written, for line numbers.
    """

    items: TierRules
    access: AccessRules
    source: YamlSource

    @property
    def approvals(self) -> Mapping[str, ApprovalRule]:
        """The lines that ask for somebody's yes, by their keys."""
        return {each.key: each.approval for each in self.items.rules if each.approval is not None}


def parse_tiers(raw: bytes, file: str) -> Tiers:
    """Read the bytes of a ``tiers.yaml``; ``file`` is its name for messages.

    Raises:
        ConfigError: with every problem and its line.
    """
    source = parse_yaml(raw, file)
    source = replace(source, data=_with_texts(source))
    try:
        config = TiersConfig.model_validate(without_empty(source.data, TiersConfig))
    except ValidationError as error:
        raise ConfigError(problems_of(error, source, TiersConfig)) from None
    if misplaced := list(_misplaced(config, source)):
        raise ConfigError(misplaced)
    rules = tuple(
        Rule(
            key,
            entry.tier,
            entry.hidden,
            file,
            source.line(("items", key)),
            entry.rule,
            waived=entry.approve == NOBODY,
        )
        for key, entry in config.items.items()
    )
    return Tiers(TierRules(rules, config.default, file), config.access, source)


def _with_texts(source: YamlSource) -> dict[str, Any]:
    """The data, with rules on people as text: a hat is the one that was written, and an address."""
    data = dict(source.data)
    if "access" in data:
        data["access"] = source.texts(("access",))
    if isinstance(items := data.get("items"), dict):
        data["items"] = {key: _entry(source, key, entry) for key, entry in items.items()}
    return data


def _entry(source: YamlSource, key: str, entry: Any) -> Any:
    if not isinstance(entry, dict) or not isinstance(entry.get("approve"), dict):
        return entry
    written = source.texts(("items", key, "approve"))
    # None where an anchor brought it: then numbers stay numbers, and are refused as such.
    return entry if written is None else {**entry, "approve": written}


def _misplaced(config: TiersConfig, source: YamlSource) -> Iterator[Problem]:
    """Lines that ask for somebody's yes before something that is only read."""
    for key, entry in config.items.items():
        if entry.rule is not None and _READ_ONLY.match(key):
            reason = "waits for nobody: only tools run; prompts, resources and rows are read"
            yield source.problem(("items", key, "approve"), reason)


def parse_rules(raw: bytes, file: str) -> TierRules:
    """The rules on items of a ``tiers.yaml``, read as :func:`parse_tiers` does."""
    return parse_tiers(raw, file).items


@dataclass(frozen=True, slots=True)
class KeyFindings:
    """The findings of :func:`check_keys`.

    Attributes:
        problems: keys that were meant for an open plugin and match nothing. One for all prompts
            or resources is none: what it waits for may be made of content that is still to come.
            Neither is any of a plugin that has nothing to offer yet.
        notices: keys that have no effect because their plugin is not open.
        absent: keys of rows none of which is there now.
    """

    problems: tuple[Problem, ...]
    notices: tuple[Problem, ...]
    absent: tuple[Problem, ...] = ()


def check_keys(
    rules: TierRules,
    known: Iterable[ItemKey],
    plugins: Iterable[str],
    row_kinds: Mapping[str, Mapping[str, RowKind]] | None = None,
) -> KeyFindings:
    """Check the keys of ``tiers.yaml`` against what the portal offers.

    Args:
        rules: the rules in force.
        known: every item of the open plugins.
        plugins: the names of the open plugins.
        row_kinds: the kinds of rows that each of them has, by their names.
    """
    kinds = row_kinds or {}
    items = frozenset(known)
    opened = frozenset(plugins)
    offering = {item.plugin for item in items}
    problems, notices, absent = [], [], []
    for rule, named in named_items(rules, items).items():
        if rule.plugin not in opened:
            hint = nearest(rule.plugin, opened)
            reason = f"has no effect: the plugin {rule.plugin} is not open{hint}"
            notices.append(Problem(rule.file, rule.line, rule.key, reason))
        elif rule.plugin not in offering or rule.key.endswith(_WHOLE_KINDS):
            continue
        elif kind := kinds.get(rule.plugin, {}).get(rule.row_kind or ""):
            if reason := _no_row(rule, kind):
                absent.append(Problem(rule.file, rule.line, rule.key, reason))
        elif not named and "/" in rule.key:
            reason = f"matches nothing that {rule.plugin} offers{_suggestion(rule.key, items)}"
            problems.append(Problem(rule.file, rule.line, rule.key, reason))
    return KeyFindings(tuple(problems), tuple(notices), tuple(absent))


def _no_row(rule: Rule, kind: RowKind) -> str:
    """Why a rule on rows has no effect now; an empty text where it has, or nobody knows."""
    there = [ItemKey(rule.plugin, "row", f"{kind.name}:{name}") for name in kind.names()]
    if not there or any(map(rule.matches, there)):
        return ""
    return f"matches {kind.summary}, and none that is there now{nearest(rule.key, map(str, there))}"


def _suggestion(key: str, items: Iterable[ItemKey]) -> str:
    """A suggestion for a key that matches nothing."""
    plugin = key.partition("/")[0]
    offered = [str(item) for item in items if item.plugin == plugin]
    for family in offered:
        # No other item's name has a star in it: names are checked, and URIs are resources'.
        if "/prompt:" in family and family.endswith("*") and key.startswith(family[:-1]):
            return f"; all prompts of a family have one tier, that of {family}"
    return nearest(key, offered)


class TierRulesFile(FollowedFile[Tiers]):
    """The rules of a ``tiers.yaml``, kept up to date with the file.

    Args:
        path: the file; where there is none, the rules are empty: everything is members that no
            plugin suggests otherwise, and nobody is one.

    Raises:
        ConfigError: the file has problems and there are no earlier rules to keep.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, parse_tiers)

    @property
    def tiers(self) -> Tiers:
        """What the last good file says."""
        return self.content

    @property
    def current(self) -> TierRules:
        """The rules on items in force."""
        return self.tiers.items

    @property
    def access(self) -> AccessRules:
        """The rules on people in force."""
        return self.tiers.access
