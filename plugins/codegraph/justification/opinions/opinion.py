"""What a model or an agent says of one entity, and how it joins what facts say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from gateway.toolkit.visible_text import visible
from plugins.codegraph.justification.classify import Verdict
from plugins.codegraph.justification.opinions.claims import Claim
from plugins.codegraph.justification.statements import Flow, Statement
from plugins.codegraph.justification.taxonomy import EntityClass, Sayer

SURE = 70
"""The confidence, in percent, from which the class that facts give is not asked about."""
MOST_SURE = 75
"""The most confidence in a class that nobody has measured, in percent: 80 and more is said only
where nine of ten are right."""
AGENT = "agent"
"""The provider of what a member's agent says."""
_ASKED = frozenset({Sayer.MODEL.value, Sayer.AGENT.value})


class Said(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A claim as it is kept."""

    type: str
    feature: str
    technology: str
    confidence: int
    purpose: str
    value: str
    consumers: Sequence[str] = ()
    flows: Sequence[Flow] = ()

    @classmethod
    def of(cls, claim: Claim) -> Said:
        """What is kept of a claim; of what another class has, nothing."""
        vertical = claim.kind is EntityClass.VERTICAL
        horizontal = claim.kind is EntityClass.HORIZONTAL
        flows = [
            Flow(visible(each.name), visible(each.step), [visible(one) for one in each.actors])
            for each in claim.user_flows or ()
        ]
        return cls(
            type=claim.type,
            feature=visible(claim.feature_area or "").lower() if vertical else "",
            technology=visible(claim.technology_type or "").lower() if horizontal else "",
            confidence=round(100 * claim.confidence),
            purpose=visible(claim.purpose),
            value=visible(claim.business_value),
            consumers=[visible(each) for each in claim.consumers or ()] if horizontal else (),
            flows=flows if vertical else (),
        )


NOTHING = Said("", "", "", 0, "", "")
"""What is kept of an answer that the graph contradicts."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a model or an agent says of one entity.

    Attributes:
        key, path, qualified, kind: which entity; ``kind`` is a number (``ENTITY_CODES``).
        code: the lines that it is about (``EntitySignals.code``).
        provider: the provider's name in ``portal.yaml``, or :data:`AGENT`.
        model: the model, as it calls itself.
        person: whose agent it was, or None.
        at: when.
        said: what it says; :data:`NOTHING` where it was refused.
        refused: what the graph contradicts, or "".
    """

    key: int
    path: str
    qualified: str
    kind: int
    code: int
    provider: str
    model: str
    person: str | None
    at: datetime
    said: Said = NOTHING
    refused: str = ""

    @property
    def sayer(self) -> Sayer:
        """Who says it."""
        return Sayer.AGENT if self.provider == AGENT else Sayer.MODEL


def is_unsure(verdict: Verdict) -> bool:
    """Whether facts leave the class open."""
    return verdict.type is EntityClass.UNKNOWN or verdict.confidence < SURE


def heard(verdict: Verdict, opinion: Opinion | None) -> Verdict | None:
    """The verdict with what somebody says where facts leave it open; None where they do not, or
    where nothing is said that they do not say.

    Args:
        verdict: what facts say.
        opinion: what somebody says, or None.
    """
    if opinion is None or opinion.refused or not is_unsure(verdict):
        return None
    kind = EntityClass(opinion.said.type)
    if kind is verdict.type and verdict.technology == opinion.said.technology:
        return None
    sure = min(opinion.said.confidence, MOST_SURE)
    return Verdict(kind, sure, opinion.said.technology, verdict.votes)


def joined(statement: Statement, opinion: Opinion | None) -> Statement:
    """A statement with the words of an opinion where its author wrote none.

    Args:
        statement: what facts say, with the class as :func:`heard` has decided it.
        opinion: what somebody says, or None.
    """
    if opinion is None or opinion.refused:
        return statement
    who, told = opinion.sayer.value, opinion.said
    by = list(statement.said)
    changes: dict[str, object] = {}
    if not statement.purpose:
        by[1], changes["purpose"] = who, told.purpose
    by[2], changes["value"] = who, told.value
    if not statement.flows and told.flows and statement.shown().type is EntityClass.VERTICAL:
        changes["flows"] = told.flows
    return msgspec.structs.replace(statement, said=tuple(by), **changes)


def is_wanting(statement: Statement) -> bool:
    """Whether facts leave something open that a model could say: the class, or the purpose.

    What was asked and answered counts too, so that the order of a run stays the same while it goes
    on.
    """
    by_facts = statement.said[0] == Sayer.FACTS.value
    unsure = by_facts and (statement.type == 0 or statement.confidence < SURE)
    return unsure or not statement.purpose or not _ASKED.isdisjoint(statement.said[:2])


class known:  # noqa: N801 - used as a function
    """Finds the opinion of an entity by its key, or where it was moved by its name and code.

    Args:
        found: the opinions of a repository.
    """

    def __init__(self, found: Iterable[Opinion]) -> None:
        self._keys = {each.key: each for each in found}
        self._moved = {(each.qualified, each.kind, each.code): each for each in self._keys.values()}

    def __call__(self, key: int, qualified: str, kind: int, code: int) -> Opinion | None:
        """The opinion on this very code, or None."""
        here = self._keys.get(key)
        if here is not None and here.code == code:
            return here
        return self._moved.get((qualified, kind, code))

    def __bool__(self) -> bool:
        return bool(self._keys)
