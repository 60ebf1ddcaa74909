"""What a model is shown of entities: facts with their evidence, the code, and who is around."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.opinions.levels import Group
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.model import Entity, shown_key
from plugins.codegraph.tools.result_models import cut

MAX_CODE, MAX_DOC, MAX_SIGNATURE, MAX_PURPOSE = 1_600, 400, 300, 160
"""The most characters of an entity's code, documentation and signature, and of what is said of
those around it."""
MAX_CALLERS, MAX_CALLEES, MAX_NAMES = 8, 12, 40
"""The most callers and callees of an entity, and the most names of features to choose from."""
_FILES = 32

Read = Callable[[str], Awaitable[bytes | None]]
"""``await read(path)``: the text of a file as it was indexed, without its secrets."""


@dataclass(slots=True)
class Contexts:
    """Makes contexts.

    Attributes:
        repository: its name.
        columns: the graph.
        statements: what is said so far, by position; None of tests.
        read: reads files.
    """

    repository: str
    columns: Columns
    statements: Sequence[Statement | None]
    read: Read
    _lines: dict[str, list[str]] = field(default_factory=dict)
    _features: list[str] = field(default_factory=list)
    _technologies: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        said = [each.shown() for each in self.statements if each is not None]
        features = Counter(each.feature_area for each in said if each.feature_area)
        technologies = Counter(each.technology_type for each in said if each.technology_type)
        self._features = sorted(name for name, _ in features.most_common(MAX_NAMES))
        self._technologies = sorted(name for name, _ in technologies.most_common(MAX_NAMES))

    async def of(self, group: Group) -> dict[str, Any]:
        """The context of a group, as JSON values.

        ``key``, ``code`` and ``kind`` of an entity are for who keeps the answer.
        """
        return {
            "repository": self.repository,
            "knownFeatures": self._features,
            "knownTechnologies": self._technologies,
            "entities": [await self._entity(number, at) for number, at in enumerate(group, 1)],
        }

    async def _entity(self, number: int, at: int) -> dict[str, Any]:
        entity, signals = self.columns.entities[at], self.columns.signals[at]
        return {
            "entity": number,
            "key": shown_key(entity.key),
            "name": entity.qualified,
            "kind": entity.kind.value,
            "file": f"{entity.path}:{entity.line}",
            "version": f"{signals.code:x}",
            "signature": cut(entity.signature, MAX_SIGNATURE),
            "documentation": cut(entity.doc or signals.comment, MAX_DOC),
            "source": cut(await self._source(entity), MAX_CODE),
            "facts": self._facts(at),
            "callers": self._around(self.columns.callers[at], MAX_CALLERS),
            "callees": self._around(self.columns.callees[at], MAX_CALLEES),
        }

    def _facts(self, at: int) -> dict[str, Any]:
        entity, signals, statement = (
            self.columns.entities[at],
            self.columns.signals[at],
            self.statements[at],
        )
        effect = f"{entity.path}:{signals.effects}" if signals.effects else None
        if statement is None:
            raise ValueError("nothing is asked of tests")
        shown = statement.shown()
        return {
            "class": shown.type.value,
            "confidence": shown.confidence,
            "feature": shown.feature_area,
            "technology": shown.technology_type,
            "entryPoint": shown.entry,
            "flows": [each.name for each in shown.user_flows or ()],
            "sideEffects": effect,
            "knownConsumers": self._consumers(at, statement),
            "evidence": [each.says for each in shown.evidence],
        }

    def _consumers(self, at: int, statement: Statement) -> list[str]:
        """The features whose code calls it, also those that were said of its callers since."""
        found = set(statement.consumers)
        for caller in self.columns.callers[at]:
            said = self.statements[caller]
            if said is not None and said.shown().feature_area:
                found.add(said.feature)
        return sorted(found)

    def _around(self, places: Sequence[int], most: int) -> list[dict[str, Any]]:
        """Callers or callees with what is said of them; those of which something is said first."""
        known = sorted(set(places), key=lambda at: (self.statements[at] is None, at))
        return [self._neighbour(at) for at in known[:most]]

    def _neighbour(self, at: int) -> dict[str, Any]:
        entity, statement = self.columns.entities[at], self.statements[at]
        if statement is None:
            return {"name": entity.qualified, "test": True}
        shown = statement.shown()
        area = shown.feature_area or shown.technology_type
        told = {"name": entity.qualified, "class": shown.type.value, "area": area}
        return {**told, "purpose": cut(statement.purpose, MAX_PURPOSE) or None}

    async def _source(self, entity: Entity) -> str:
        if entity.path not in self._lines:
            if len(self._lines) >= _FILES:
                self._lines.clear()
            text = (await self.read(entity.path) or b"").decode("utf-8", "replace")
            self._lines[entity.path] = text.split("\n")
        return "\n".join(self._lines[entity.path][entity.line - 1 : entity.end_line])
