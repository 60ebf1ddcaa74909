"""The facts of one file under construction."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import msgspec

from plugins.codegraph.facts import Definition, FileFacts, Scope
from plugins.codegraph.languages import uses
from plugins.codegraph.model import EntityKind

_MAX_DOC_LENGTH = 2000
_MAX_SIGNATURE_LENGTH = 400


@dataclass(slots=True)
class ScopeBuilder(uses.ScopeBuilder):
    """A mutable scope.

    Attributes:
        number: its index in the list of scopes.
        owner: the definition that contains its definitions, or -1 for the file.
        prefix: the prefix of its definitions' qualified names, with the last dot.
    """

    number: int = 0
    owner: int = -1
    prefix: str = ""


@dataclass(slots=True)
class DefinitionBuilder:
    """A :class:`Definition` whose final number and visibility are not yet known."""

    kind: EntityKind
    name: str
    qualified: str
    line: int
    end_line: int
    start: int
    end: int
    signature: str = ""
    doc: str = ""
    parent: int = -1
    private: bool = False
    test: bool = False


@dataclass(slots=True)
class FactsBuilder:
    """The definitions and scopes of one file."""

    definitions: list[DefinitionBuilder] = field(default_factory=list)
    scopes: list[ScopeBuilder] = field(default_factory=list)

    def scope(self, kind: str, definition: int, around: ScopeBuilder | None) -> ScopeBuilder:
        """Open a scope within ``around``.

        Its definitions belong to ``definition``, or to the owner of ``around`` if that is -1.
        """
        owner, prefix = definition, ""
        if definition >= 0:
            prefix = self.definitions[definition].qualified + "."
        elif around is not None:
            owner, prefix = around.owner, around.prefix
        made = ScopeBuilder(
            number=len(self.scopes),
            kind=kind,
            definition=definition,
            parent=around.number if around else -1,
            owner=owner,
            prefix=prefix,
        )
        self.scopes.append(made)
        return made

    def define(self, definition: DefinitionBuilder) -> int:
        """Add a definition, with signature and doc truncated; returns its number."""
        definition.doc = definition.doc[:_MAX_DOC_LENGTH]
        definition.signature = definition.signature[:_MAX_SIGNATURE_LENGTH]
        self.definitions.append(definition)
        return len(self.definitions) - 1

    def facts(self, head: FileFacts, exported: set[str] | None) -> FileFacts:
        """The finished facts.

        Args:
            head: the facts about the file as a whole.
            exported: the names that the file exports, or None for a script, all of whose names are
                global.
        """
        order = sorted(
            range(len(self.definitions)),
            key=lambda n: (self.definitions[n].start, -self.definitions[n].end, n),
        )
        renumbered = [0] * len(order)
        for place, number in enumerate(order):
            renumbered[number] = place
        order, renumbered = self._parents_first(order, renumbered)
        visible: dict[int, bool] = {}
        finished = [self._finished(n, renumbered, exported, visible) for n in order]
        return msgspec.structs.replace(
            head,
            doc=head.doc[:_MAX_DOC_LENGTH],
            definitions=tuple(finished),
            scopes=tuple(self._frozen(scope, renumbered) for scope in self.scopes),
        )

    def _frozen(self, scope: ScopeBuilder, renumbered: list[int]) -> Scope:
        """The scope as a fact, with the definitions' final numbers."""
        if scope.definition >= 0:
            scope.definition = renumbered[scope.definition]
        return scope.frozen()

    def _parents_first(
        self, order: list[int], renumbered: list[int]
    ) -> tuple[list[int], list[int]]:
        """Keep the order of creation if a child would come before its parent: prototype methods may
        precede their class."""
        wrong = any(
            d.parent >= 0 and renumbered[d.parent] > renumbered[n]
            for n, d in enumerate(self.definitions)
        )
        if not wrong:
            return order, renumbered
        same = list(range(len(self.definitions)))
        return same, same

    def _finished(
        self, number: int, renumbered: list[int], exported: set[str] | None, seen: dict[int, bool]
    ) -> Definition:
        made = self.definitions[number]
        if made.parent < 0:
            visible = exported is None or made.name in exported
        else:
            above = self.definitions[made.parent]
            outer = seen.get(made.parent, False)
            visible = outer and not made.private and above.kind in _OPEN
        seen[number] = visible
        values = {name: getattr(made, name) for name in _KEPT}
        parent = renumbered[made.parent] if made.parent >= 0 else -1
        return Definition(**values, parent=parent, exported=visible)


_KEPT = [each.name for each in fields(DefinitionBuilder) if each.name not in {"parent", "private"}]
_OPEN = frozenset({EntityKind.CLASS, EntityKind.INTERFACE, EntityKind.VARIABLE})
"""Definitions whose members are visible from outside; a function's locals are not."""
