"""The edges of a file other than calls: contains, imports, extends, implements."""

from __future__ import annotations

from collections.abc import Iterator

from plugins.codegraph.facts import Expr, Import
from plugins.codegraph.linker import evaluate, modules, names
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.entities import file_key
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.structural import implemented
from plugins.codegraph.linker.values import (
    DECLARED,
    IMPORT,
    SCOPE,
    Class,
    Func,
    Instance,
    Module,
    Rank,
    Value,
)
from plugins.codegraph.model import Edge, EdgeKind, EntityKind, Strategy

STRATEGIES = (
    Strategy.SCOPE,
    Strategy.IMPORT,
    Strategy.SELF,
    Strategy.DECLARED,
    Strategy.INFERRED,
)
"""The strategy of an edge, by the rank of its target."""


def relations(engine: Engine, index: FileIndex) -> list[Edge]:
    """The edges of one file other than calls."""
    found: dict[tuple[EdgeKind, int, int], Edge] = {}
    for edge in [*_contains(engine, index), *_imports(engine, index), *_bases(engine, index)]:
        found.setdefault((edge.kind, edge.source, edge.target), edge)
    return list(found.values())


def _contains(engine: Engine, index: FileIndex) -> list[Edge]:
    whole = file_key(engine.view.repo, index.path)
    keys = index.keys(engine.view.repo)
    return [
        Edge(
            EdgeKind.CONTAINS,
            whole if each.parent < 0 else keys[each.parent],
            key,
            index.path,
            each.line,
            Strategy.SYNTAX,
        )
        for key, each in zip(keys, index.facts.definitions, strict=True)
    ]


def _imports(engine: Engine, index: FileIndex) -> list[Edge]:
    whole = file_key(engine.view.repo, index.path)
    found = []
    for scope in index.scopes:
        for each in scope.imports:
            for target in imported(engine, index, each):
                if target != whole:
                    edge = Edge(
                        EdgeKind.IMPORTS, whole, target, index.path, each.line, Strategy.IMPORT
                    )
                    found.append(edge)
    return found


def imported(engine: Engine, index: FileIndex, each: Import) -> list[int]:
    """The keys of what an import refers to: files, and the entities imported from them."""
    if not each.module and not each.level:
        return []
    repo = engine.view.repo
    target = engine.target(index, each)
    paths = list(target.paths)
    keys = []
    if each.symbol and each.symbol != "*" and not target.external:
        member = modules.module_member(engine, target, each.symbol)
        for value in member:
            if isinstance(value, Module) and _is_submodule(index, target, each, value):
                paths = list(value.target.paths)
            else:
                keys += entity_keys(engine, value)
        if len(paths) > 1:
            # In a package of several files, keep those that define the name.
            defining = [v.path for v in member if isinstance(v, Class | Func)]
            paths = [path for path in paths if path in defining] or paths
        keys = _variable(engine, paths, each.symbol) or keys
    return [*[file_key(repo, path) for path in paths if engine.view.exists(path)], *keys]


def _is_submodule(index: FileIndex, target: object, each: Import, value: Module) -> bool:
    inner = index.rules.submodule(index.path, target, each.symbol)  # type: ignore[arg-type]
    return inner is not None and inner.paths == value.target.paths


def _variable(engine: Engine, paths: list[str], name: str) -> list[int]:
    for path in paths:
        index = engine.index(path)
        if index is None:
            continue
        for number, each in enumerate(index.facts.definitions):
            if each.parent < 0 and each.name == name and each.kind is EntityKind.VARIABLE:
                return [index.keys(engine.view.repo)[number]]
    return []


def entity_keys(engine: Engine, value: Value) -> list[int]:
    """The key of the entity that a value is; empty for values without an entity."""
    if isinstance(value, Class | Func):
        index = engine.there(value.path)
        number = index.scopes[value.scope].definition
        if number >= 0:
            return [index.keys(engine.view.repo)[number]]
    return []


def _bases(engine: Engine, index: FileIndex) -> list[Edge]:
    found: list[Edge] = []
    for number, scope in enumerate(index.scopes):
        if index.rules.structural and scope.kind == "class":
            found += _structural(engine, index, number)
        if scope.kind != "class" or not (scope.bases or scope.implements):
            continue
        sources = _sources(engine, index, number)
        line = _line(index, number)
        outside = scope.definition < 0 and scope.receiver is not None
        extends = EdgeKind.IMPLEMENTS if outside else EdgeKind.EXTENDS
        for kind, exprs in ((extends, scope.bases), (EdgeKind.IMPLEMENTS, scope.implements)):
            for target, strategy in _named(engine, index, scope.parent, exprs):
                found += [
                    Edge(kind, source, target, index.path, line, strategy)
                    for source in sources
                    if source != target
                ]
    return found


def _named(
    engine: Engine, index: FileIndex, number: int, exprs: tuple[Expr | None, ...]
) -> Iterator[tuple[int, Strategy]]:
    """What these expressions refer to, as keys, with the strategy of each.

    Classes, and functions that JavaScript uses as such.
    """
    for expr in exprs:
        for value, rank in evaluate.evaluate(engine, index, number, expr).items():
            named = Class(value.path, value.scope) if isinstance(value, Instance) else value
            for target in entity_keys(engine, named):
                yield target, _strategy(rank)


def _structural(engine: Engine, index: FileIndex, number: int) -> list[Edge]:
    scope = index.scopes[number]
    if scope.definition < 0 or scope.parent != 0 or "interface" in scope.modifiers:
        return []
    source = index.keys(engine.view.repo)[scope.definition]
    line = _line(index, number)
    return [
        Edge(EdgeKind.IMPLEMENTS, source, target, index.path, line, Strategy.DECLARED)
        for each in implemented(engine, index, number)
        for target in entity_keys(engine, each)
    ]


def _strategy(rank: Rank) -> Strategy:
    return STRATEGIES[rank if rank in (SCOPE, IMPORT) else max(rank, DECLARED)]


def _line(index: FileIndex, number: int) -> int:
    definition = index.scopes[number].definition
    return index.facts.definitions[definition].line if definition >= 0 else 0


def _sources(engine: Engine, index: FileIndex, number: int) -> list[int]:
    scope = index.scopes[number]
    if scope.definition >= 0:
        return [index.keys(engine.view.repo)[scope.definition]]
    if scope.receiver is None:
        return []
    found = []
    for value in names.own_object(engine, index, number):
        if isinstance(value, Instance):
            found += entity_keys(engine, Class(value.path, value.scope))
    return found
