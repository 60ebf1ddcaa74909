"""The tool that reports on the health of a repository."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolFailed, ToolResult
from plugins.codegraph.health.report import (
    LISTS,
    HealthReport,
    PastReport,
    Section,
    Sections,
)
from plugins.codegraph.health.reports import HealthReports
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.tools.access import WAIT_TIMEOUT_S, Access
from plugins.codegraph.tools.base import READS, Repo, Wire
from plugins.codegraph.tools.notes import Note, noted

MAX_FINDINGS, MAX_HISTORY = 100, 50
_POLL_INTERVAL_S = 0.5
"""The field of each section that lists its findings."""


class HealthAnswer(HealthReport):
    """The health of a repository, as a report says that was made after its last full index."""

    made_at: datetime
    left_out: dict[str, int] = Field(
        description="By section, how many of its findings are not listed here: ask with a larger "
        "max_per_section. A report keeps the first 100 of each."
    )
    history: list[PastReport] | None = Field(None, description="Earlier reports, newest first.")
    meta: Note


def tools(access: Access, reports: HealthReports) -> list[Tool]:
    """The tools of this group."""

    async def get_health_report(
        sections: Annotated[
            list[Section] | None, Field(description="Only these sections; all if left out.")
        ] = None,
        max_per_section: Annotated[
            int, Field(ge=1, le=MAX_FINDINGS, description="The most findings of each section.")
        ] = 10,
        history: Annotated[
            int,
            Field(ge=0, le=MAX_HISTORY, description="How many earlier scores to list; 0 for none."),
        ] = 0,
        repo: Repo = None,
        *,
        caller: Caller,
    ) -> Wire:
        """The health of a repository's indexed branch: dead code, packages that reach past each
        other, code that no test reaches, duplicated logic, circular imports, exports that nobody
        uses, and functions that are hard to change, with an overall score and how it comes about.
        Every finding says what it rests on and how sure it is. It is made from the graph after each
        full index; no model is asked. Use it before you plan a clean-up or a large change."""
        opened = await access(caller, repo)
        view = opened.graph.repo
        report, made = await _awaited(access, reports, view)
        chosen = _chosen(report, sections)
        cut, left_out = _cut(chosen, max_per_section)
        note = "Uncommitted work is not in it." if view.overlay is not None else None
        return HealthAnswer(
            **{**_fields(report), "sections": cut},
            made_at=made,
            left_out=left_out,
            history=await reports.history(view, history) if history else None,
            meta=noted(opened, note=note),
        ).wire()

    return [
        Tool.of(
            get_health_report,
            title="Health report",
            result=HealthAnswer,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


async def _awaited(
    access: Access, reports: HealthReports, view: RepositoryView
) -> tuple[HealthReport, datetime]:
    """The newest report; waits for the first one for a while.

    Raises:
        ToolFailed: there is none yet.
    """
    began = time.monotonic()
    while (found := await reports.of(view)) is None:
        waited = time.monotonic() - began
        if waited >= WAIT_TIMEOUT_S:
            raise ToolFailed(
                "not_ready",
                f"The first health report of {view.name} is not made yet: that begins after its "
                "index is there. Ask again in a minute; if it stays so, an admin runs `porch "
                f"codegraph health {view.name}`.",
            )
        await access.exchange().progress(waited, message=f"{view.name}: health report")
        await asyncio.sleep(_POLL_INTERVAL_S)
    return found


def _chosen(report: HealthReport, sections: Sequence[Section] | None) -> Sections:
    kept = {each.name.lower() for each in sections or Section}
    found = {name: value for name, value in _fields(report.sections).items() if name in kept}
    return Sections(**found)


def _cut(sections: Sections, most: int) -> tuple[Sections, dict[str, int]]:
    """Sections with at most so many findings, and how many each leaves out."""
    shown: dict[str, Any] = {}
    left: dict[str, int] = {}
    for section, field in LISTS.items():
        name = section.name.lower()
        part = getattr(sections, name)
        if part is None:
            continue
        listed = getattr(part, field)
        shown[name] = part.model_copy(update={field: listed[:most]})
        total = max(len(listed), 0 if section is Section.TESTING_GAPS else part.count)
        if total > most:
            left[section.value] = total - most
    return Sections(**shown), left


def _fields(model: ToolResult) -> dict[str, Any]:
    """The fields of a model, each as it is."""
    return {name: getattr(model, name) for name in type(model).model_fields}
