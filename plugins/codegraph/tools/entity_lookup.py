"""Resolves an agent's name for an entity to exactly that entity; guesses nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import ToolFailed
from plugins.codegraph.model import Entity, EntityKind, shown_key
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools import paths

MAX_CANDIDATES = 50
"""The most entities of an ambiguous name that an error lists, with the number of others."""
MAX_OTHERS = 10
"""The most entities of the same name that an answer mentions when it preferred one of them."""
MAX_NEAREST = 8
CALLABLE = (EntityKind.FUNCTION, EntityKind.METHOD)
TYPES = (EntityKind.CLASS, EntityKind.INTERFACE)


@dataclass(frozen=True, slots=True)
class Found:
    """What a name refers to.

    Attributes:
        entity: the entity; the longest of several that share name and file (overloads, a property
            and its setter).
        all: all of those, by line.
        others: other entities of that name, which were not preferred.
    """

    entity: Entity
    all: tuple[Entity, ...]
    others: tuple[Entity, ...] = ()

    @property
    def keys(self) -> list[int]:
        """The keys of ``all``."""
        return [each.key for each in self.all]

    @property
    def note(self) -> str | None:
        """What an answer says about ``others``, or None if there are none."""
        if not self.others:
            return None
        more = (
            f", and {len(self.others) - MAX_OTHERS} more" if len(self.others) > MAX_OTHERS else ""
        )
        return (
            f"Of that name are also, in tests or local to a function: "
            f"{_listed(self.others[:MAX_OTHERS])}{more}. Call again with file or a longer name for "
            "one of them."
        )


async def find(
    graph: Graph,
    name: str,
    file: str | None = None,
    kinds: Collection[EntityKind] = (),
    *,
    prefer: bool = False,
) -> Found:
    """Find the one entity with a name.

    Args:
        graph: where to look.
        name: its name, qualified or not; ``path::name``; or its key.
        file: its file, or the end of its path, as an agent writes it.
        kinds: the acceptable kinds; all if empty.
        prefer: whether, if no file is given, the only one that is neither in a test nor local to a
            function is preferred. The answer must then say so (``Found.note``).

    Raises:
        ToolFailed: there is none (the error lists similar ones), or there are several (it lists
            them).
    """
    name = name.strip()
    if not name:
        raise ToolFailed("bad_input", "The name is empty. Say what to look for.")
    found = await _matches(graph, name, file, kinds)
    if not found and "::" in name and file is None:
        path, _, rest = name.rpartition("::")
        found = await _matches(graph, rest, path, kinds)
        if not found and "::" in path:
            path, _, rest = name.partition("::")
            found = await _matches(graph, rest, path, kinds)
    if not found:
        raise await unknown(graph, name, file, kinds)
    meant = found
    if prefer and file is None and len(_places(found)) > 1:
        meant = await _outstanding(graph, found)
    if len(_places(meant)) != 1:
        raise _ambiguous(name, found)
    longest = max(meant, key=lambda each: (each.end_line - each.line, each.line))
    kept = {each.key for each in meant}
    return Found(longest, tuple(meant), tuple(each for each in found if each.key not in kept))


def _places(found: Sequence[Entity]) -> set[tuple[str, str, EntityKind]]:
    """The distinct entities: overloads, and the parts of a property, count as one."""
    return {(each.path, each.qualified, each.kind) for each in found}


async def _outstanding(graph: Graph, found: Sequence[Entity]) -> list[Entity]:
    """Those that other code can refer to: neither in a test nor local to a function."""
    some = [each for each in found if not (each.test or paths.is_test_file(each.path))]
    above = {each.key: each.parent for each in some}
    local: set[int] = set()
    while outer := await graph.entities({key for key in above.values() if key is not None}):
        around = {key: outer[at] for key, at in above.items() if at is not None and at in outer}
        local |= {key for key, each in around.items() if each.kind in CALLABLE}
        above = {key: each.parent for key, each in around.items() if key not in local}
    return [each for each in some if each.key not in local]


async def _matches(
    graph: Graph, name: str, file: str | None, kinds: Collection[EntityKind]
) -> list[Entity]:
    if file is None:
        as_path = paths.plain(name) if "\\" in name or "/" in name else name
        for each in paths.ends(as_path):
            if found := await graph.find(each, None, kinds):
                return found
        return []
    for path in paths.ends(paths.plain(file)):
        if found := await graph.find(name, path, kinds):
            return found
    return []


async def file_path(graph: Graph, file: str) -> str:
    """The path of the one file that an agent names, in the graph or skipped.

    Raises:
        ToolFailed: there is none, or there are several; the error lists the candidates.
    """
    plain = paths.plain(file)
    # A backslash may be part of a file name, so try the path as given first.
    for each in (file, *paths.ends(plain)):
        if each and await graph.file(each) is not None:
            return each
    found: list[Entity] = []
    for each in paths.ends(plain):
        found = await graph.find(each, None, (EntityKind.FILE,)) if each else []
        if found:
            break
    if len(found) == 1:
        return found[0].path
    if found:
        raise _ambiguous(file, found)
    raise await unknown(graph, file, None, (EntityKind.FILE,))


async def unknown(
    graph: Graph, name: str, file: str | None, kinds: Collection[EntityKind]
) -> ToolFailed:
    """The error for an unknown name, with the most similar ones."""
    elsewhere = await _matches(graph, name, None, kinds) if file else []
    bare = paths.plain(name).rpartition("::")[2] or name
    nearest = elsewhere or await graph.nearest(bare, MAX_NEAREST, kinds)
    if not nearest and kinds:
        nearest = await graph.nearest(bare, MAX_NEAREST)
    what = " or ".join(sorted(kind.value for kind in kinds)) or "entity"
    where = f" in {paths.plain(file)}" if file else ""
    text = f"There is no {what} named {name!r}{where} in {graph.repo.name}."
    if elsewhere:
        text += f" It is elsewhere: {_listed(elsewhere)}."
    elif nearest:
        text += f" The nearest are: {_listed(nearest)}."
    else:
        text += " Look for it with search_code or semantic_search."
    return ToolFailed("unknown_name", text, {"candidates": [candidate(each) for each in nearest]})


def _ambiguous(name: str, found: Sequence[Entity]) -> ToolFailed:
    shown = found[:MAX_CANDIDATES]
    more = f", and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return ToolFailed(
        "ambiguous_name",
        f"{name!r} may be {len(found)} things: {_listed(shown)}{more}. Call again with file, "
        "kind, a qualified name, or the key of one of them.",
        {"candidates": [candidate(each) for each in shown], "total": len(found)},
    )


def candidate(entity: Entity) -> dict[str, Any]:
    """The fields of an entity in an error."""
    return {
        "key": shown_key(entity.key),
        "name": entity.qualified,
        "kind": entity.kind.value,
        "file": entity.path,
        "line": entity.line,
    }


def _listed(found: Sequence[Entity]) -> str:
    return "; ".join(
        f"{each.kind.value} {each.qualified} ({each.path}:{each.line})"
        if each.kind is not EntityKind.FILE
        else f"file {each.path}"
        for each in found
    )
