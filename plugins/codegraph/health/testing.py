"""Testing gaps: the functions that no test reaches by calls and references, by area."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugins.codegraph.health.areas import Areas
from plugins.codegraph.health.code_base import CALLABLE, CodeBase, Flags
from plugins.codegraph.model import EdgeKind, EntityKind, Sort
from plugins.codegraph.store.codes import EDGE_CODES, edge_codes

_ALONG = (
    *edge_codes(EdgeKind.CALLS),
    *edge_codes(EdgeKind.REFERENCES, [each for each in Sort if each is not Sort.TYPE]),
)
"""The edges that a test reaches something along: what is named as a type does not run."""
_ABOVE = tuple(EDGE_CODES[kind] for kind in (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS))
_RUN_WITH_THE_CLASS = frozenset({"__init__", "__new__", "__post_init__", "constructor"})


@dataclass(frozen=True, slots=True)
class Area:
    """An area of the code, and how much of it tests reach.

    Attributes:
        name: its folder, or file.
        total: the number of its functions and methods.
        untested: those that no test reaches, by number, the most used first.
    """

    name: str
    total: int
    untested: Sequence[int]

    @property
    def tested(self) -> int:
        """How many of them a test reaches."""
        return self.total - len(self.untested)


def testing_gaps(code: CodeBase, areas: Areas) -> list[Area]:
    """The areas with functions that no test reaches, those with the most of them first.

    A test reaches what it calls or refers to, and so on from there; with a method also those that
    override it, and with a class what runs when it is constructed.
    """
    tested = reached(code)
    total: dict[str, int] = defaultdict(int)
    gaps: dict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(code.entities):
        if each.kind in CALLABLE and code.is_code(each) and not code.is_aside[at]:
            area = areas.of(each.path)
            total[area] += 1
            if not tested[at]:
                gaps[area].append(at)
    found = [
        Area(name, total[name], sorted(some, key=lambda at: (-code.fan_in[at], code.place(at))))
        for name, some in gaps.items()
    ]
    return sorted(found, key=lambda each: (-len(each.untested), each.name))


def reached(code: CodeBase) -> Flags:
    """Which entities tests reach."""
    wanted = np.isin(code.kind, _ALONG)
    order = np.argsort(code.source[wanted], kind="stable")
    source, target = code.source[wanted][order], code.target[wanted][order]
    starts = np.searchsorted(source, np.arange(len(code.entities) + 1))
    over = _overriding(code)
    found = code.is_test.copy()
    todo = np.flatnonzero(found).tolist()
    while todo:
        at = todo.pop()
        ahead = target[starts[at] : starts[at + 1]].tolist() + over.get(at, [])
        ahead += _run_with(code, at)
        for each in ahead:
            if not found[each]:
                found[each] = True
                todo.append(each)
    return found


def _run_with(code: CodeBase, at: int) -> list[int]:
    """What runs where a class is constructed."""
    if code.entities[at].kind is not EntityKind.CLASS:
        return []
    return [each for each in code.children[at] if code.entities[each].name in _RUN_WITH_THE_CLASS]


def _overriding(code: CodeBase) -> dict[int, list[int]]:
    """The methods that override each method, by its number."""
    below: dict[int, list[int]] = defaultdict(list)
    for edge in np.flatnonzero(np.isin(code.kind, _ABOVE)).tolist():
        below[int(code.target[edge])].append(int(code.source[edge]))
    found: dict[int, list[int]] = defaultdict(list)
    for above, classes in below.items():
        methods = {code.entities[each].name: each for each in code.children[above]}
        for each in (inner for one in classes for inner in code.children[one]):
            if (declared := methods.get(code.entities[each].name)) is not None:
                found[declared].append(each)
    return found
