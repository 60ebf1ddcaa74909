"""The facts of one file while they are being collected."""

from __future__ import annotations

from dataclasses import dataclass, field

from plugins.codegraph.facts import Bind, Definition, Expr, FileFacts, Import, Param, Scope
from plugins.codegraph.model import EntityKind

_DOC_LIMIT = 2000
_SIGNATURE_LIMIT = 400


@dataclass(slots=True)
class DraftScope:
    """A :class:`Scope` that is still growing.

    Attributes:
        number: its place in the list of scopes.
        owner: the definition that its definitions are contained in, or -1 for the file.
        prefix: what the qualified names of its definitions begin with, with the last dot.
        instance: whether ``this`` in it is an object of the class around (see ``Lowering.this``).
    """

    number: int
    kind: str
    definition: int
    parent: int
    name: str = ""
    owner: int = -1
    prefix: str = ""
    params: list[Param] = field(default_factory=list)
    returns: Expr | None = None
    bases: list[Expr | None] = field(default_factory=list)
    implements: list[Expr | None] = field(default_factory=list)
    decorators: list[Expr | None] = field(default_factory=list)
    modifiers: list[str] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    binds: list[Bind] = field(default_factory=list)
    results: list[Expr | None] = field(default_factory=list)
    yields: list[Expr | None] = field(default_factory=list)
    calls: list[Expr | None] = field(default_factory=list)

    def frozen(self, renumbered: list[int]) -> Scope:
        """The scope as a fact, with the definitions' final numbers."""
        return Scope(
            kind=self.kind,
            definition=renumbered[self.definition] if self.definition >= 0 else -1,
            parent=self.parent,
            name=self.name,
            params=tuple(self.params),
            returns=self.returns,
            bases=tuple(self.bases),
            implements=tuple(self.implements),
            decorators=tuple(self.decorators),
            modifiers=tuple(self.modifiers),
            imports=tuple(self.imports),
            binds=tuple(self.binds),
            results=tuple(self.results),
            yields=tuple(self.yields),
            calls=tuple(self.calls),
        )


@dataclass(slots=True)
class DraftDefinition:
    """A :class:`Definition` whose number and visibility are not settled yet."""

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
class Draft:
    """The definitions and scopes of one file."""

    definitions: list[DraftDefinition] = field(default_factory=list)
    scopes: list[DraftScope] = field(default_factory=list)

    def scope(self, kind: str, definition: int, around: DraftScope | None) -> DraftScope:
        """Open a scope within ``around``.

        Definitions in it belong to ``definition``, or to the owner of ``around`` where it has none.
        """
        owner, prefix = definition, ""
        if definition >= 0:
            prefix = self.definitions[definition].qualified + "."
        elif around is not None:
            owner, prefix = around.owner, around.prefix
        made = DraftScope(
            number=len(self.scopes),
            kind=kind,
            definition=definition,
            parent=around.number if around else -1,
            owner=owner,
            prefix=prefix,
        )
        self.scopes.append(made)
        return made

    def define(self, definition: DraftDefinition) -> int:
        """Add a definition; its signature and doc are cut to what the graph keeps."""
        definition.doc = definition.doc[:_DOC_LIMIT]
        definition.signature = definition.signature[:_SIGNATURE_LIMIT]
        self.definitions.append(definition)
        return len(self.definitions) - 1

    def facts(self, head: FileFacts, exported: set[str] | None) -> FileFacts:
        """The finished facts.

        Args:
            head: what is known of the file as a whole.
            exported: the file's own names that it exports, or None where it is a script, all of
                whose names are global.
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
        return FileFacts(
            language=head.language,
            lines=head.lines,
            doc=head.doc[:_DOC_LIMIT],
            definitions=tuple(finished),
            scopes=tuple(scope.frozen(renumbered) for scope in self.scopes),
            problem=head.problem,
            generated=head.generated,
        )

    def _parents_first(
        self, order: list[int], renumbered: list[int]
    ) -> tuple[list[int], list[int]]:
        """Prototype methods may stand before their class: then the order of making holds."""
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
        draft = self.definitions[number]
        if draft.parent < 0:
            visible = exported is None or draft.name in exported
        else:
            above = self.definitions[draft.parent]
            outer = seen.get(draft.parent, False)
            visible = outer and not draft.private and above.kind in _OPEN
        seen[number] = visible
        return Definition(
            kind=draft.kind,
            name=draft.name,
            qualified=draft.qualified,
            line=draft.line,
            end_line=draft.end_line,
            start=draft.start,
            end=draft.end,
            signature=draft.signature,
            doc=draft.doc,
            exported=visible,
            parent=renumbered[draft.parent] if draft.parent >= 0 else -1,
            test=draft.test,
        )


_OPEN = frozenset({EntityKind.CLASS, EntityKind.INTERFACE, EntityKind.VARIABLE})
"""What shows its own members to the outside; the inside of a function is its own."""
