"""Circular dependencies: files that import each other in a circle, and how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.health.components import cycles, shortest_cycle
from plugins.codegraph.health.syntax import ImportTime, import_times
from plugins.codegraph.health.syntax_tables import IMPORTS
from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.codes import EDGE_CODES

At = Literal["import time", "later", "types"]
_WORDS: Mapping[ImportTime, At] = {
    ImportTime.LOADING: "import time",
    ImportTime.LATER: "later",
    ImportTime.NEVER: "types",
}
Links = Mapping[str, Mapping[str, Sequence[int]]]
"""The lines at which each file imports each other file."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Files that import each other in a circle.

    Attributes:
        way: the shortest way round; the last leads to the first.
        lines: the line of each file of the way that imports the next.
        files: all files of the circle.
        at: when they load each other.
    """

    way: Sequence[str]
    lines: Sequence[int]
    files: Sequence[str]
    at: At


def import_links(code: CodeBase) -> Links:
    """The imports between files of the repository that are no tests."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for edge in np.flatnonzero(code.kind == EDGE_CODES[EdgeKind.IMPORTS]).tolist():
        source, target = int(code.source[edge]), int(code.target[edge])
        here, there = code.entities[source].path, code.entities[target].path
        if here != there and not (code.is_aside[source] or code.is_aside[target]):
            found[here][there].append(int(code.line[edge]))
    return found


def circular_dependencies(code: CodeBase, links: Links) -> list[Loop]:
    """The circles of imports: those at import time first, the largest first.

    A circle that types or functions alone close is told apart: it is one that is there with these
    imports and not without them.

    Args:
        code: the repository.
        links: its imports (:func:`import_links`).
    """
    among = {path for each in cycles(links) for path in each}
    times = _times(code, links, among)
    found: list[Loop] = []
    covered: set[frozenset[str]] = set()
    for latest in ImportTime:
        graph = _until(times, latest)
        for each in cycles(graph):
            files = frozenset(each)
            if any(files & known for known in covered):
                continue
            covered.add(files)
            found.append(_loop(graph, files, times, links, latest))
    return sorted(found, key=lambda each: (_ORDER[each.at], -len(each.files), each.way))


_ORDER = {word: time for time, word in _WORDS.items()}
Times = Mapping[str, Mapping[str, ImportTime]]


def _times(code: CodeBase, links: Links, among: Collection[str]) -> Times:
    """When each file of a circle loads each other one: the strongest of its imports."""
    found: dict[str, dict[str, ImportTime]] = {}
    for path in sorted(among):
        report = code.reports.get(path)
        language = "" if report is None else report.language
        if language not in IMPORTS:
            continue
        lines = import_times(language, path, code.text(path))
        found[path] = {
            there: strongest(lines, at)
            for there, at in sorted(links[path].items())
            if there in among
        }
    return found


def strongest(times: Mapping[int, ImportTime], lines: Sequence[int]) -> ImportTime:
    """When imports at some lines of a file load another one: the strongest of them."""
    return min(times.get(line, ImportTime.LOADING) for line in lines)


def _until(times: Times, latest: ImportTime) -> dict[str, list[str]]:
    return {
        here: [there for there, time in each.items() if time <= latest]
        for here, each in times.items()
    }


def _loop(
    graph: Mapping[str, Collection[str]],
    files: Collection[str],
    times: Times,
    links: Links,
    latest: ImportTime,
) -> Loop:
    ways = [shortest_cycle(graph, files, start) for start in sorted(files)[:50]]
    way = min((each for each in ways if each), key=lambda each: (len(each), each))
    ahead = [*way[1:], way[0]]
    lines = [min(links[here][there]) for here, there in zip(way, ahead, strict=True)]
    return Loop(way, lines, sorted(files), _WORDS[latest])
