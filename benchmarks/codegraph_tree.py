"""A graph of 100,000 entities and 500,000 edges, made up, with the shape of a real one.

How often something is called follows a power law: most functions have a caller or two, a few have
thousands. Calls stay mostly near: in the file, then in the package.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from plugins.codegraph.model import (
    Edge,
    EdgeKind,
    Entity,
    EntityKind,
    FileReport,
    Strategy,
    Unresolved,
    entity_key,
)
from plugins.codegraph.store.rows import FileGraph

VERBS = tuple(
    "get set load save parse build find add remove update check open close read write make".split()  # noqa: SIM905
)
SYLLABLES = ("ba", "co", "der", "fil", "gra", "ho", "in", "ku", "lam", "mon", "ner", "por", "ta")
NOUNS = tuple(
    first + second + third
    for first in SYLLABLES
    for second in SYLLABLES
    for third in (*SYLLABLES, "")
)
"""2,366 words. A real vocabulary has as many, and its words are as unevenly used (``_noun``)."""
SUFFIXES = ("", "", "", "_by_id", "_for_user", "_from_file", "_or_none", "_async", "_list")


def made(repo: str, files: int, each: int, edges: int, seed: int = 7) -> Iterator[FileGraph]:
    """Make the files of a graph.

    Args:
        repo: the repository's id.
        files: how many files.
        each: how many entities a file has besides itself.
        edges: how many edges there are, about.
        seed: what the random choices follow from.
    """
    chance = random.Random(seed)
    paths = [_path(chance, at) for at in range(files)]
    names = [[_name(chance) for _ in range(each)] for _ in range(files)]
    keys = [
        [_key(repo, path, f"{name}_{at}") for at, name in enumerate(own)]
        for path, own in zip(paths, names, strict=True)
    ]
    flat = [key for own in keys for key in own]
    popular = chance.sample(flat, len(flat) // 50)
    calls = max(1, (edges - files * each - files * 4) // (files * each))
    for at, path in enumerate(paths):
        yield _file(chance, repo, path, names[at], keys, at, (popular, flat, calls, paths))


def _file(
    chance: random.Random,
    repo: str,
    path: str,
    names: Sequence[str],
    keys: Sequence[Sequence[int]],
    at: int,
    shape: tuple[Sequence[int], Sequence[int], int, Sequence[str]],
) -> FileGraph:
    popular, flat, calls, paths = shape
    file = entity_key(repo, path, EntityKind.FILE, path, "")
    entities = [
        Entity(file, EntityKind.FILE, path.rpartition("/")[2], path, path, "python", 1, 999)
    ]
    edges = []
    near = [key for other in keys[max(0, at - 5) : at + 6] for key in other]
    for line, (name, key) in enumerate(zip(names, keys[at], strict=True), start=1):
        own = f"{name}_{line - 1}"
        entities.append(
            Entity(
                *(key, EntityKind.FUNCTION, own, own, path, "python", 10 * line, 10 * line + 8),
                *(_signature(own), _doc(chance), True, file),
            )
        )
        edges.append(Edge(EdgeKind.CONTAINS, file, key, path, 10 * line, Strategy.SYNTAX))
        for _ in range(calls + 1):
            target = _target(chance, keys[at], near, popular, flat)
            edges.append(Edge(EdgeKind.CALLS, key, target, path, 10 * line + 2, Strategy.IMPORT))
    for other in chance.sample(paths, 4):
        target = entity_key(repo, other, EntityKind.FILE, other, "")
        edges.append(Edge(EdgeKind.IMPORTS, file, target, path, 1, Strategy.IMPORT))
    report = FileReport(path, f"{at:064x}", "python", 10 * len(names), 400 * len(names))
    unknown = [Unresolved(path, chance.choice(VERBS), 5, 3)]
    return FileGraph(report, 1, at, entities, edges, unknown, "i", "", b"")


def _target(
    chance: random.Random,
    own: Sequence[int],
    near: Sequence[int],
    popular: Sequence[int],
    flat: Sequence[int],
) -> int:
    draw = chance.random()
    if draw < 0.35:
        return chance.choice(own)
    if draw < 0.65:
        return chance.choice(near)
    if draw < 0.9:
        # The n-th most popular one is called 1/n as often as the first.
        return popular[int(len(popular) ** chance.random()) - 1]
    return chance.choice(flat)


def _path(chance: random.Random, at: int) -> str:
    return f"src/{_noun(chance)}/{_noun(chance)}/{chance.choice(VERBS)}_{at}.py"


def _noun(chance: random.Random) -> str:
    """A word: the n-th one about 1/n as often as the first."""
    return NOUNS[int(len(NOUNS) ** chance.random()) - 1]


def _name(chance: random.Random) -> str:
    verb, noun, suffix = _verb(chance), _noun(chance), chance.choice(SUFFIXES)
    return f"{verb}_{noun}{suffix}" if chance.random() < 0.7 else f"{verb}{noun.title()}"


def _verb(chance: random.Random) -> str:
    """Half of all names begin with a verb, the n-th about 1/n as often as the first."""
    known = VERBS[int(len(VERBS) ** chance.random()) - 1]
    return known if chance.random() < 0.5 else _noun(chance)


def _doc(chance: random.Random) -> str:
    if chance.random() < 0.4:
        return ""
    return f"{_verb(chance)} the {_noun(chance)} of this {_noun(chance)} for {_noun(chance)}"


def _key(repo: str, path: str, name: str) -> int:
    return entity_key(repo, path, EntityKind.FUNCTION, name, _signature(name))


def _signature(name: str) -> str:
    """A signature that follows from the name, and has a word of its own."""
    return f"def {name}({NOUNS[sum(name.encode()) * 37 % len(NOUNS)]}: str) -> Result"
