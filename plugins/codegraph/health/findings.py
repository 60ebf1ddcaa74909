"""Findings as the report has them, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.health.cycles import Loop
from plugins.codegraph.health.dead_code import Dead
from plugins.codegraph.health.hotspots import LIMIT, Measured
from plugins.codegraph.health.report import (
    CircularDependencies,
    ComplexityHotspots,
    Cycle,
    DeadCode,
    DeadEntity,
    Hotspot,
    ScorePart,
)
from plugins.codegraph.health.score import severity
from plugins.codegraph.model import Entity, shown_key

KEPT = 100
"""The most findings of a section that a report keeps; the rest is counted."""
_SHOWN_FILES = 30
_TESTED, _MEASURED = 0.95, 1.0
"""How sure a circle is, and a figure that is counted in the syntax tree."""


def lines_of(entity: Entity) -> int:
    """The lines that an entity takes."""
    return entity.end_line - entity.line + 1


def dead_code(found: Sequence[Dead], part: ScorePart) -> DeadCode:
    """The section on dead code."""
    return DeadCode(
        severity=severity(part),
        count=len(found),
        lines=sum(lines_of(each.entity) for each in found),
        top_offenders=[_dead(each) for each in found[:KEPT]],
        recommendation=(
            "Delete what is listed, the longest first; ask safe_to_delete before, which also looks "
            "into the other repositories that you may see."
            if found
            else "Nothing to do."
        ),
    )


def _dead(dead: Dead) -> DeadEntity:
    entity = dead.entity
    by = [f"{each.path}:{each.line} {each.qualified}, dead too, uses it" for each in dead.users[:5]]
    nothing = "no call, reference, import or subclass from outside of it, and no unread place has"
    reason = "Only dead code uses it." if by else "Nothing uses it, and nothing has its name."
    return DeadEntity(
        entity_id=shown_key(entity.key),
        name=entity.qualified,
        kind=entity.kind.value,
        file_path=entity.path,
        line=entity.line,
        lines_of_code=lines_of(entity),
        reason=reason,
        evidence=[f"{entity.path}:{entity.line} defined here; {nothing} its name", *by],
        confidence=dead.confidence,
    )


def circular_dependencies(found: Sequence[Loop], part: ScorePart) -> CircularDependencies:
    """The section on circles of imports."""
    hard = [each for each in found if each.at == "import time"]
    return CircularDependencies(
        severity=severity(part),
        count=len(hard),
        softer=len(found) - len(hard),
        cycles=[_cycle(each) for each in found[:KEPT]],
    )


def _cycle(loop: Loop) -> Cycle:
    ahead = [*loop.way[1:], loop.way[0]]
    steps = zip(loop.way, loop.lines, ahead, strict=True)
    if loop.at == "import time":
        advice = (
            f"Move what {loop.way[0]} and {loop.way[-1]} both need into a file of its own, or "
            "import it where it is used."
        )
    elif loop.at == "later":
        advice = "It loads, since a function imports when it runs; a file for both is clearer."
    else:
        advice = "It is for types alone and costs nothing when the program runs."
    return Cycle(
        path=list(loop.way),
        files=list(loop.files[:_SHOWN_FILES]),
        file_count=len(loop.files),
        at=loop.at,
        recommendation=advice,
        evidence=[f"{here}:{line} imports {there}" for here, line, there in steps],
        confidence=_TESTED,
    )


def complexity_hotspots(
    code: CodeBase, found: Sequence[Measured], churn: Mapping[str, int], part: ScorePart
) -> ComplexityHotspots:
    """The section on functions that are hard to change."""
    return ComplexityHotspots(
        severity=severity(part),
        count=len(found),
        limit=LIMIT,
        hotspots=[_hotspot(code, each, churn) for each in found[:KEPT]],
    )


def _hotspot(code: CodeBase, measured: Measured, churn: Mapping[str, int]) -> Hotspot:
    entity = code.entities[measured.number]
    return Hotspot(
        entity_id=shown_key(entity.key),
        name=entity.qualified,
        file_path=entity.path,
        line=entity.line,
        cyclomatic_complexity=measured.complexity,
        lines_of_code=measured.lines,
        inbound_edges=measured.fan_in,
        churn=churn.get(entity.path),
        score=round(measured.score, 1),
        recommendation=(
            "Test it before you change it; then take branches out into functions with names."
            if measured.fan_in
            else "Take branches out into functions with names."
        ),
        evidence=[
            f"{entity.path}:{entity.line} to {entity.end_line}: {measured.complexity - 1} branches"
        ],
        confidence=_MEASURED,
    )
