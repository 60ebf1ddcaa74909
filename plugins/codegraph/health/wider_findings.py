"""Findings on more than one entity: packages, areas, copies; and on what is exported."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.health.drift import Drift
from plugins.codegraph.health.duplicates import Cluster
from plugins.codegraph.health.findings import KEPT, lines_of
from plugins.codegraph.health.report import (
    ArchitectureDrift,
    DriftIssue,
    DuplicateCluster,
    DuplicateLogic,
    ScorePart,
    TestingGaps,
    UntestedArea,
    UnusedExport,
    UnusedExports,
)
from plugins.codegraph.health.score import severity
from plugins.codegraph.health.testing import Area
from plugins.codegraph.model import shown_key

_FILES, _PLACES = 5, 10
_CLEAR, _EVEN = 0.9, 0.6
"""How sure a drift is: where most imports go one way, and where the directions are about even."""
_REACHED = 0.8
"""How sure it is that no test reaches something: a request or a name may reach it unseen."""
_NO_TESTS = "There are no tests in what is indexed: of what they reach, nothing is known or scored."
_EXPORTED, _BY_CONVENTION = 0.95, 0.85
"""How sure an unused export is: exported by a word of the language, or by its name alone."""


def architecture_drift(found: Sequence[Drift], part: ScorePart) -> ArchitectureDrift:
    """The section on packages that reach past each other."""
    issues = [_drift(each) for each in found[:KEPT]]
    return ArchitectureDrift(severity=severity(part), count=len(found), issues=issues)


def _drift(drift: Drift) -> DriftIssue:
    upper, lower = drift.upper, drift.lower
    if drift.is_clear:
        pattern = f"{lower} imports {upper}, which is built on it"
        advice = f"Move what {lower} needs from {upper} down into {lower}, or pass it in."
    else:
        pattern = f"{lower} and {upper} import each other about as often"
        advice = "Decide which one is built on the other, or make them one package."
    files = list(dict.fromkeys(path for path, _, _ in drift.against))
    most = f"{drift.along} imports lead from {upper} to {lower}, {len(drift.against)} back"
    places = [f"{path}:{line} imports {there}" for path, line, there in drift.against[:_PLACES]]
    return DriftIssue(
        pattern=pattern,
        occurrences=len(drift.against),
        affected_files=files[:_FILES],
        recommendation=advice,
        evidence=[most, *places],
        confidence=_CLEAR if drift.is_clear else _EVEN,
    )


def testing_gaps(code: CodeBase, found: Sequence[Area], part: ScorePart) -> TestingGaps:
    """The section on what no test reaches."""
    return TestingGaps(
        severity=severity(part),
        count=sum(len(each.untested) for each in found),
        untested_verticals=[_area(code, each) for each in found[:KEPT]],
        recommendation=(
            f"Begin with {found[0].name}: test what is used most there."
            if found
            else "Nothing to do."
            if code.is_test.any()
            else _NO_TESTS
        ),
    )


def _area(code: CodeBase, area: Area) -> UntestedArea:
    places = [f"{code.place(at)} {code.entities[at].qualified}" for at in area.untested[:_PLACES]]
    return UntestedArea(
        feature_area=area.name,
        entity_count=area.total,
        tested_count=area.tested,
        coverage_percent=round(100 * area.tested / area.total, 1),
        untested=places,
        evidence=[
            f"{int(code.is_test.sum()):,} entities of tests; calls and references were followed "
            "from all of them, names in texts were not; where tests send requests or drive a "
            "browser, every route or component counts as reached"
        ],
        confidence=_REACHED,
    )


def duplicate_logic(code: CodeBase, found: Sequence[Cluster], part: ScorePart) -> DuplicateLogic:
    """The section on functions that are nearly the same."""
    return DuplicateLogic(
        severity=severity(part),
        count=len(found),
        clusters=[_cluster(code, each) for each in found[:KEPT]],
    )


def _cluster(code: CodeBase, cluster: Cluster) -> DuplicateCluster:
    members = [code.entities[at] for at in cluster.members]
    names = list(dict.fromkeys(each.qualified for each in members))
    lines = max(map(lines_of, members))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    alike = "the same" if cluster.similarity == 1 else f"alike to {cluster.similarity:.0%}"
    return DuplicateCluster(
        description=f"{', '.join(names[:3])}{more}: {len(members)} bodies of up to {lines} lines, "
        f"{alike} but for local names and literals",
        entities=[shown_key(each.key) for each in members[:KEPT]],
        similarity=round(cluster.similarity, 3),
        lines_of_code=lines,
        recommendation="Keep one, give it what differs as parameters, and call it from the others.",
        evidence=[f"{each.path}:{each.line} {each.qualified}" for each in members[:_PLACES]],
        confidence=round(0.8 + 0.15 * cluster.similarity, 2),
    )


def unused_exports(code: CodeBase, found: Sequence[int], part: ScorePart) -> UnusedExports:
    """The section on what is exported for nobody."""
    return UnusedExports(
        severity=severity(part),
        count=len(found),
        top_offenders=[_export(code, at) for at in found[:KEPT]],
    )


def _export(code: CodeBase, at: int) -> UnusedExport:
    entity = code.entities[at]
    by_name = entity.language == "python"
    how = "It is public by its name" if by_name else "It is exported"
    return UnusedExport(
        file_path=entity.path,
        export_name=entity.name,
        entity_id=shown_key(entity.key),
        line=entity.line,
        reason=f"{how}, and its own file alone uses it.",
        evidence=[
            f"{code.place(at)} defined here; no import, call or reference from another file, and "
            "no place elsewhere has its name"
        ],
        confidence=_BY_CONVENTION if by_name else _EXPORTED,
    )
