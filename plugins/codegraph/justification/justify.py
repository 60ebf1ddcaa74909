"""Justifies a repository, or a part of one, in memory: columns in, statements out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from plugins.codegraph.justification.areas import areas
from plugins.codegraph.justification.classify import Verdict, classify
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.domain import Domain
from plugins.codegraph.justification.entry_points import Entry, EntryPoints
from plugins.codegraph.justification.flows import Carried, carried, flows_of, with_former
from plugins.codegraph.justification.opinions.opinion import Opinion, heard, joined, known
from plugins.codegraph.justification.order import components
from plugins.codegraph.justification.outline import Outline
from plugins.codegraph.justification.places import Places, of_tests
from plugins.codegraph.justification.purposes import purpose_of, value_of
from plugins.codegraph.justification.statements import CLASS_CODES, CLASSES, Statement
from plugins.codegraph.justification.taxonomy import EntityClass, Sayer
from plugins.codegraph.justification.votes import Votes
from plugins.codegraph.store.codes import ENTITY_CODES

NOBODY = known(())
"""The opinions where nobody was asked."""
RULES = 4
"""The version of the rules; another one justifies every repository anew."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """Everything that is known before it is put into words, by position."""

    columns: Columns
    verdicts: list[Verdict]
    features: list[str]
    entries: list[Entry | None]
    carried: Carried
    opinions: list[Opinion | None]
    sayers: list[str]
    former: Mapping[int, Statement]


@dataclass(frozen=True, slots=True)
class Part:
    """What is known around the entities of a part, which alone are judged; by position.

    Attributes:
        neighbours: what is said of the entities that are there only because others use them, or
            are used by them.
        former: what was said before of those that are judged, if anything was.
    """

    neighbours: Mapping[int, Statement]
    former: Mapping[int, Statement]


WHOLE = Part({}, {})
"""Nothing is known: everything is judged."""


def justify(
    columns: Columns,
    scripts: Mapping[tuple[str, str], str],
    outline: Outline,
    find: known = NOBODY,
    part: Part = WHOLE,
) -> Iterator[Statement]:
    """What facts say of every entity that is no test, and models where facts are unsure.

    Args:
        columns: the graph and what the text tells.
        scripts: the programs that manifests name (``entry_points.EntryPoints``).
        outline: the repository's.
        find: finds what models and agents say.
        part: what is known already, where only a part is judged. Flows and consumers that come
            from beyond the part stay as they were.
    """
    places, domain = Places(outline.around), Domain(outline)
    points = EntryPoints(columns, dict(scripts))
    entries = [points.of(at) for at in range(len(columns.entities))]
    order = components(columns)
    settled = {at: _verdict(each) for at, each in part.neighbours.items()}
    named = {at: each.feature for at, each in part.neighbours.items()}
    verdicts = classify(columns, Votes(columns, places, domain, entries), order, settled)
    features = areas(columns, domain, places, verdicts, named)
    opinions = _opinions(columns, find, part.neighbours)
    sayers = _listened(opinions, verdicts, features)
    through = carried(columns, order, verdicts, features, entries)
    judged = _Judged(columns, verdicts, features, entries, through, opinions, sayers, part.former)
    for at, entity in enumerate(columns.entities):
        if at not in part.neighbours and not of_tests(entity.path) and not entity.test:
            yield _statement(judged, at)


def _verdict(said: Statement) -> Verdict:
    return Verdict(CLASSES[said.type], said.confidence, said.technology)


def _opinions(columns: Columns, find: known, neighbours: Collection[int]) -> list[Opinion | None]:
    """What models and agents say of each entity that is judged, by position."""
    if not find:
        return [None] * len(columns.entities)
    both = zip(columns.entities, columns.signals, strict=True)
    return [
        None
        if at in neighbours
        else find(each.key, each.qualified, ENTITY_CODES[each.kind], signals.code)
        for at, (each, signals) in enumerate(both)
    ]


def _listened(
    opinions: list[Opinion | None], verdicts: list[Verdict], features: list[str]
) -> list[str]:
    """Put in what is said where facts leave the class or the feature open; who says each class."""
    sayers = [Sayer.FACTS.value] * len(verdicts)
    for at, opinion in enumerate(opinions):
        if opinion is None or opinion.refused:
            continue
        told = heard(verdicts[at], opinion)
        if told is not None:
            verdicts[at], features[at] = told, opinion.said.feature
            sayers[at] = opinion.sayer.value
        elif verdicts[at].type is EntityClass.VERTICAL and not features[at]:
            features[at] = opinion.said.feature
    return sayers


def _statement(judged: _Judged, at: int) -> Statement:
    columns, verdict = judged.columns, judged.verdicts[at]
    entity, entry = columns.entities[at], judged.entries[at]
    flows = flows_of(judged.carried.flows[at], judged.features, judged.entries)
    consumers = judged.carried.consumers[at]
    if (former := judged.former.get(at)) is not None:
        flows, consumers = with_former(flows, former, entry), consumers.union(former.consumers)
    purpose, purpose_at = purpose_of(entity, columns.signals[at])
    statement = Statement(
        key=entity.key,
        path=entity.path,
        type=CLASS_CODES[verdict.type],
        feature=judged.features[at],
        technology=verdict.technology,
        confidence=verdict.confidence,
        purpose=purpose,
        purpose_at=purpose_at,
        value=value_of(verdict.type, judged.features[at], entry, flows, sorted(consumers)),
        entry_kind=entry.kind.value if entry is not None else "",
        entry=entry.label if entry is not None else "",
        flows=flows,
        consumers=sorted(consumers),
        evidence=[(each.says, each.at) for each in verdict.votes],
        tests=sum(columns.entities[caller].test for caller in columns.callers[at]),
        said=(judged.sayers[at], Sayer.FACTS.value, Sayer.FACTS.value),
    )
    return joined(statement, judged.opinions[at])
