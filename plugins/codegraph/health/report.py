"""The report's models: kap10's ``HealthReportSchema``, and beside it what each finding rests on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from gateway.contract import ToolResult


class Severity(StrEnum):
    """How much a finding, or a section, matters."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Section(StrEnum):
    """The sections of a report."""

    DEAD_CODE = "deadCode"
    ARCHITECTURE_DRIFT = "architectureDrift"
    TESTING_GAPS = "testingGaps"
    DUPLICATE_LOGIC = "duplicateLogic"
    CIRCULAR_DEPENDENCIES = "circularDependencies"
    UNUSED_EXPORTS = "unusedExports"
    COMPLEXITY_HOTSPOTS = "complexityHotspots"


class Finding(ToolResult):
    """What every finding says of itself."""

    evidence: list[str] = Field(description="What it rests on: file:line, and what stands there.")
    confidence: float = Field(description="How sure it is, from 0 to 1.")


class DeadEntity(Finding):
    """Something that nothing uses."""

    entity_id: str = Field(description="Its key, which every tool takes as a name.")
    name: str
    kind: str
    file_path: str
    line: int
    lines_of_code: int
    reason: str = Field(description="Why this is dead code.")


class DeadCode(ToolResult):
    """Functions, methods and classes that nothing uses."""

    severity: Severity
    count: int
    lines: int = Field(description="How many lines they have together.")
    top_offenders: list[DeadEntity] = Field(description="The longest first.")
    recommendation: str


class DriftIssue(Finding):
    """A pattern of imports that goes against the direction of the rest."""

    pattern: str
    occurrences: int
    affected_files: list[str]
    recommendation: str


class ArchitectureDrift(ToolResult):
    """Packages that reach past each other: each imports the other."""

    severity: Severity
    count: int
    issues: list[DriftIssue]


class UntestedArea(Finding):
    """An area of the code, and how much of it tests reach."""

    feature_area: str
    entity_count: int = Field(description="Its functions and methods.")
    tested_count: int = Field(description="Those that a test reaches by calls and references.")
    coverage_percent: float
    untested: list[str] = Field(description="The most used that no test reaches: file:line name.")


class TestingGaps(ToolResult):
    """What no test reaches, by area."""

    __test__ = False

    severity: Severity
    count: int = Field(description="The functions and methods that no test reaches.")
    untested_verticals: list[UntestedArea] = Field(description="The least tested first.")
    recommendation: str


class DuplicateCluster(Finding):
    """Functions that are nearly the same."""

    description: str = Field(description="What logic is duplicated.")
    entities: list[str] = Field(description="Their keys.")
    similarity: float = Field(description="Of the two least alike, from 0 to 1; 1: the same.")
    lines_of_code: int = Field(description="The lines of one of them.")
    recommendation: str


class DuplicateLogic(ToolResult):
    """Functions that are nearly the same as others."""

    severity: Severity
    count: int
    clusters: list[DuplicateCluster] = Field(description="The most repeated lines first.")


class Cycle(Finding):
    """Files that import each other in a circle."""

    path: list[str] = Field(description="The shortest way round; the last leads to the first.")
    files: list[str] = Field(description="All files from which one can go round.")
    file_count: int
    at: Literal["import time", "later", "types"] = Field(
        description="import time: the files load each other; later: only because a function "
        "imports when it runs; types: only by imports that no program runs."
    )
    recommendation: str


class CircularDependencies(ToolResult):
    """Files that import each other in a circle."""

    severity: Severity
    count: int = Field(description="Those that files load each other by.")
    softer: int = Field(description="Those that exist for types only, or when a function runs.")
    cycles: list[Cycle] = Field(description="Those at import time first, the largest first.")


class UnusedExport(Finding):
    """Something that is exported and used in its own file alone."""

    file_path: str
    export_name: str
    entity_id: str
    line: int
    reason: str


class UnusedExports(ToolResult):
    """What is exported, and used in its own file alone."""

    severity: Severity
    count: int
    top_offenders: list[UnusedExport]


class Hotspot(Finding):
    """A function that is hard to change, and on which others depend."""

    entity_id: str
    name: str
    file_path: str
    line: int
    cyclomatic_complexity: int = Field(description="1, and 1 for each branch (McCabe 1976).")
    lines_of_code: int
    inbound_edges: int = Field(description="How many others call or refer to it.")
    churn: int | None = Field(
        None, description="Commits to its file in the last year; null: no history is there."
    )
    score: float = Field(description="complexity * ln(1 + lines) * (1 + ln(1 + inboundEdges)).")
    recommendation: str


class ComplexityHotspots(ToolResult):
    """Functions that are hard to change."""

    severity: Severity
    count: int = Field(description="Functions of a complexity above the limit.")
    limit: int = Field(description="The complexity above which a function counts.")
    hotspots: list[Hotspot] = Field(description="The highest score first.")


class Sections(ToolResult):
    """The sections; null where it was not asked for."""

    dead_code: DeadCode | None = None
    architecture_drift: ArchitectureDrift | None = None
    testing_gaps: TestingGaps | None = None
    duplicate_logic: DuplicateLogic | None = None
    circular_dependencies: CircularDependencies | None = None
    unused_exports: UnusedExports | None = None
    complexity_hotspots: ComplexityHotspots | None = None


LISTS: Mapping[Section, str] = MappingProxyType(
    {
        Section.DEAD_CODE: "top_offenders",
        Section.ARCHITECTURE_DRIFT: "issues",
        Section.TESTING_GAPS: "untested_verticals",
        Section.DUPLICATE_LOGIC: "clusters",
        Section.CIRCULAR_DEPENDENCIES: "cycles",
        Section.UNUSED_EXPORTS: "top_offenders",
        Section.COMPLEXITY_HOTSPOTS: "hotspots",
    }
)
"""The field of each section that lists its findings."""


class ScorePart(ToolResult):
    """What one section takes from the score."""

    section: Section
    measure: str = Field(description="What is measured.")
    value: float = Field(description="What it is here, a share from 0 to 1.")
    worst: float = Field(description="From which share on all of the weight is lost.")
    weight: int = Field(description="The most points that it takes.")
    lost: float = Field(description="weight * min(1, value / worst)")


class Risk(ToolResult):
    """What is likely to go wrong, and what helps."""

    risk: str
    severity: Severity
    mitigation: str


class RiskAssessment(ToolResult):
    """How susceptible the code is to regressions by generated changes; from templates."""

    summary: str
    risks: list[Risk]


class SuggestedRule(ToolResult):
    """A rule that would keep a finding from coming back."""

    title: str
    description: str
    type: Literal["architectural", "syntactic", "convention"]
    enforcement: Literal["suggest", "warn", "block"]


class HealthReport(ToolResult):
    """The health of a repository at one full index."""

    executive_summary: str = Field(description="Two or three sentences.")
    overall_score: int = Field(ge=0, le=100, description="100 minus what the sections take.")
    score_formula: str
    score_parts: list[ScorePart]
    sections: Sections
    llm_risk_assessment: RiskAssessment
    suggested_rules: list[SuggestedRule]
    basis: list[str] = Field(description="What was looked at, and what could not be.")


class PastReport(ToolResult):
    """An earlier report, in a line."""

    made_at: datetime
    commit: str | None
    overall_score: int
    counts: dict[str, int] = Field(description="The findings by section.")
