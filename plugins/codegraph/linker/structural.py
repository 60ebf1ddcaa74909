"""Structural typing (Go): the interfaces that a class implements by having all of their methods."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname

from plugins.codegraph.facts import Attr, Expr, Group, Item, Name, Scope
from plugins.codegraph.linker import classes, mro
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import Class, External

Shape = tuple[object, ...]
Interfaces = tuple[tuple[int, dict[str, Shape]], ...]
"""The scopes of interfaces, with their methods."""


def implemented(engine: Engine, index: FileIndex, number: int) -> Iterator[Class]:
    """The interfaces that a class implements, among those of its own package and of the packages
    that its file imports. Names, and numbers and types of parameters and results, must agree.

    Args:
        engine: the engine of the repository.
        index: the class's file.
        number: the class's scope.
    """
    for path in index.rules.interfaces(index.path, index.facts):
        near = dirname(path) == dirname(index.path)
        found: Interfaces = engine.solve(("interfaces", path), _interfaces, engine, path)
        for place, wanted in found:
            # Unexported methods can be implemented only in the interface's own package.
            open_ = near or all(name[:1].isupper() for name in wanted)
            if open_ and all(_has(engine, index, number, *each) for each in wanted.items()):
                yield Class(path, place)


def _interfaces(engine: Engine, path: str) -> Interfaces:
    """The interfaces of a file all of whose methods are known."""
    index = engine.index(path)
    found = []
    for place, scope in enumerate(index.scopes if index is not None else ()):
        if "interface" in scope.modifiers and scope.parent == 0:
            wanted = _methods(engine, path, place)
            if wanted:
                found.append((place, wanted))
    return tuple(found)


def _methods(engine: Engine, path: str, number: int) -> dict[str, Shape]:
    """An interface's methods, embedded ones included; empty if any of these is unknown."""
    found: dict[str, Shape] = {}
    for each in mro.order(engine, path, number):
        if isinstance(each, External):
            return {}
        index = engine.there(each.path)
        scope = index.scopes[each.scope]
        if len(mro.bases(engine, index, each.scope)) < len(scope.bases):
            return {}
        for name, origins in index.names[each.scope].items():
            for origin in origins:
                if origin.how == "scope":
                    found[name] = _shape(index.scopes[origin.number])
    return found


def _has(engine: Engine, index: FileIndex, number: int, name: str, wanted: Shape) -> bool:
    defined, _, _ = classes.find(engine, index.path, number, name)
    return any(_agree(_shape(engine.there(path).scopes[scope]), wanted) for path, scope in defined)


def _shape(scope: Scope) -> Shape:
    params = scope.params[1:] if scope.receiver is not None else scope.params
    given = tuple((each.kind, _type(each.type)) for each in params)
    returns = scope.returns
    results = returns.items if isinstance(returns, Group) else (returns,)
    return (given, tuple(_type(each) for each in results), returns is None)


def _type(of: Expr | None) -> object:
    """A type reduced to its last names, for comparison; None is compatible with any type."""
    if isinstance(of, Item):
        return (_type(of.of), tuple(_type(each) for each in of.args))
    if isinstance(of, Name):
        return None if of.id == "any" else of.id
    return of.name if isinstance(of, Attr) else None


def _agree(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    return one is None or other is None or one == other
