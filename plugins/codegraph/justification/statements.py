"""What is said of one entity, as it is stored; ``taxonomy.py`` is what is shown of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from plugins.codegraph.justification.taxonomy import (
    UNKNOWN_TEXT,
    EntityClass,
    EntryKind,
    Evidence,
    Sayer,
    Taxonomy,
    UserFlow,
)

CLASS_CODES = {
    EntityClass.UNKNOWN: 0,
    EntityClass.VERTICAL: 1,
    EntityClass.HORIZONTAL: 2,
    EntityClass.UTILITY: 3,
}
"""The numbers that stand for classes in the database; they never change."""
CLASSES = {code: each for each, code in CLASS_CODES.items()}


class Flow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part in a flow: its name, what this entity is in it, who starts it."""

    name: str
    step: str
    actors: Sequence[str]


class Statement(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everything that facts say of one entity.

    Attributes:
        key, path: which entity, and its file.
        type: the class's number (:data:`CLASS_CODES`).
        feature: the feature area, or "".
        technology: of HORIZONTAL, or "".
        confidence: in percent.
        purpose, purpose_at: what its author says, and where; or "".
        value: the need that it serves, or "".
        entry_kind, entry: how it is started, or "".
        flows: its parts in flows.
        consumers: features whose code calls it.
        evidence: what it rests on: (what, where).
        tests: how many tests use it directly.
        said: who says the class, the purpose and the value (:class:`Sayer`).
        corrected: the version of a person's correction in it, or 0.
    """

    key: int
    path: str
    type: int
    feature: str = ""
    technology: str = ""
    confidence: int = 0
    purpose: str = ""
    purpose_at: str = ""
    value: str = ""
    entry_kind: str = ""
    entry: str = ""
    flows: Sequence[Flow] = ()
    consumers: Sequence[str] = ()
    evidence: Sequence[tuple[str, str]] = ()
    tests: int = 0
    said: tuple[str, str, str] = (Sayer.FACTS.value,) * 3
    corrected: int = 0

    @property
    def digest(self) -> int:
        """A number that changes when anything that is said does."""
        found = hashlib.blake2b(msgspec.msgpack.encode(self), digest_size=8).digest()
        return int.from_bytes(found, "big", signed=True)

    def shown(self) -> Taxonomy:
        """The statement as it is answered."""
        kind = CLASSES[self.type]
        vertical, horizontal = kind is EntityClass.VERTICAL, kind is EntityClass.HORIZONTAL
        flows = [
            UserFlow(name=each.name, step=each.step, actors=list(each.actors))
            for each in self.flows
        ]
        return Taxonomy(
            type=kind,
            type_by=Sayer(self.said[0]),
            feature_area=(self.feature or None) if vertical else None,
            user_flows=(flows or None) if vertical else None,
            technology_type=(self.technology or None) if horizontal else None,
            consumers=None if vertical else list(self.consumers) or None,
            purpose=self.purpose or UNKNOWN_TEXT,
            purpose_at=self.purpose_at or None,
            purpose_by=Sayer(self.said[1]),
            business_value=self.value or UNKNOWN_TEXT,
            business_value_by=Sayer(self.said[2]),
            entry_point=EntryKind(self.entry_kind) if self.entry_kind else None,
            entry=self.entry or None,
            confidence=self.confidence / 100,
            evidence=[Evidence(says=says, at=at or None) for says, at in self.evidence],
        )


def decoded(data: bytes) -> Statement:
    """A statement from its stored form."""
    return msgspec.msgpack.decode(data, type=Statement)
