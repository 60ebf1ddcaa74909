"""Names in a file that no edge accounts for: an entity of that name may be used there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping

from plugins.codegraph.facts import Attr, Expr, Import, Name
from plugins.codegraph.languages.identifiers import unpacked
from plugins.codegraph.linker import modules
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.relations import imported
from plugins.codegraph.linker.values import Class, Func
from plugins.codegraph.model import Mention

BY_SEARCH_PATH = frozenset({"python", "typescript", "javascript"})
"""Languages whose modules are found along a search path that no file need declare."""
_STANDARD = sys.stdlib_module_names
Place = tuple[str, int]
"""A name that an edge accounts for, and its line, which may be approximate."""
_PART = re.compile(r"[^\W\d][\w$]*")


def mentions(
    engine: Engine,
    index: FileIndex,
    explained: Iterable[Place],
    placed: Iterable[Place],
    asked: Iterable[Place] = (),
) -> list[Mention]:
    """The occurrences of names that are neither definitions nor explained by an edge.

    Args:
        engine: the engine of the repository.
        index: the file.
        explained: name and line of each occurrence that is accounted for.
        placed: the same of other calls that are resolved or reported as unresolved, whose lines
            may be approximate.
        asked: the same of those that are members of what seems to be outside of the repository.
    """
    words = unpacked(index.facts.words)
    if not words:
        return []
    for name, line in explained:
        if line in (lines := words.get(name, ())):
            lines.remove(line)  # type: ignore[union-attr]
    _account(engine, index, words, placed)
    left = {name: list(lines) for name, lines in words.items()}
    for each in _imports(index):
        # A use of an alias is a use of what it stands for.
        local = each.alias or each.exported
        for name in _names(engine, index, each) - {local}:
            left.setdefault(name, []).extend(words.get(local, ()))
    for name, line in _from_outside(engine, index):
        left.setdefault(name, []).append(line)
    for name, line in asked:
        left.setdefault(as_asked(name), []).append(line)
    found = ((name, lines) for name, lines in left.items() if lines)
    return [Mention(index.path, name, min(lines), len(lines)) for name, lines in found]


def as_outside(path: str, qualified: str) -> set[str]:
    """How :func:`mentions` names the import of an entity by a file that cannot know its place: by a
    search path that is set elsewhere, ``pkg/lib.py`` is ``lib`` or ``pkg.lib``.

    Args:
        path: the entity's file.
        qualified: its qualified name.
    """
    directory, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    module = directory.rpartition("/")[2] if stem in ("__init__", "index") else stem
    return {f"{module}:{qualified.partition('.')[0]}", f"{module}:*"}


def as_asked(name: str) -> str:
    """How :func:`mentions` names a member of what seems to be outside of the repository: an object
    of a class that is in it may stand in for that."""
    return f".{name}"


def _from_outside(engine: Engine, index: FileIndex) -> Iterator[tuple[str, int]]:
    """What a file takes from modules that are neither in the repository nor of the language."""
    if index.facts.language not in BY_SEARCH_PATH:
        return
    modules: dict[str, str] = {}
    for each, module in _outside(engine, index):
        yield f"{module}:{each.symbol or '*'}", each.line
        if not each.symbol:
            modules[each.alias or each.module] = module
    if modules:
        yield from _members(index, modules)


def _outside(engine: Engine, index: FileIndex) -> Iterator[tuple[Import, str]]:
    """The imports from such modules, each with the module's last name."""
    for each in _imports(index):
        if each.module and not each.level and engine.target(index, each).external:
            parts = [part for part in re.split(r"[./]", each.module) if part]
            if parts and parts[0].removeprefix("node:") not in _STANDARD:
                yield each, parts[-1]


def _members(index: FileIndex, modules: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The members of modules that a file names, where it imports the whole module."""
    for scope in index.scopes:
        for use in scope.uses:
            if type(use.of) is Attr and (module := modules.get(_dotted(use.of.of))):
                yield f"{module}:{use.of.name}", use.line


def _dotted(expr: Expr | None) -> str:
    """A chain of names as it is written, or ""."""
    names: list[str] = []
    while type(expr) is Attr:
        names.append(expr.name)
        expr = expr.of
    return ".".join([expr.id, *reversed(names)]) if type(expr) is Name else ""


def _imports(index: FileIndex) -> Iterator[Import]:
    return (each for scope in index.scopes for each in scope.imports)


def _account(
    engine: Engine, index: FileIndex, words: dict[str, list[int]], placed: Iterable[Place]
) -> None:
    """Remove the occurrences that define a name, import it or are explained by an edge."""
    for each in index.facts.definitions:
        _take(words, each.name, each.line, each.end_line)
    for name, line in placed:
        _take(words, name, line)
    for brought in _imports(index):
        if imported(engine, index, brought) or engine.target(index, brought).external:
            for name in _written(brought):
                _take(words, name, brought.line)


def _take(words: dict[str, list[int]], name: str, first: int, last: int = 0) -> None:
    """Remove one occurrence of a name: within these lines, or the nearest if only one line is
    given."""
    left = words.get(name)
    if not left:
        return
    inside = (at for at, line in enumerate(left) if first <= line <= (last or first))
    place = next(inside, None)
    if place is None:
        if last:
            return
        place = min(range(len(left)), key=lambda at: abs(left[at] - first))
    del left[place]


def _written(each: Import) -> Iterator[str]:
    """The names that occur in the text of an import."""
    yield from _PART.findall(each.module)
    if each.symbol not in ("", "*", "default"):
        yield each.symbol
    yield from {each.alias, each.exported} - {"", "*", each.symbol}


def _names(engine: Engine, index: FileIndex, each: Import) -> set[str]:
    """The names of an imported thing: in the import, and where it is defined."""
    if each.symbol in ("", "*"):
        return set()
    found = {each.symbol}
    if each.module or each.level:
        target = engine.target(index, each)
        for value in () if target.external else modules.module_member(engine, target, each.symbol):
            if isinstance(value, Class | Func):
                found.add(engine.there(value.path).scopes[value.scope].name)
    return found - {"", "default"}
