"""Justifies a whole repository in memory: columns in, statements out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from plugins.codegraph.justification.areas import areas
from plugins.codegraph.justification.classify import Verdict, classify
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.domain import Domain
from plugins.codegraph.justification.entry_points import Entry, EntryPoints
from plugins.codegraph.justification.flows import Carried, carried, flows_of
from plugins.codegraph.justification.opinions.opinion import Opinion, heard, joined, known
from plugins.codegraph.justification.order import components
from plugins.codegraph.justification.places import Places, of_tests
from plugins.codegraph.justification.purposes import purpose_of, value_of
from plugins.codegraph.justification.statements import CLASS_CODES, Statement
from plugins.codegraph.justification.taxonomy import EntityClass, Sayer
from plugins.codegraph.justification.votes import Votes
from plugins.codegraph.store.codes import ENTITY_CODES

NOBODY = known(())
"""The opinions where nobody was asked."""
RULES = 3
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


def justify(
    columns: Columns,
    scripts: Mapping[tuple[str, str], str],
    paths: Collection[str] = (),
    find: known = NOBODY,
) -> Iterator[Statement]:
    """What facts say of every entity of a repository that is no test, and models where facts are
    unsure.

    Args:
        columns: the graph and what the text tells.
        scripts: the programs that manifests name (``entry_points.EntryPoints``).
        paths: the repository's files with code, where the columns are of some of them alone.
        find: finds what models and agents say.
    """
    with_code = {*paths, *(each.path for each in columns.entities)}
    places = Places(sorted(path for path in with_code if not of_tests(path)))
    points = EntryPoints(columns, dict(scripts))
    entries = [points.of(at) for at in range(len(columns.entities))]
    domain = Domain(columns, places)
    order = components(columns)
    verdicts = classify(columns, Votes(columns, places, domain, entries), order)
    features = areas(columns, domain, places, verdicts)
    opinions = _opinions(columns, find)
    sayers = _listened(opinions, verdicts, features)
    through = carried(columns, order, verdicts, features, entries)
    judged = _Judged(columns, verdicts, features, entries, through, opinions, sayers)
    for at, entity in enumerate(columns.entities):
        if not of_tests(entity.path) and not entity.test:
            yield _statement(judged, at)


def _opinions(columns: Columns, find: known) -> list[Opinion | None]:
    """What models and agents say of each entity, by position."""
    if not find:
        return [None] * len(columns.entities)
    return [
        find(each.key, each.qualified, ENTITY_CODES[each.kind], signals.code)
        for each, signals in zip(columns.entities, columns.signals, strict=True)
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
    consumers = sorted(judged.carried.consumers[at])
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
        value=value_of(verdict.type, judged.features[at], entry, flows, consumers),
        entry_kind=entry.kind.value if entry is not None else "",
        entry=entry.label if entry is not None else "",
        flows=flows,
        consumers=consumers,
        evidence=[(each.says, each.at) for each in verdict.votes],
        tests=sum(columns.entities[caller].test for caller in columns.callers[at]),
        said=(judged.sayers[at], Sayer.FACTS.value, Sayer.FACTS.value),
    )
    return joined(statement, judged.opinions[at])
