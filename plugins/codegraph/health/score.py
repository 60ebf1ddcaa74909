"""The overall score: what each section measures, and how many points that takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from plugins.codegraph.health.report import ScorePart, Section, Severity

FORMULA = "100 minus the sum over the sections of weight * min(1, value / worst), see scoreParts"


@dataclass(frozen=True, slots=True)
class Measure:
    """What one section takes from the score.

    Attributes:
        says: what is measured, a share.
        worst: the share from which on all of the weight is lost.
        weight: the most points that it takes.
    """

    says: str
    worst: float
    weight: int


MEASURES: Mapping[Section, Measure] = MappingProxyType(
    {
        Section.DEAD_CODE: Measure("dead lines of all lines in functions and classes", 0.1, 15),
        Section.ARCHITECTURE_DRIFT: Measure(
            "imports against the direction of most, of those between packages", 0.1, 10
        ),
        Section.TESTING_GAPS: Measure("functions that no test reaches, of all functions", 1.0, 25),
        Section.DUPLICATE_LOGIC: Measure("functions that repeat another, of all", 0.2, 15),
        Section.CIRCULAR_DEPENDENCIES: Measure("files in a circle at import time, of all", 0.2, 15),
        Section.UNUSED_EXPORTS: Measure("exports used in their own file alone, of all", 0.5, 5),
        Section.COMPLEXITY_HOTSPOTS: Measure(
            "functions above the complexity limit, of all", 0.1, 15
        ),
    }
)
"""What is measured; the weights add up to 100. They are a convention, which the answer shows: a
score compares a repository with itself over time."""
_SEVERITIES = ((0.7, Severity.CRITICAL), (0.35, Severity.HIGH), (0.1, Severity.MEDIUM))


def part(section: Section, bad: float, of: float) -> ScorePart:
    """What a section takes.

    Args:
        section: the section.
        bad: how much is bad.
        of: of how much; nothing is lost where there is none.
    """
    measure = MEASURES[section]
    value = bad / of if of else 0.0
    return ScorePart(
        section=section,
        measure=measure.says,
        value=round(value, 4),
        worst=measure.worst,
        weight=measure.weight,
        lost=round(measure.weight * min(1.0, value / measure.worst), 2),
    )


def severity(of: ScorePart) -> Severity:
    """How bad a section is: by the part of its weight that is lost."""
    lost = of.lost / of.weight
    return next((each for least, each in _SEVERITIES if lost >= least), Severity.LOW)


def overall(parts: list[ScorePart]) -> int:
    """The score, from 0 to 100."""
    return round(100 - sum(each.lost for each in parts))
