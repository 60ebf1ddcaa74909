"""Testing gaps: the functions that no test reaches by calls and references, by area."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugins.codegraph.health.areas import Areas
from plugins.codegraph.health.code_base import CALLABLE, CodeBase, Flags
from plugins.codegraph.model import EdgeKind, EntityKind, Sort
from plugins.codegraph.store.codes import EDGE_CODES, edge_codes
from plugins.codegraph.tools.doubts import is_run_by_name

_ALONG = (
    *edge_codes(EdgeKind.CALLS),
    *edge_codes(EdgeKind.REFERENCES, [each for each in Sort if each is not Sort.TYPE]),
)
"""The edges that a test reaches something along: what is named as a type does not run."""
_ABOVE = tuple(EDGE_CODES[kind] for kind in (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS))
_SENDS = re.compile(
    rb"test_client|TestClient|APIClient|client\.(?:get|post|put|patch|delete|request)\(|supertest"
    rb"|httptest|MockMvc|WebTestClient|TestRestTemplate|cy\.(?:visit|request)|\.inject\("
)
"""What sends a request to a program in a test."""
_DRIVES = re.compile(rb"\bcy\.|playwright|puppeteer|selenium|webdriver|page\.goto\(")
"""What drives a browser in a test."""


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
    override it, and with a class what runs when it is constructed. What an interface declares and
    what runs by its name are left out, and so is everything where there is no test: the tests of
    such a repository lie elsewhere.
    """
    if not code.is_test.any():
        return []
    tested = reached(code)
    total: dict[str, int] = defaultdict(int)
    gaps: dict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(code.entities):
        if _is_to_test(code, at):
            area = areas.of(each.path)
            total[area] += 1
            if not tested[at]:
                gaps[area].append(at)
    found = [
        Area(name, total[name], sorted(some, key=lambda at: (-code.fan_in[at], code.place(at))))
        for name, some in gaps.items()
    ]
    return sorted(found, key=lambda each: (-len(each.untested), each.name))


def _is_to_test(code: CodeBase, at: int) -> bool:
    """Whether a test can be asked for: it is a function with a body that somebody calls by name."""
    entity, parent = code.entities[at], int(code.parent[at])
    declared = parent >= 0 and code.entities[parent].kind is EntityKind.INTERFACE
    return (
        entity.kind in CALLABLE
        and code.is_code(entity)
        and not code.is_aside[at]
        and not declared
        and not is_run_by_name(entity.name)
    )


def reached(code: CodeBase) -> Flags:
    """Which entities tests reach."""
    wanted = np.isin(code.kind, _ALONG)
    order = np.argsort(code.source[wanted], kind="stable")
    source, target = code.source[wanted][order], code.target[wanted][order]
    starts = np.searchsorted(source, np.arange(len(code.entities) + 1))
    over = _overriding(code)
    found = code.is_test.copy()
    found[[*_run_on_import(code), *_unseen(code)]] = True
    todo = np.flatnonzero(found).tolist()
    while todo:
        at = todo.pop()
        ahead = target[starts[at] : starts[at + 1]].tolist() + over.get(at, [])
        ahead += [*_run_with(code, at)]
        for each in ahead:
            if not found[each]:
                found[each] = True
                todo.append(each)
    return found


def _run_on_import(code: CodeBase) -> list[int]:
    """What the files call or take at their top level that tests import, or that those import."""
    whole = {path: numbers[0] for path, numbers in code.by_path.items()}
    ahead: dict[int, list[int]] = defaultdict(list)
    for edge in np.flatnonzero(code.kind == EDGE_CODES[EdgeKind.IMPORTS]).tolist():
        here, there = (code.entities[int(ends[edge])].path for ends in (code.source, code.target))
        ahead[whole[here]].append(whole[there])
    loaded = {number for number in whole.values() if code.is_test[number]}
    todo = list(loaded)
    while todo:
        new = set(ahead.get(todo.pop(), ())) - loaded
        loaded |= new
        todo += new
    calls = np.isin(code.kind, _ALONG) & np.isin(code.source, list(loaded))
    found: list[int] = code.target[calls].tolist()
    return found


def _unseen(code: CodeBase) -> list[int]:
    """What tests may reach without a call: what serves routes, where they send requests, and the
    components, where they drive a browser."""
    tests = {each.path for at, each in enumerate(code.entities) if code.is_test[at]}
    texts = [code.text(path) for path in sorted(tests)]
    found: list[int] = []
    if any(_SENDS.search(text) for text in texts):
        served = (each.entity for each in code.layer.endpoints if each.serves)
        found += [code.number[each] for each in served if each in code.number]
    if any(_DRIVES.search(text) for text in texts):
        components = (path for path in code.by_path if path.endswith((".tsx", ".jsx")))
        found += [at for path in components for at in code.by_path[path]]
    return found


def _run_with(code: CodeBase, at: int) -> Sequence[int]:
    """What runs without its name where a class is used, or the object around it is taken."""
    kind = code.entities[at].kind
    if kind is EntityKind.VARIABLE:
        return code.children[at]
    if kind is not EntityKind.CLASS:
        return ()
    names = ((each, code.entities[each].name) for each in code.children[at])
    return [each for each, name in names if name == "constructor" or name.startswith("__")]


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
