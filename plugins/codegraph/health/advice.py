"""The report's sentences: its summary, risks and suggested rules, from templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from plugins.codegraph.health.report import (
    Risk,
    RiskAssessment,
    ScorePart,
    Section,
    SuggestedRule,
)
from plugins.codegraph.health.score import severity

_ABOUT_ONE = 1.0
"""A section that takes less than this many points is no reason for a risk or a rule."""
_NAMES: Mapping[Section, str] = MappingProxyType(
    {
        Section.DEAD_CODE: "dead code",
        Section.ARCHITECTURE_DRIFT: "packages that reach past each other",
        Section.TESTING_GAPS: "code that no test reaches",
        Section.DUPLICATE_LOGIC: "duplicated logic",
        Section.CIRCULAR_DEPENDENCIES: "circular imports",
        Section.UNUSED_EXPORTS: "exports that nobody uses",
        Section.COMPLEXITY_HOTSPOTS: "functions that are hard to change",
    }
)


@dataclass(frozen=True, slots=True)
class _Template:
    risk: str
    mitigation: str
    title: str
    rule: str
    type: Literal["architectural", "syntactic", "convention"]
    enforcement: Literal["suggest", "warn", "block"]


_TEMPLATES: Mapping[Section, _Template] = MappingProxyType(
    {
        Section.DEAD_CODE: _Template(
            "Agents read and extend code that never runs.",
            "Delete it after safe_to_delete has said that it can go.",
            "No code without a use",
            "What is added is called, registered or exported for somebody, in the same change.",
            "convention",
            "warn",
        ),
        Section.ARCHITECTURE_DRIFT: _Template(
            "No clear direction between packages: a change in one reaches the other and back.",
            "Ask get_imports before you import from another package.",
            "Packages import in one direction",
            "Where one package is built on another, that one imports nothing of the first.",
            "architectural",
            "warn",
        ),
        Section.TESTING_GAPS: _Template(
            "A change that breaks this code breaks no test.",
            "Ask analyze_impact which tests reach it; write one first where none does.",
            "A test reaches what is changed",
            "A function that is added or changed is reached by a test.",
            "convention",
            "suggest",
        ),
        Section.DUPLICATE_LOGIC: _Template(
            "A mistake is mended in one copy, and stays in the others.",
            "Ask find_similar before you write a function, and change every copy of a cluster.",
            "No second copy",
            "A function that is nearly the same as another is made one with it.",
            "convention",
            "suggest",
        ),
        Section.CIRCULAR_DEPENDENCIES: _Template(
            "An import that is added or moved stops the program from starting.",
            "Ask get_imports in both directions before you add one.",
            "No circular imports",
            "Files that load each other take what both need from a third.",
            "architectural",
            "block",
        ),
        Section.UNUSED_EXPORTS: _Template(
            "What looks like an interface is none, and is kept for nobody.",
            "Ask find_references before you treat an export as a contract.",
            "Export what others use",
            "What only its own file uses is not exported.",
            "convention",
            "suggest",
        ),
        Section.COMPLEXITY_HOTSPOTS: _Template(
            "Functions with many ways through them are changed without seeing all of these.",
            "Ask get_callers and read the whole function before you change it.",
            "Functions stay small",
            "No function has a cyclomatic complexity above 15.",
            "syntactic",
            "warn",
        ),
    }
)


def summary(
    name: str, score: int, parts: Sequence[ScorePart], counts: Mapping[Section, int]
) -> str:
    """Two or three sentences on the health of a repository.

    Args:
        name: the repository's.
        score: the overall score.
        parts: what the sections take.
        counts: the number of findings by section.
    """
    worst = sorted((each for each in parts if each.lost >= _ABOUT_ONE), key=lambda each: -each.lost)
    if not worst:
        return f"{name} has a score of {score} of 100. No section takes as much as a point from it."
    said = [
        f"{_NAMES[each.section]} ({counts[each.section]:,}; {each.lost:.0f} points)"
        for each in worst[:3]
    ]
    free = [_NAMES[each.section] for each in parts if not counts[each.section]]
    rest = f" There is none of this: {', '.join(free)}." if free else ""
    return f"{name} has a score of {score} of 100. Most is lost by {_listed(said)}.{rest}"


def risks(parts: Sequence[ScorePart], counts: Mapping[Section, int]) -> RiskAssessment:
    """What is likely to go wrong when agents change the code; at most five, the worst first."""
    bad = _by_weight(parts, counts)
    found = [
        Risk(
            risk=_TEMPLATES[each.section].risk,
            severity=severity(each),
            mitigation=_TEMPLATES[each.section].mitigation,
        )
        for each in bad[:5]
    ]
    said = (
        f"Changes by agents are most at risk from {_NAMES[bad[0].section]}."
        if bad
        else "Nothing that was looked at makes changes by agents riskier than others."
    )
    return RiskAssessment(summary=said, risks=found)


def rules(parts: Sequence[ScorePart], counts: Mapping[Section, int]) -> list[SuggestedRule]:
    """Rules that would keep what was found from coming back, the worst first."""
    found = (_TEMPLATES[each.section] for each in _by_weight(parts, counts))
    return [
        SuggestedRule(
            title=each.title,
            description=each.rule,
            type=each.type,
            enforcement=each.enforcement,
        )
        for each in found
    ]


def _by_weight(parts: Sequence[ScorePart], counts: Mapping[Section, int]) -> list[ScorePart]:
    some = (each for each in parts if each.lost >= _ABOUT_ONE and counts[each.section])
    return sorted(some, key=lambda each: -each.lost)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
