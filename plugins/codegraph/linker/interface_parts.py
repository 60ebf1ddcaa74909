"""A file's interface (``digest.py``), taken apart into its top-level names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from plugins.codegraph.facts import (
    Attr,
    Call,
    Expr,
    FileFacts,
    Group,
    Item,
    Name,
    Scope,
    Table,
    last_name,
)
from plugins.codegraph.linker.digest import flatten, visible
from plugins.codegraph.walk import calls_in

Piece = tuple[Any, ...]
"""A part of an interface as plain values, without lines, and without numbers of scopes."""


@dataclass(slots=True)
class Body:
    """What belongs to one top-level name.

    Attributes:
        pieces: its definitions, scopes, imports and values.
        touches: the other names that mean more because of what its code does, and what that is:
            a call gives a function its arguments, another puts something into a container.
    """

    pieces: list[Piece] = field(default_factory=list)
    touches: set[tuple[str, Piece]] = field(default_factory=set)

    @property
    def words(self) -> set[str]:
        """All texts in it."""
        return {word for piece in self.pieces for word in piece if isinstance(word, str)}


class InterfaceParts:
    """The parts of a Python file's interface.

    Args:
        facts: the facts of the file.
        pushes: the methods that put their argument into a container.

    Attributes:
        names: what belongs to each top-level name.
        rest: what belongs to none.
    """

    def __init__(self, facts: FileFacts, pushes: frozenset[str]) -> None:
        self._facts, self._pushes = facts, pushes
        self.names: dict[str, Body] = {}
        self.rest = Body([(facts.language, facts.package)])
        self._roots = _roots(facts.scopes)
        self._holders = self._held()
        self._take_definitions()
        for number, scope in enumerate(facts.scopes):
            if number:
                self._take_scope(number, scope)
            else:
                self._take_file(scope)

    @cached_property
    def words(self) -> dict[str, set[str]]:
        """All texts in what belongs to each name."""
        return {name: body.words for name, body in self.names.items()}

    @cached_property
    def rest_words(self) -> set[str]:
        """All texts in what belongs to none."""
        return self.rest.words

    def _body(self, name: str) -> Body:
        return self.names.setdefault(name, Body()) if name else self.rest

    def _name(self, number: int) -> str:
        """The top-level name that a scope belongs to, "" for none."""
        return self._facts.scopes[self._roots[number]].name if number else ""

    def _held(self) -> dict[str, set[str]]:
        """By the name of any function or class, the top-level names with such a one in them."""
        found: dict[str, set[str]] = {}
        for number, scope in enumerate(self._facts.scopes):
            if number and scope.name:
                found.setdefault(scope.name, set()).add(self._name(number))
        return found

    def _take_definitions(self) -> None:
        every = self._facts.definitions
        for each in every:
            root = each
            while root.parent >= 0:
                root = every[root.parent]
            piece = (str(each.kind), each.qualified, each.signature, each.exported)
            self._body(root.name).pieces.append(piece)

    def _take_file(self, scope: Scope) -> None:
        """The file's own imports and assignments are those of the names that they bind."""
        nameless = replace(scope, imports=(), binds=())
        self.rest.pieces.append(self._piece(0, visible(nameless)))
        for each in scope.imports:
            self._body(each.alias).pieces.append(self._piece(0, each))
        for bind in scope.binds:
            name = bind.target.id if type(bind.target) is Name else ""
            self._body(name).pieces.append(self._piece(0, bind))
        for call in calls_in(scope):
            if call.args:
                self.rest.pieces.append(self._piece(0, call))

    def _take_scope(self, number: int, scope: Scope) -> None:
        body, facts = self._body(self._name(number)), self._facts
        own = facts.definitions[scope.definition].qualified if scope.definition >= 0 else ""
        around = scope.parent - self._roots[number] if scope.parent else -1
        place = (scope.kind, own, around, *visible(scope)[3:])
        body.pieces.append(self._piece(number, place))
        outer = frozenset(self._own_names(number))
        for name, what in self._touched(scope, outer):
            body.touches.add((name, self._piece(number, what)))

    def _touched(self, scope: Scope, own: frozenset[str]) -> Iterator[tuple[str, Any]]:
        """The names outside of a scope that its code adds something to, and what that is."""
        bound = [word.partition(":")[2] for word in scope.modifiers if word.startswith("global:")]
        yield from ((name, scope.binds) for name in bound)
        for bind in scope.binds:
            yield from ((name, bind) for name in _containers(bind.target) if name not in own)
        for call in (each for each in calls_in(scope) if each.args):
            yield from ((name, call) for name in self._given(call, own))
        for decorator in scope.decorators:
            yield from ((name, decorator) for name in self._holders.get(last_name(decorator), ()))

    def _given(self, call: Call, own: frozenset[str]) -> Iterable[str]:
        """The top-level names that get the arguments of a call."""
        found = set(self._holders.get(last_name(call.of), ()))
        of = call.of
        if type(of) is Attr and of.name in self._pushes and type(of.of) is Name:
            found |= {of.of.id} - own
        return found

    def _own_names(self, number: int) -> Iterator[str]:
        """The names that a scope, or one around it that is not the file, binds itself."""
        while number:
            scope = self._facts.scopes[number]
            outside = {word.partition(":")[2] for word in scope.modifiers if ":" in word}
            names = [each.name for each in scope.params] + [each.alias for each in scope.imports]
            names += [each for bind in scope.binds for each in _bound(bind.target)]
            yield from (name for name in names if name not in outside)
            number = scope.parent

    def _piece(self, number: int, what: Any) -> Piece:
        into: list[Any] = []
        flatten(what, into, lambda inner: self._place(number, inner))
        return tuple(into)

    def _place(self, number: int, inner: int) -> str:
        """An inline scope, named so that what stands before it in the file does not matter."""
        root = self._roots[inner]
        if number and root == self._roots[number]:
            return f"+{inner - root}"
        return self._name(inner) or f"#{inner}"


def _roots(scopes: Iterable[Scope]) -> list[int]:
    """For each scope the one around it that is directly in the file."""
    found: list[int] = []
    for number, scope in enumerate(scopes):
        found.append(found[scope.parent] if scope.parent > 0 else number)
    return found


def _bound(target: Expr | None) -> Iterator[str]:
    """The variables that an assignment binds."""
    if type(target) is Name:
        yield target.id
    for each in _parts(target):
        yield from _bound(each)


def _containers(target: Expr | None) -> Iterator[str]:
    """The variables that an assignment puts something into."""
    if type(target) is Item and type(target.of) is Name:
        yield target.of.id
    for each in _parts(target):
        yield from _containers(each)


def _parts(target: Expr | None) -> Iterable[Expr | None]:
    if isinstance(target, Group):
        return target.items
    return [value for _, value in target.items] if isinstance(target, Table) else ()
