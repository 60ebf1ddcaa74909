"""Method resolution order: a class and its bases in the order in which members are looked up."""

from __future__ import annotations

from typing import Any

from plugins.codegraph.languages.rules import BaseRules
from plugins.codegraph.linker import evaluate, generics, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import Class, External, Instance, Thing


def order(engine: Engine, path: str, scope: int) -> tuple[Class | External, ...]:
    """A class, then its bases in the order in which members are looked up."""
    found: tuple[Class | External, ...] = engine.solve(
        ("o", path, scope), _order, engine, path, scope
    )
    return found or (Class(path, scope),)


def _order(engine: Engine, path: str, number: int) -> tuple[Class | External, ...]:
    index = engine.there(path)
    own = Class(path, number)
    above: list[list[Class | External]] = []
    direct: list[Class | External] = []
    for base in bases(engine, index, number):
        direct.append(base)
        if isinstance(base, Class):
            if (base.path, base.scope) == (path, number):
                continue
            above.append(
                [
                    generics.applied(engine, base, each)
                    for each in order(engine, base.path, base.scope)
                ]
            )
        else:
            above.append([base])
    if index.rules.linear:
        merged = _merged([*above, direct])
        if merged is not None:
            return (own, *merged)
    seen: dict[Any, Class | External] = {}
    for line in above:
        for each in line:
            seen.setdefault(_identity(each), each)
    return (own, *seen.values())


def _identity(value: Class | External) -> tuple[str, int]:
    return (value.path, value.scope) if isinstance(value, Class) else (value.name, -1)


def _merged(lines: list[list[Class | External]]) -> list[Class | External] | None:
    """The C3 linearisation, or None where the hierarchy has none."""
    result: list[Class | External] = []
    todo = [line for line in lines if line]
    while todo:
        tails = {_identity(each) for line in todo for each in line[1:]}
        head = next((line[0] for line in todo if _identity(line[0]) not in tails), None)
        if head is None:
            return None
        result.append(head)
        chosen = _identity(head)
        todo = [line[1:] if _identity(line[0]) == chosen else line for line in todo]
        todo = [line for line in todo if line]
    return result


def bases(engine: Engine, index: FileIndex, number: int) -> list[Class | External]:
    """The declared bases of a class, without unknown ones."""
    scope = index.scopes[number]
    found: list[Class | External] = []
    for expr in (*scope.bases, *scope.implements):
        for value in evaluate.evaluate(engine, index, scope.parent, expr):
            if isinstance(value, Class | External):
                found.append(value)
            elif isinstance(value, Instance | Thing):
                found += [
                    each
                    for each in types.classes_of((value,))
                    if isinstance(each, Class | External)
                ]
    for path, outer in extending(engine, index, number):
        other = engine.there(path)
        if other.scopes[outer].kind == "class":
            found += bases(engine, other, outer)
    return found


def extending(engine: Engine, index: FileIndex, number: int) -> tuple[tuple[str, int], ...]:
    """The scopes, as (path, number), that define members of a class from outside of it."""
    if not index.scopes[number].name:
        return ()
    if not index.extended and type(index.rules).extensions is BaseRules.extensions:
        return ()
    key = ("x", index.path, number)
    found: tuple[tuple[str, int], ...] = engine.solve(key, _extended, engine, index.path, number)
    return found


def _extended(engine: Engine, path: str, number: int) -> tuple[tuple[str, int], ...]:
    index = engine.there(path)
    name = index.scopes[number].name
    found = []
    for each in index.rules.extensions(path, index.facts):
        other = engine.index(each)
        if other is None:
            continue
        for outer in other.extended.get(name, ()):
            scope = other.scopes[outer]
            types_of = types.stated(engine, other, scope.parent, scope.receiver)
            if any(
                isinstance(v, Instance) and (v.path, v.scope) == (path, number) for v in types_of
            ):
                found.append((each, outer))
    return tuple(found)
