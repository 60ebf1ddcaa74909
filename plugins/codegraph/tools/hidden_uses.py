"""Uses that no name in the code tells of: by a framework, by the compiler, or by what is loaded."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from posixpath import dirname

from plugins.codegraph.model import EdgeKind, Entity, EntityKind, Sort
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.entity_detail import INHERITS
from plugins.codegraph.tools.entity_lookup import TYPES

LOADS = re.compile(rb"\bimport\(")
"""What loads a file when the program runs, in TypeScript and JavaScript."""
SCRIPTS = frozenset({"typescript", "javascript"})


async def hidden_uses(
    graph: Graph, entity: Entity, within: Collection[int], lines: Sequence[str]
) -> list[str]:
    """Why something that nothing in the graph uses may be used without a name.

    Args:
        graph: where it is.
        entity: the entity.
        within: the keys of it and of everything in it.
        lines: the lines of its file.
    """
    found = [
        *await _loaded(graph, entity),
        *await _variants(graph, entity, within),
        *await _of_handed(graph, entity),
    ]
    if entity.language in SCRIPTS and _augments(entity, lines):
        found.append("It adds to what is declared elsewhere: the compiler takes both together.")
    return found


async def _loaded(graph: Graph, entity: Entity) -> list[str]:
    """The doubt that what a file exports is used where the file is loaded when a program runs."""
    if entity.language not in SCRIPTS or not entity.exported or entity.parent is None:
        return []
    files = [each.key for each in await graph.in_file(entity.path) if each.parent is None]
    if entity.parent not in files:
        return []
    for each in (await graph.walk(files, EdgeKind.IMPORTS, True)).reached:
        text = (await graph.source(each.path) or b"").split(b"\n")
        if LOADS.search(text[min(each.line, len(text)) - 1]):
            return [f"Its file is loaded at {each.path}:{each.line}, which may use its exports."]
    return []


async def _variants(graph: Graph, entity: Entity, within: Collection[int]) -> list[str]:
    """The doubt that a Go function is one of several of a package, chosen when it is built."""
    if entity.language != "go" or entity.kind is EntityKind.METHOD:
        return []
    folder = dirname(entity.path)
    for each in await graph.find(entity.name, None, (EntityKind.FUNCTION, EntityKind.VARIABLE)):
        if each.key not in within and not each.test and dirname(each.path) == folder:
            return [f"{each.path}:{each.line} has the same name in its package, for other builds."]
    return []


async def _of_handed(graph: Graph, entity: Entity) -> list[str]:
    """The doubt that a method's class is handed to something that calls its methods."""
    parents = await graph.entities([] if entity.parent is None else [entity.parent])
    around = next(iter(parents.values()), None)
    if entity.kind is not EntityKind.METHOD or around is None or around.kind not in TYPES:
        return []
    below = await graph.walk([around.key], INHERITS, True, depth=5)
    family = [around, *(each.entity for each in below.reached)]
    keys = [each.key for each in family]
    handed = await graph.uses(keys, EdgeKind.REFERENCES, (Sort.VALUE,), limit=1)
    named = await graph.mentions([each.name for each in family])
    places = [f"{each.path}:{each.line}" for each in handed.reached]
    places += [f"{each.path}:{each.line}" for each in named]
    return [f"Its class is handed on at {at}: its methods may be called." for at in places[:1]]


def _augments(entity: Entity, lines: Sequence[str]) -> bool:
    """Whether a type stands within ``declare global`` or ``declare module``."""
    if entity.kind not in TYPES or entity.line > len(lines):
        return False
    depth = _indent(lines[entity.line - 1])
    outer = (each for each in reversed(lines[: entity.line - 1]) if each.strip())
    around = next((each for each in outer if _indent(each) < depth), "")
    return around.lstrip().startswith(("declare global", "declare module"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
