"""Names of modules: imports, re-exports, submodules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plugins.codegraph.facts import (
    Import,
)
from plugins.codegraph.languages.rules import Target
from plugins.codegraph.linker import evaluate, members, names
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    IMPORT,
    NOTHING,
    Class,
    External,
    Module,
    Values,
    add,
    ranked,
)


def imported(engine: Engine, index: FileIndex, each: Import) -> Values:
    """The possible values of an imported name."""
    if not each.module and not each.level:
        return ranked(names.bound(engine, index, 0, each.symbol), IMPORT)
    target = engine.target(index, each)
    if not each.symbol or each.symbol == "*":
        found = _whole(engine, target)
        return ranked(found, IMPORT) if found else as_module(target, each.module)
    if target.external:
        return {External(f"{target.name or each.module}.{each.symbol}"): IMPORT}
    found = module_member(engine, target, each.symbol)
    if found:
        return ranked(found, IMPORT)
    inner = index.rules.submodule(index.path, target, each.symbol)
    return NOTHING if inner is None else as_module(inner, each.symbol)


def _whole(engine: Engine, target: Target) -> Values:
    """The value that a module exports as a whole (``module.exports =``), plus the module itself
    where it has further exports."""
    for path in target.paths:
        index = engine.index(path)
        if index is not None and index.rules.whole in index.names[0]:
            found = names.bound(engine, index, 0, index.rules.whole)
            exports = any(each.exported and not each.module for each in index.scopes[0].imports)
            return {**found, Module(target): IMPORT} if found and exports else found
    return NOTHING


def of_whole(engine: Engine, index: FileIndex, name: str) -> Values:
    """A member of the value that a module exports as a whole; ``default`` is that value itself."""
    if index.rules.whole not in index.names[0]:
        if name == "default" and index.rules.whole and not _has_default(index):
            return {Module(Target(paths=(index.path,))): IMPORT}
        return NOTHING
    found = names.bound(engine, index, 0, index.rules.whole)
    return found if name == "default" else evaluate.member(engine, index, found, name)


def _has_default(index: FileIndex) -> bool:
    """Whether a file has ES module semantics: its default export is only what it declares as such,
    unlike in CommonJS."""
    return not any(each.symbol.startswith("exports.") for each in index.scopes[0].imports)


def as_module(target: Target, name: str) -> Values:
    """A module as a value."""
    if target.external:
        return {External(target.name or name): IMPORT}
    if target.paths or target.directories:
        return {Module(target): IMPORT}
    return NOTHING


def module_member(engine: Engine, target: Target, name: str) -> Values:
    """The possible values of a module's top-level name or submodule."""
    found: Values = engine.solve(("m", target, name), _module_member, engine, target, name)
    return found


def _module_member(engine: Engine, target: Target, name: str) -> Values:
    if target.within:
        outer = Target(target.paths, target.directories, within=target.within[:-1])
        return _static_member(engine, module_member(engine, outer, target.within[-1]), name)
    index = None
    for path in target.paths:
        index = engine.index(path)
        found = None if index is None else _of_file(engine, index, name)
        if index is not None and found is not None:
            return found if name in index.names[0] else _or_inner(index, target, name, found)
    if index is None:
        for directory in target.directories:
            index = next(_any_index(engine, directory), None)
    inner = None if index is None else index.rules.submodule(index.path, target, name)
    return NOTHING if inner is None else as_module(inner, name)


def _or_inner(index: FileIndex, target: Target, name: str, found: Values) -> Values:
    """A name that a star brings in, or the submodule so called: the list of what the other module
    exports (``__all__``) may leave the name out."""
    inner = index.rules.submodule(index.path, target, name)
    return found if inner is None else {**as_module(inner, name), **found}


def _of_file(engine: Engine, index: FileIndex, name: str) -> Values | None:
    """A top-level name of a file as importers see it, or None where it has none."""
    for each in index.scopes[0].imports:
        if each.exported == name and name != "*":
            return imported(engine, index, each)
    origins = index.names[0].get(name)
    if origins and (index.rules.imports_exported or any(o.how != "import" for o in origins)):
        return names.bound(engine, index, 0, name)
    by_star = starred(engine, index, index.stars.get(0, ()), name)
    return by_star or of_whole(engine, index, name) or None


def _static_member(engine: Engine, owners: Values, name: str) -> Values:
    found: Values = {}
    for owner, rank in owners.items():
        if isinstance(owner, Class):
            add(found, members.member(engine, engine.there(owner.path), owner, rank, name))
    return found


def _any_index(engine: Engine, directory: str) -> Iterator[FileIndex]:
    for path in engine.view.directory(directory):
        index = engine.index(path)
        if index is not None:
            yield index


def starred(engine: Engine, index: FileIndex, stars: Iterable[Import], name: str) -> Values:
    """The value of a name that a star import brings in."""
    hidden = name.startswith("_") and index.rules.stars_hide
    if hidden or name == "default":
        return NOTHING
    for each in stars:
        target = engine.target(index, each)
        if target.paths:
            found = module_member(engine, target, name)
            if found:
                return ranked(found, IMPORT)
    return NOTHING
