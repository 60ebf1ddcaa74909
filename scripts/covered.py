"""How much of each package the tests run, and of the knowledge plugin by component.

``python scripts/covered.py`` reads what pytest-cov left (``[tool.coverage]`` in
``pyproject.toml``) and prints two tables: the packages, where lines and branches count, and the
components of the Knowledge Provider protocol ("Test Coverage"), where lines do. It ends with 1
and the names where a figure is below its floor. `make coverage` runs the tests first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from fnmatch import fnmatch
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGIN = "plugins/knowledge"
FLOORS = {"auth": 95, "gateway": 95}
"""Percent of a package's lines and branches; one without a floor is measured all the same."""


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
            *("memory/model/*", "memory/api/requests.py"),
            *("notes/content.py", "notes/content_types.py", "notes/documents.py"),
            *("results.py", "config.py"),
        ),
    ),
    Component(
        "API Endpoints",
        85,
        (
            *("memory/api/*", "memory/tools/*", "tools.py", "api.py", "resources.py"),
            *("prompts.py", "completion.py", "offer.py", "plugin.py", "commands*"),
        ),
    ),
    Component(
        "Vector DB Layer",
        85,
        (
            *("memory/store/vectors.py", "memory/write/embedding.py", "retrieval/embeddings.py"),
            *("retrieval/index*.py", "retrieval/points.py"),
        ),
    ),
    Component("Database Layer", 85, ("memory/store/*", "store.py", "migrations/*")),
    Component(
        "Query Engine",
        90,
        (
            *("memory/query/*", "memory/layers/*", "retrieval/*"),
            *("memory/algorithms/relevance.py", "memory/algorithms/similarity.py"),
            *("knowledge.py", "lexicon.py", "overview.py"),
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


def packages() -> list[str]:
    """Every package that is measured: those at the top, and each plugin."""
    plugins = sorted(each.parent.name for each in (ROOT / "plugins").glob("*/__init__.py"))
    return ["auth", "gateway", *(f"plugins/{each}" for each in plugins)]


def branches() -> dict[str, float]:
    """The percentage of lines and branches that ran, by package."""
    from coverage import Coverage

    coverage = Coverage(config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    with redirect_stdout(StringIO()):
        return {each: coverage.report(include=[f"{each}/*"]) for each in packages()}


def package_table(found: Mapping[str, float]) -> tuple[str, list[str]]:
    """The figures in markdown, and the packages below their floors."""
    lines = ["| package | floor | covered |", "|---|---|---|"]
    for name, figure in found.items():
        floor = f"{FLOORS[name]}%" if name in FLOORS else ""
        lines.append(f"| {name} | {floor} | {figure:.1f}% |")
    return "\n".join(lines), [name for name, floor in FLOORS.items() if found.get(name, 0) < floor]


def main() -> None:
    """Print the tables."""
    figures, below = package_table(branches())
    told, good = table(shares(dict(measured())))
    print(f"{figures}\n\n{told}")
    below += [] if good else ["a component of the protocol"]
    if below:
        raise SystemExit(f"Below the floor: {', '.join(below)}. Test what does not run.")


if __name__ == "__main__":
    main()
