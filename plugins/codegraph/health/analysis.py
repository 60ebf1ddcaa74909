"""Makes a report: reads a repository at once, runs each analysis over it, and sums up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.contract import Database
from gateway.toolkit.counts import counted
from plugins.codegraph.health import (
    advice,
    cycles,
    drift,
    duplicates,
    exports,
    findings,
    hotspots,
    score,
    testing,
    wider_findings,
)
from plugins.codegraph.health.areas import NEARLY_ALL, Areas
from plugins.codegraph.health.churn import churn
from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.health.cycles import Loop
from plugins.codegraph.health.dead_code import Dead, dead_code
from plugins.codegraph.health.drift import Drift
from plugins.codegraph.health.duplicates import Cluster
from plugins.codegraph.health.hotspots import LIMIT, Measured
from plugins.codegraph.health.loaded_graph import LoadedGraph
from plugins.codegraph.health.report import HealthReport, ScorePart, Section, Sections
from plugins.codegraph.health.testing import Area
from plugins.codegraph.health.visibility import Outside
from plugins.codegraph.model import EntityKind
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.whole_layer import whole_layer
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES


@dataclass(frozen=True, slots=True)
class Analysed:
    """What the analyses found in a repository.

    Attributes:
        code: the repository.
        dead: dead code.
        loops: circles of imports.
        measured: every function, with its figures.
        drifts: packages that import each other, and how many imports there are between packages.
        areas: areas with functions that no test reaches.
        copies: functions that are nearly the same, and how many were compared.
        exports: what is exported for nobody, by number, and how much is exported.
    """

    code: CodeBase
    dead: Sequence[Dead]
    loops: Sequence[Loop]
    measured: Sequence[Measured]
    drifts: tuple[Sequence[Drift], int]
    areas: Sequence[Area]
    copies: tuple[Sequence[Cluster], int]
    exports: tuple[Sequence[int], int]

    @property
    def hot(self) -> list[Measured]:
        """The functions above the limit of complexity."""
        return [each for each in self.measured if each.complexity > LIMIT]


async def health_report(
    database: Database, view: RepositoryView, root: Path | None = None
) -> HealthReport:
    """The health of a repository as it is served, without uncommitted work.

    The analyses run in a thread, so that others are answered meanwhile.

    Args:
        database: the plugin's database.
        view: the repository.
        root: its files, for Git's history; None for none.
    """
    layer = await whole_layer(database, view)
    found = await asyncio.to_thread(lambda: asyncio.run(analysed(database, view, CodeBase(layer))))
    files = dict.fromkeys(found.code.entities[each.number].path for each in found.hot)
    changed = await churn(root, list(files)[: findings.KEPT])
    return await asyncio.to_thread(_report, view.name, found, changed)


async def analysed(database: Database, view: RepositoryView, code: CodeBase) -> Analysed:
    """Run every analysis; asks the database for nothing."""
    graph, outside = LoadedGraph(code, database, view), Outside(code)
    links = cycles.import_links(code)
    paths = (each.path for at, each in enumerate(code.entities) if not code.is_aside[at])
    files = {path for path in paths if code.is_code(code.entities[code.by_path[path][0]])}
    dead = await dead_code(code, graph, outside)
    gone = code.within([code.number[each.entity.key] for each in dead])
    return Analysed(
        code=code,
        dead=dead,
        loops=cycles.circular_dependencies(code, links),
        measured=hotspots.measured(code),
        drifts=drift.architecture_drift(code, links, Areas(files, NEARLY_ALL)),
        areas=testing.testing_gaps(code, Areas(files)),
        copies=duplicates.duplicates(code),
        exports=exports.unused_exports(code, outside, gone),
    )


def _report(name: str, found: Analysed, churned: dict[str, int]) -> HealthReport:
    parts = {each.section: each for each in _parts(found)}
    sections = Sections(
        architecture_drift=wider_findings.architecture_drift(
            found.drifts[0], parts[Section.ARCHITECTURE_DRIFT]
        ),
        testing_gaps=wider_findings.testing_gaps(
            found.code, found.areas, parts[Section.TESTING_GAPS]
        ),
        duplicate_logic=wider_findings.duplicate_logic(
            found.code, found.copies[0], parts[Section.DUPLICATE_LOGIC]
        ),
        unused_exports=wider_findings.unused_exports(
            found.code, found.exports[0], parts[Section.UNUSED_EXPORTS]
        ),
        dead_code=findings.dead_code(found.dead, parts[Section.DEAD_CODE]),
        circular_dependencies=findings.circular_dependencies(
            found.loops, parts[Section.CIRCULAR_DEPENDENCIES]
        ),
        complexity_hotspots=findings.complexity_hotspots(
            found.code, found.hot, churned, parts[Section.COMPLEXITY_HOTSPOTS]
        ),
    )
    counts, listed = counts_of(sections), list(parts.values())
    overall = score.overall(listed)
    return HealthReport(
        executive_summary=advice.summary(name, overall, listed, counts),
        overall_score=overall,
        score_formula=score.FORMULA,
        score_parts=listed,
        sections=sections,
        llm_risk_assessment=advice.risks(listed, counts),
        suggested_rules=advice.rules(listed, counts),
        basis=_basis(found.code),
    )


def counts_of(sections: Sections) -> dict[Section, int]:
    """The number of findings of each section that is there."""
    found = ((each, getattr(sections, _field(each))) for each in Section)
    return {section: part.count for section, part in found if part is not None}


def _field(section: Section) -> str:
    return section.name.lower()


def _parts(found: Analysed) -> list[ScorePart]:
    code = found.code
    lines = [
        findings.lines_of(each)
        for at, each in enumerate(code.entities)
        if (each.kind in CALLABLE or each.kind in TYPES)
        and not code.is_aside[at]
        and (each.parent is None or code.entities[code.parent[at]].kind is EntityKind.FILE)
    ]
    files = {each.path for each in code.entities if code.is_code(each)}
    looped = {path for each in found.loops if each.at == "import time" for path in each.files}
    dead = sum(findings.lines_of(each.entity) for each in found.dead)
    return [
        score.part(Section.DEAD_CODE, dead, sum(lines)),
        score.part(
            Section.ARCHITECTURE_DRIFT,
            sum(len(each.against) for each in found.drifts[0]),
            found.drifts[1],
        ),
        score.part(
            Section.TESTING_GAPS,
            sum(len(each.untested) for each in found.areas),
            len(found.measured),
        ),
        score.part(
            Section.DUPLICATE_LOGIC,
            sum(len(each.members) - 1 for each in found.copies[0]),
            found.copies[1],
        ),
        score.part(Section.CIRCULAR_DEPENDENCIES, len(looped), len(files)),
        score.part(Section.UNUSED_EXPORTS, len(found.exports[0]), found.exports[1]),
        score.part(Section.COMPLEXITY_HOTSPOTS, len(found.hot), len(found.measured)),
    ]


def _basis(code: CodeBase) -> list[str]:
    """What was looked at, and what could not be."""
    functions = sum(each.kind in CALLABLE for each in code.entities)
    files = sum(not each.skipped for each in code.layer.reports)
    unread = sum(bool(each.problem or each.skipped) for each in code.layer.reports)
    tests = int(code.is_test.sum())
    said = [
        f"{counted(files, 'file')}, {functions:,} functions and methods, "
        f"{len(code.layer.edges):,} edges of the index; no model was asked, and "
        "uncommitted work is left out.",
        f"{tests:,} entities are tests, or stand in files of tests. No finding is about these, or "
        "about examples, benchmarks, documentation, migrations, and what is generated or vendored.",
    ]
    if not tests:
        said.append("Tests lie elsewhere, or there are none: testing gaps take nothing.")
    if unread:
        said.append(f"{unread:,} files are not, or only in part, in the graph: get_project_stats.")
    return said
