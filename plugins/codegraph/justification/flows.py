"""Flows from entry points through what they call, and the features that use what is shared.

Both are carried from callers to callees in one pass over the graph, entry points first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.codegraph.justification.classify import Verdict
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.entry_points import Entry
from plugins.codegraph.justification.purposes import actors_of
from plugins.codegraph.justification.statements import Flow, Statement
from plugins.codegraph.justification.taxonomy import EntityClass, EntryKind

MAX_FLOWS, MAX_STEPS = 3, 6
"""The most flows that are said of one entity, and how far one is followed."""
MAX_CONSUMERS = 12
_BEGUN = (EntryKind.ROUTE, EntryKind.COMMAND, EntryKind.MAIN, EntryKind.TASK)


@dataclass(slots=True)
class Carried:
    """What came to each entity from its callers, by position.

    Attributes:
        flows: the flows that come through it: (position of the entry point, steps from it).
        consumers: features whose code calls it, directly or through what is shared.
    """

    flows: list[tuple[tuple[int, int], ...]]
    consumers: list[frozenset[str]]


def carried(
    columns: Columns,
    order: Sequence[Sequence[int]],
    verdicts: Sequence[Verdict],
    features: Sequence[str],
    entries: Sequence[Entry | None],
) -> Carried:
    """Carry flows and consumers along all calls.

    Args:
        columns: the graph.
        order: components, leaves first.
        verdicts: the class of each entity.
        features: the feature of each entity, or "".
        entries: how each is started.
    """
    nothing: tuple[tuple[int, int], ...] = ()
    flows = [nothing for _ in verdicts]
    users: list[frozenset[str]] = [frozenset() for _ in verdicts]
    for group in reversed(order):
        for at in group:
            flows[at] = _flows(columns, at, entries, flows)
            users[at] = _users(columns, at, verdicts, features, users)
    return Carried(flows, users)


def _flows(
    columns: Columns,
    at: int,
    entries: Sequence[Entry | None],
    flows: Sequence[tuple[tuple[int, int], ...]],
) -> tuple[tuple[int, int], ...]:
    entry = entries[at]
    if entry is not None and entry.kind in _BEGUN:
        return ((at, 0),)
    nearest: dict[int, int] = {}
    for caller in columns.callers[at]:
        for begun, steps in flows[caller]:
            if steps < MAX_STEPS:
                nearest[begun] = min(nearest.get(begun, MAX_STEPS), steps + 1)
    ranked = sorted(nearest.items(), key=lambda item: (item[1], columns.entities[item[0]].path))
    return tuple(ranked[:MAX_FLOWS])


def _users(
    columns: Columns,
    at: int,
    verdicts: Sequence[Verdict],
    features: Sequence[str],
    users: Sequence[frozenset[str]],
) -> frozenset[str]:
    found: set[str] = set()
    for caller in columns.callers[at]:
        if columns.entities[caller].test:
            continue
        if verdicts[caller].type is EntityClass.VERTICAL:
            found.update((features[caller],) if features[caller] else ())
        elif len(found) < MAX_CONSUMERS:
            found |= users[caller]
    return frozenset(sorted(found)[:MAX_CONSUMERS])


def flows_of(
    through: Sequence[tuple[int, int]], features: Sequence[str], entries: Sequence[Entry | None]
) -> list[Flow]:
    """The flows that come through an entity, in words."""
    found = []
    for begun, steps in through:
        entry = entries[begun]
        if entry is not None:
            title = features[begun].title() if features[begun] else "Program"
            step = "begins it" if not steps else f"step {steps + 1}"
            found.append(Flow(f"{title}: {entry.label}", step, actors_of(entry)))
    return found


def with_former(flows: Sequence[Flow], former: Statement, entry: Entry | None) -> list[Flow]:
    """The flows through an entity whose callers were not all looked at again: those that were said
    before are in it.

    Args:
        flows: those that were found now.
        former: what was said of it before.
        entry: how it is started.
    """
    if entry is not None and entry.kind in _BEGUN:
        return list(flows)
    names = {each.name for each in flows}
    return [*flows, *(each for each in former.flows if each.name not in names)][:MAX_FLOWS]
