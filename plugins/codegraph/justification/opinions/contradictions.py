"""Holds claims against the graph: what contradicts it is not believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plugins.codegraph.justification.opinions.claims import Claim, Claims
from plugins.codegraph.justification.taxonomy import EntityClass


def contradictions(claims: Claims, context: Mapping[str, Any]) -> Iterator[str]:
    """What of an answer the graph contradicts, for whoever gave it.

    Args:
        claims: the answer.
        context: what was asked, as ``contexts.py`` makes it.
    """
    asked = {int(each["entity"]): each for each in context["entities"]}
    told = [each.entity for each in claims.entities]
    for number in sorted(asked.keys() - set(told)):
        yield f"entity {number}: nothing is said of it"
    for number in sorted({each for each in told if told.count(each) > 1 or each not in asked}):
        yield f"entity {number}: say something of it once, and only if it is in the context"
    for claim in claims.entities:
        if claim.entity in asked:
            for wrong in _wrong(claim, asked[claim.entity]):
                yield f"entity {claim.entity}: {wrong}"


def _wrong(claim: Claim, entity: Mapping[str, Any]) -> Iterator[str]:
    facts = entity["facts"]
    if claim.kind is EntityClass.UTILITY:
        if effect := facts["sideEffects"]:
            yield f"a UTILITY has no side effects, and it has one: {effect}"
        if entry := facts["entryPoint"]:
            yield f"a UTILITY is not started from outside, and it is: {entry}"
    if claim.kind is EntityClass.VERTICAL and not claim.feature_area:
        yield "a VERTICAL needs its featureArea"
    if claim.kind is EntityClass.HORIZONTAL and not claim.technology_type:
        yield "a HORIZONTAL needs its technologyType"
    known = {each.casefold() for each in facts["knownConsumers"]}
    for name in claim.consumers or ():
        if name.casefold() not in known:
            yield f"the consumer {name} calls nothing of it"
