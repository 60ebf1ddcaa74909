"""Complexity hotspots: functions with many ways through them, on which others depend."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plugins.codegraph.health.code_base import CALLABLE, CodeBase
from plugins.codegraph.health.syntax import branch_lines
from plugins.codegraph.health.syntax_tables import BRANCHES

LIMIT = 15
"""The complexity above which a function is a hotspot: McCabe's ten, with room for guards."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A function with its figures.

    Attributes:
        number: the entity's number.
        complexity: its cyclomatic complexity: 1, and 1 for each branch.
        lines: its lines.
        fan_in: how many others call or refer to it.
    """

    number: int
    complexity: int
    lines: int
    fan_in: int

    @property
    def score(self) -> float:
        """How much it matters: complexity, weighed by its length and by who depends on it."""
        return self.complexity * math.log1p(self.lines) * (1 + math.log1p(self.fan_in))


def measured(code: CodeBase) -> list[Measured]:
    """Every function and method of the repository that is no test, by its score, highest first."""
    found = []
    for path, numbers in code.by_path.items():
        functions = [
            at for at in numbers if code.entities[at].kind in CALLABLE and not code.is_aside[at]
        ]
        language = code.reports[path].language if path in code.reports else ""
        if not functions or language not in BRANCHES:
            continue
        branches = branches_of(code, functions, branch_lines(language, path, code.text(path)))
        for at in functions:
            entity = code.entities[at]
            lines = entity.end_line - entity.line + 1
            found.append(Measured(at, 1 + branches[at], lines, int(code.fan_in[at])))
    return sorted(found, key=lambda each: (-each.score, code.place(each.number)))


def branches_of(
    code: CodeBase, functions: Sequence[int], lines: Sequence[int]
) -> Mapping[int, int]:
    """How many of the branches are in each function, each in the innermost around it.

    Args:
        code: the repository.
        functions: the functions of one file, by their first line.
        lines: the lines of the branches.
    """
    counts: Counter[int] = Counter()
    firsts = [code.entities[at].line for at in functions]
    for line in lines:
        at = bisect_right(firsts, line) - 1
        while at >= 0 and code.entities[functions[at]].end_line < line:
            at -= 1
        if at >= 0:
            counts[functions[at]] += 1
    return counts
