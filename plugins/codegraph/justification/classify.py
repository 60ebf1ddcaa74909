"""Gives every entity its class, in the order of the graph: what it uses is known before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.justification.votes import H, U, V, Vote, Votes
from plugins.codegraph.model import EntityKind

LEAST = 1.0
"""The weight below which nothing is said."""
MAX_EVIDENCE = 6
_OWNER, _NEIGHBOUR = 1.25, 0.75


@dataclass(slots=True)
class Verdict:
    """The class of one entity.

    Attributes:
        type: the class.
        confidence: how often such a verdict is right, in percent.
        technology: of HORIZONTAL, what it provides.
        votes: what speaks for it, the weightiest first.
    """

    type: EntityClass = EntityClass.UNKNOWN
    confidence: int = 0
    technology: str = ""
    votes: list[Vote] = field(default_factory=list)


def classify(
    columns: Columns,
    votes: Votes,
    order: Sequence[Sequence[int]],
    known: Mapping[int, Verdict],
) -> list[Verdict]:
    """The verdict of every entity, by position; tests stay unknown.

    Args:
        columns: the graph.
        votes: the rules.
        order: components, leaves first (``order.py``).
        known: the verdicts that are settled already, by position.
    """
    own: list[list[Vote] | None] = [None] * len(columns.entities)

    def facts(at: int) -> list[Vote]:
        if (known := own[at]) is None:
            known = own[at] = votes.of(at)
        return known

    verdicts = [known.get(at) or Verdict() for at in range(len(columns.entities))]
    for group in order:
        members = set(group)
        found = {
            at: [
                *facts(at),
                *_inherited(columns, at, facts),
                *_used(columns, at, verdicts, members),
            ]
            for at in group
            if not columns.entities[at].test and at not in known
        }
        for at, said in found.items():
            verdicts[at] = _decided(said)
    return verdicts


def _inherited(columns: Columns, at: int, facts: Callable[[int], list[Vote]]) -> list[Vote]:
    """What a class says of its methods, and a function of those within it."""
    parent = columns.parents[at]
    if parent < 0:
        return []
    decided = _decided(facts(parent))
    if decided.type is EntityClass.UNKNOWN:
        return []
    name = columns.entities[parent].qualified
    weight = _OWNER if columns.entities[parent].kind is EntityKind.CLASS else _OWNER * 1.5
    return [Vote(decided.type, weight, f"It is part of {name}.", "", decided.technology)]


def _used(columns: Columns, at: int, verdicts: Sequence[Verdict], members: set[int]) -> list[Vote]:
    """What the verdicts of all that it uses say."""
    sums: defaultdict[tuple[EntityClass, str], int] = defaultdict(int)
    for callee in columns.callees[at]:
        if callee not in members:
            verdict = verdicts[callee]
            sums[verdict.type, verdict.technology] += 1
    if not sums:
        return []
    (kind, technology), _ = max(sums.items(), key=lambda item: (item[1], item[0]))
    if kind in (EntityClass.UNKNOWN, U):
        return []
    name = technology or "code of a feature"
    return [Vote(kind, _NEIGHBOUR, f"What it uses is mostly {name}.", "", technology)]


def _decided(votes: Sequence[Vote]) -> Verdict:
    sums: dict[EntityClass, float] = {V: 0.0, H: 0.0, U: 0.0}
    techs: defaultdict[str, float] = defaultdict(float)
    for vote in votes:
        sums[vote.type] += vote.weight
        if vote.type is H:
            techs[vote.technology] += vote.weight
    ranked = sorted(sums.items(), key=lambda item: -item[1])
    (best, weight), (_, second) = ranked[0], ranked[1]
    if weight < LEAST:
        return Verdict(votes=list(votes))
    technology = max(techs, key=lambda name: techs[name]) if best is H else ""
    mine = sorted((each for each in votes if each.type is best), key=lambda each: -each.weight)
    sure = confidence_of(weight, weight - second)
    return Verdict(best, sure, technology, mine[:MAX_EVIDENCE])


def confidence_of(weight: float, margin: float) -> int:
    """How often a verdict on such weights is right, in percent.

    The steps are measured on judged repositories (``benchmarks/codegraph_taxonomy.py``).
    """
    if margin >= 2.5 and weight >= 3.0:
        return 90
    if margin >= 1.5:
        return 70
    return 65 if margin >= 0.75 else 60
