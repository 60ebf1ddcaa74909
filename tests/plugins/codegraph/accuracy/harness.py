"""How right the edges are, measured on cases: directories of source files with ``expected.yaml``.

A case is ``accuracy/<language>/<category>/<name>/`` or ``accuracy/<language>/<category>/``. Its
``expected.yaml`` holds lists of edges by kind::

    calls:
      - "main.py -> lib.py::A.__init__"      # at file level the caller is the file
      - "main.py::f -> lib.py::A.m"
    extends: ["lib.py::B -> lib.py::A"]      # optional, as are implements and imports
    imports: ["main.py -> lib.py"]           # files, and where listed, what is imported
    unresolved: ["main.py::take"]            # optional: the names that must stay open in a file

A kind that is not listed is not judged. Edges are counted once a pair, however many sites.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from plugins.codegraph.model import EdgeKind, Entity, EntityKind
from tests.plugins.codegraph.linker.in_memory import LinkedRepo, link_tree

EXPECTED = "expected.yaml"
CASES = Path(__file__).parent
KINDS = ("calls", "extends", "implements", "imports")


@dataclass(slots=True)
class Score:
    """Edges that are right, wrong and missing."""

    right: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)

    @property
    def precision(self) -> float:
        found = len(self.right) + len(self.wrong)
        return len(self.right) / found if found else 1.0

    @property
    def recall(self) -> float:
        true = len(self.right) + len(self.missing)
        return len(self.right) / true if true else 1.0

    def add(self, other: Score) -> None:
        self.right |= other.right
        self.wrong |= other.wrong
        self.missing |= other.missing

    def __str__(self) -> str:
        true = len(self.right) + len(self.missing)
        return f"precision {self.precision:.3f} recall {self.recall:.3f} of {true} edges"


@dataclass(frozen=True, slots=True)
class Case:
    """One case; ``category`` is the directory under the language's."""

    root: Path
    language: str
    category: str

    @property
    def name(self) -> str:
        return self.root.relative_to(CASES).as_posix()

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.name != EXPECTED and "__pycache__" not in path.parts
        }

    def expected(self) -> dict[str, list[str]]:
        read = yaml.safe_load((self.root / EXPECTED).read_text())
        return {kind: [str(each) for each in edges or ()] for kind, edges in read.items()}


def cases(language: str = "") -> Iterator[Case]:
    """All cases, of one language if it is given."""
    for path in sorted(CASES.glob(f"{language or '*'}/**/{EXPECTED}")):
        parts = path.parent.relative_to(CASES).parts
        yield Case(path.parent, parts[0], parts[1])


def shown(entity: Entity) -> str:
    """An entity as ``expected.yaml`` names it."""
    if entity.kind is EntityKind.FILE:
        return entity.path
    return f"{entity.path}::{entity.qualified}"


def found_edges(linked: LinkedRepo, kind: EdgeKind) -> set[str]:
    """All edges of a kind, as ``expected.yaml`` writes them."""
    names = {entity.key: shown(entity) for entity in linked.entities}
    return {
        f"{names[edge.source]} -> {names[edge.target]}"
        for edge in linked.edges
        if edge.kind is kind
    }


def judge(case: Case) -> dict[str, Score]:
    """The scores of one case by kind of edge."""
    linked = link_tree("case", case.files())
    expected = case.expected()
    return {
        kind: _score(case, set(expected[kind]), found_edges(linked, EdgeKind(kind)))
        for kind in KINDS
        if kind in expected
    }


def _score(case: Case, true: set[str], found: set[str]) -> Score:
    named = {each: f"{case.name}: {each}" for each in true | found}
    return Score(
        right={named[each] for each in true & found},
        wrong={named[each] for each in found - true},
        missing={named[each] for each in true - found},
    )


def measure(chosen: Iterable[Case]) -> dict[tuple[str, str, str], Score]:
    """The scores by language, kind of edge and category; category "" is all of them."""
    scores: dict[tuple[str, str, str], Score] = defaultdict(Score)
    for case in chosen:
        for kind, score in judge(case).items():
            scores[case.language, kind, case.category].add(score)
            scores[case.language, kind, ""].add(score)
    return dict(scores)


def report(scores: dict[tuple[str, str, str], Score]) -> str:
    """The scores as lines of text, with what is wrong and missing."""
    lines = []
    for (language, kind, category), score in sorted(scores.items()):
        lines.append(f"{language} {kind} {category or 'all'}: {score}")
    for (language, kind, category), score in sorted(scores.items()):
        if not category:
            lines += [f"  wrong   {language} {kind} {each}" for each in sorted(score.wrong)]
            lines += [f"  missing {language} {kind} {each}" for each in sorted(score.missing)]
    return "\n".join(lines)
