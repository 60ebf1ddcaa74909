"""Architecture drift: packages that reach past each other, by the direction of their imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from plugins.codegraph.health.areas import Areas
from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.health.cycles import Links, strongest
from plugins.codegraph.health.syntax import ImportTime, import_times

_CLEAR = 2.0
"""How many times as many imports go one way than the other, for the few to go against it."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Two packages that import each other.

    Attributes:
        lower: the one that more imports lead to.
        upper: the other one; its imports of ``lower`` are the direction of most.
        along: how many imports go in that direction.
        against: the others, as (file, line, imported file), by place.
    """

    lower: str
    upper: str
    along: int
    against: Sequence[tuple[str, int, str]]

    @property
    def is_clear(self) -> bool:
        """Whether most imports go one way, so that the others are the exception."""
        return self.along >= _CLEAR * len(self.against)


def architecture_drift(code: CodeBase, links: Links, areas: Areas) -> tuple[list[Drift], int]:
    """The packages that import each other, and how many imports there are between packages.

    An import counts once for each two files. Files that lie beside the packages are left out, and
    so are imports that are for types only.

    Args:
        code: the repository.
        links: the imports between its files.
        areas: names the package of a file.
    """
    between: dict[tuple[str, str], list[tuple[str, int, str]]] = defaultdict(list)
    folders = {path: areas.of(path) for path in code.by_path}
    for here, ahead in links.items():
        for there, lines in ahead.items():
            one, other = folders.get(here, here), folders.get(there, there)
            if one not in (other, here) and other != there:
                between[one, other].append((here, min(lines), there))
    found = []
    for (upper, lower), along in between.items():
        against = [each for each in between.get((lower, upper), ()) if _runs(code, links, each)]
        if against and (len(along), upper) > (len(against), lower):
            found.append(Drift(lower, upper, len(along), sorted(against)))
    found.sort(key=lambda each: (not each.is_clear, -each.along, each.lower))
    return found, sum(map(len, between.values()))


def _runs(code: CodeBase, links: Links, found: tuple[str, int, str]) -> bool:
    """Whether a program runs an import: it is not for types only."""
    here, _, there = found
    language = code.reports[here].language if here in code.reports else ""
    times = import_times(language, here, code.text(here))
    return strongest(times, links[here][there]) is not ImportTime.NEVER
