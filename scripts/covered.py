"""How much of the knowledge plugin its tests run, as the Knowledge Provider protocol asks.

``python scripts/covered.py`` reads what pytest-cov left (``[tool.coverage]`` in
``pyproject.toml``), prints the protocol's table ("Test Coverage") with each figure beside its
target, and ends with 1 where a component is below. `make coverage` runs the tests first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGIN = "plugins/knowledge"


@dataclass(frozen=True, slots=True)
class Component:
    """A row of the protocol's table.

    Attributes:
        name: as the protocol calls it.
        target: percent of its lines; the highest of the row's targets.
        files: patterns of paths in the plugin.
    """

    name: str
    target: int
    files: tuple[str, ...]


COMPONENTS = (
    Component(
        "Data Models",
        95,
        (
            *("memory/entries.py", "memory/records.py", "memory/requests.py"),
            *("memory/responses.py", "memory/api/requests.py"),
            *("notes/content.py", "notes/documents.py", "results.py", "config.py"),
        ),
    ),
    Component(
        "API Endpoints",
        85,
        (
            *("memory/api/*", "memory/*tools.py", "tools.py", "api.py", "resources.py"),
            *("prompts.py", "completion.py", "offer.py", "plugin.py", "commands*"),
        ),
    ),
    Component("Database Layer", 85, ("memory/store/*", "store.py", "migrations/*")),
    Component(
        "Vector DB Layer",
        85,
        (
            *("memory/vectors.py", "memory/embedding.py", "retrieval/embeddings.py"),
            *("retrieval/ind*.py", "retrieval/inventory.py", "retrieval/points.py"),
        ),
    ),
    Component(
        "Query Engine",
        90,
        (
            *("memory/querying.py", "memory/asking.py", "memory/gathering.py"),
            *("memory/ranking.py", "memory/similarity.py", "memory/highlights.py"),
            *("memory/layers/*", "retrieval/*", "knowledge.py", "lexicon.py", "overview.py"),
        ),
    ),
    Component("Business Logic", 90, ("*",)),
)
"""A file belongs to the first that names it."""


def component_of(path: str) -> Component:
    """Which component a file is part of.

    Args:
        path: below the plugin's folder.
    """
    return next(
        each for each in COMPONENTS if any(fnmatch(path, pattern) for pattern in each.files)
    )


def shares(covered: Mapping[str, tuple[int, int]]) -> dict[Component, float]:
    """The percentage of lines that ran, by component.

    Args:
        covered: lines that ran, and all lines, by the file's path below the plugin's folder.
    """
    sums: defaultdict[Component, list[int]] = defaultdict(lambda: [0, 0])
    for path, (ran, lines) in covered.items():
        total = sums[component_of(path)]
        total[0] += ran
        total[1] += lines
    return {each: 100 * ran / lines for each, (ran, lines) in sums.items() if lines}


def table(found: Mapping[Component, float]) -> tuple[str, bool]:
    """The figures in markdown, and whether each component reaches its target."""
    lines = ["| component | target | covered |", "|---|---|---|"]
    for each in COMPONENTS:
        figure = found.get(each)
        said = "nothing measured" if figure is None else f"{figure:.1f}%"
        lines.append(f"| {each.name} | {each.target}% | {said} |")
    return "\n".join(lines), all(found.get(each, 0) >= each.target for each in COMPONENTS)


def measured() -> Iterator[tuple[str, tuple[int, int]]]:
    """Each file of the plugin, with its lines that ran and all of its lines."""
    from coverage import Coverage

    coverage = Coverage(config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    for path in sorted((ROOT / PLUGIN).rglob("*.py")):
        _, lines, _, missing, _ = coverage.analysis2(str(path))
        within = path.relative_to(ROOT / PLUGIN).as_posix()
        yield within, (len(lines) - len(missing), len(lines))


def main() -> None:
    """Print the table."""
    told, good = table(shares(dict(measured())))
    print(told)
    if not good:
        raise SystemExit("A component is below its target: test what it does not run.")


if __name__ == "__main__":
    main()
