"""Features: what the system does for people, aggregated from the statements on its entities."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plugins.codegraph.justification.statements import CLASS_CODES, Statement
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.justification.words import singular, words
from plugins.codegraph.model import shown_key

MAX_ENTRIES, MAX_FLOWS, MAX_DEPENDENCIES = 200, 100, 50
"""The most entry points, flows and dependencies that are kept of one feature."""


@dataclass(slots=True)
class _Group:
    name: str
    count: int = 0
    files: set[str] = field(default_factory=set)
    sure: int = 0
    tested: int = 0
    entries: list[dict[str, str]] = field(default_factory=list)
    flows: Counter[str] = field(default_factory=Counter)
    actors: dict[str, set[str]] = field(default_factory=dict)
    consumers: set[str] = field(default_factory=set)


def feature_id(kind: str, name: str) -> str:
    """The id of a feature: it depends on its name alone, so it outlives every index."""
    slug = "_".join(singular(each) for each in words(name)) or "other"
    return f"{'feature' if kind == 'VERTICAL' else kind.lower()}_{slug}"


def aggregated(statements: Iterable[Statement]) -> dict[str, dict[str, Any]]:
    """The features, the technologies and the helpers of a repository, by id.

    Args:
        statements: what is said of each entity.

    Returns:
        JSON values, as ``tools/blueprint.py`` shows them.
    """
    groups: dict[tuple[str, str], _Group] = {}
    uses: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in statements:
        kind, name = _group(each)
        if not kind:
            continue
        group = groups.setdefault((kind, feature_id(kind, name)), _Group(name))
        _take(group, each)
        if kind == EntityClass.HORIZONTAL.value:
            for consumer in each.consumers:
                uses[feature_id("VERTICAL", consumer)].update([each.technology])
    return {
        key: _shown(kind, group, uses.get(key, Counter())) for (kind, key), group in groups.items()
    }


def _group(statement: Statement) -> tuple[str, str]:
    if statement.type == CLASS_CODES[EntityClass.VERTICAL]:
        return EntityClass.VERTICAL.value, statement.feature or "other"
    if statement.type == CLASS_CODES[EntityClass.HORIZONTAL]:
        return EntityClass.HORIZONTAL.value, statement.technology or "other"
    if statement.type == CLASS_CODES[EntityClass.UTILITY]:
        return EntityClass.UTILITY.value, "helpers"
    return "", ""


def _take(group: _Group, statement: Statement) -> None:
    group.count += 1
    group.files.add(statement.path)
    group.sure += statement.confidence
    group.tested += bool(statement.tests)
    group.consumers.update(statement.consumers)
    if statement.entry_kind and len(group.entries) < MAX_ENTRIES:
        key = shown_key(statement.key)
        entry = {"key": key, "kind": statement.entry_kind, "label": statement.entry}
        group.entries.append({**entry, "file": statement.path})
    for flow in statement.flows:
        group.flows[flow.name] += 1
        group.actors.setdefault(flow.name, set()).update(flow.actors)


def _shown(kind: str, group: _Group, uses: Mapping[str, int]) -> dict[str, Any]:
    flows = [
        {"name": name, "steps": steps, "actors": sorted(group.actors[name])}
        for name, steps in sorted(group.flows.items(), key=lambda item: (-item[1], item[0]))
    ]
    needed = sorted(uses, key=lambda name: (-uses[name], name))
    return {
        "name": group.name,
        "type": kind,
        "entity_count": group.count,
        "file_count": len(group.files),
        "entry_points": sorted(group.entries, key=lambda each: (each["label"], each["key"])),
        "user_flows": flows[:MAX_FLOWS],
        "flow_count": len(flows),
        "horizontal_dependencies": needed[:MAX_DEPENDENCIES],
        "consumers": sorted(group.consumers)[:MAX_DEPENDENCIES] if kind != "VERTICAL" else [],
        "tested_count": group.tested,
        "confidence_avg": round(group.sure / group.count / 100, 2),
    }
