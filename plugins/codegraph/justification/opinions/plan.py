"""What a run asks: the groups of each level, and the context of each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import Role
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.justifier import Justifier, Progress
from plugins.codegraph.justification.opinions.contexts import Contexts
from plugins.codegraph.justification.opinions.levels import Group, levels
from plugins.codegraph.justification.opinions.opinion import is_wanting, known
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.order import components
from plugins.codegraph.justification.statements import CLASS_CODES, Statement
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.store.codes import ENTITY_CODES
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.store import GraphStore

_LINES, _CALLEES = 40, 8
"""Above these, the code of an entity takes thought."""
_VERTICAL = CLASS_CODES[EntityClass.VERTICAL]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked of one repository.

    Attributes:
        view: the repository.
        columns: its graph.
        statements: what is said so far, by position; None of tests.
        levels: the groups, leaves first.
        contexts: makes the context of each.
        find: finds what was answered.
    """

    view: RepositoryView
    columns: Columns
    statements: Sequence[Statement | None]
    levels: Sequence[Sequence[Group]]
    contexts: Contexts
    find: known

    def pending(self, level: int) -> list[Group]:
        """The groups of a level that have something unanswered."""
        return [group for group in self.levels[level] if not all(map(self._is_answered, group))]

    def next_level(self, first: int) -> int | None:
        """The first level, not before ``first``, with something unanswered."""
        later = range(first, len(self.levels))
        return next((level for level in later if self.pending(level)), None)

    def _is_answered(self, at: int) -> bool:
        entity, code = self.columns.entities[at], self.columns.signals[at].code
        found = self.find(entity.key, entity.qualified, ENTITY_CODES[entity.kind], code)
        return found is not None

    def role(self, group: Group) -> Role:
        """Which model a group is for: features, entry points and code with much in it take
        thought."""
        return "complex" if len(group) > 1 or self._is_complex(group[0]) else "simple"

    def _is_complex(self, at: int) -> bool:
        entity, statement = self.columns.entities[at], self.statements[at]
        long = entity.end_line - entity.line >= _LINES or len(self.columns.callees[at]) > _CALLEES
        if statement is None:
            return long
        return long or statement.type == _VERTICAL or bool(statement.entry_kind)

    def used(self) -> set[int]:
        """The keys of the opinions that some entity has."""
        pairs = zip(self.columns.entities, self.columns.signals, strict=True)
        found = (
            self.find(each.key, each.qualified, ENTITY_CODES[each.kind], signals.code)
            for each, signals in pairs
        )
        return {each.key for each in found if each is not None}


@dataclass(frozen=True, slots=True)
class Planner:
    """Makes plans.

    Attributes:
        store: the graphs.
        justifier: says what facts say.
        opinions: what was answered.
    """

    store: GraphStore
    justifier: Justifier
    opinions: Opinions

    async def plan(
        self, org: str, repo: str, progress: Progress, *, everything: bool = False
    ) -> Plan | None:
        """What is to be asked of a repository; None where it has no index.

        Args:
            org, repo: the repository.
            progress: receives how far the reading is.
            everything: whether what facts are sure of is asked about too.
        """
        await self.justifier.read(org, repo, progress)
        view = await self.store.view(org, repo)
        if view is None:
            return None
        said = await self.justifier.said(view)
        columns, by_key = said.columns, {each.key: each for each in said.statements}
        statements = [by_key.get(each.key) for each in columns.entities]

        def order() -> Any:
            def wanted(at: int) -> bool:
                found = statements[at]
                return found is not None and (everything or is_wanting(found))

            def begins(at: int) -> bool:
                found = statements[at]
                return found is not None and bool(found.entry_kind)

            return levels(columns, components(columns), wanted, begins)

        found = await asyncio.to_thread(order)
        contexts = Contexts(view.name, columns, statements, self.store.open(view).source)
        find = await self.opinions.finder(view)
        return Plan(view, columns, statements, found, contexts, find)
