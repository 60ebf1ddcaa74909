"""``porch codegraph health``: the health report of a repository, made where it is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gateway.contract import CommandContext
from gateway.toolkit.counts import counted
from plugins.codegraph.commands.arguments import HealthArgs
from plugins.codegraph.commands.messages import wrapped
from plugins.codegraph.health.report import (
    LISTS,
    Cycle,
    DeadEntity,
    DriftIssue,
    DuplicateCluster,
    HealthReport,
    Hotspot,
    Section,
    Sections,
    UntestedArea,
    UnusedExport,
)
from plugins.codegraph.offer import CoreParts
from plugins.codegraph.repositories.repository import Repository

SHOWN = 5
"""How many findings of each section are shown without ``--json``."""


async def shown(
    base: CoreParts, repository: Repository, args: HealthArgs, context: CommandContext
) -> int:
    """Show the report of a repository; exit code 1 where it has no index yet."""
    await base.health.make(repository.org, repository.id, base.builder.root(repository))
    view = await base.store.view(repository.org, repository.id)
    found = None if view is None else await base.health.of(view)
    if view is None or found is None:
        reason = f"{repository.name} has no index yet: `porch codegraph index {repository.name}`."
        if context.json:
            context.emit({"error": reason})
        else:
            context.echo(reason)
        return 1
    report, made = found
    if context.json:
        past = await base.health.history(view, 10)
        context.emit(
            {
                "name": repository.name,
                "madeAt": made.isoformat(),
                **report.wire(),
                "history": [each.wire() for each in past],
            }
        )
        return 0
    for line in lines(report):
        context.echo(line)
    return 0


def lines(report: HealthReport) -> Iterator[str]:
    """A report in lines for a terminal."""
    yield from wrapped(report.executive_summary)
    for part in report.score_parts:
        section = getattr(report.sections, part.section.name.lower())
        name = _words(part.section)
        yield ""
        yield f"{name}: {section.count:,} ({section.severity.value}, {part.lost:g} points)"
        for line in _listed(part.section, report.sections):
            yield from wrapped(line, "  ")
    yield ""
    yield from wrapped(f"The score is {report.score_formula}.")
    for each in report.basis:
        yield from wrapped(each)


def _words(section: Section) -> str:
    return section.name.replace("_", " ").capitalize()


def _listed(section: Section, sections: Sections) -> Iterator[str]:
    """The first findings of a section, a line each."""
    part = getattr(sections, section.name.lower())
    found = () if part is None else getattr(part, LISTS[section])
    yield from (_SAID[type(each)](each) for each in found[:SHOWN])


def _dead(each: DeadEntity) -> str:
    lines = counted(each.lines_of_code, "line")
    return f"{each.file_path}:{each.line} {each.name}, {lines}: {each.reason}"


def _cycle(each: Cycle) -> str:
    more = f", {each.file_count} files in all" if each.file_count > len(each.path) else ""
    return f"{' -> '.join([*each.path, each.path[0]])} ({each.at}{more})"


def _hotspot(each: Hotspot) -> str:
    return (
        f"{each.file_path}:{each.line} {each.name}: complexity {each.cyclomatic_complexity}, "
        f"{each.lines_of_code} lines, used by {each.inbound_edges}"
    )


def _drift(each: DriftIssue) -> str:
    return f"{each.pattern}: {each.evidence[-1]}"


def _area(each: UntestedArea) -> str:
    return f"{each.feature_area}: tests reach {each.coverage_percent:g} % of {each.entity_count}"


def _cluster(each: DuplicateCluster) -> str:
    return f"{'; '.join(each.evidence[:3])}: {each.similarity:.0%} alike"


def _export(each: UnusedExport) -> str:
    return f"{each.file_path}:{each.line} {each.export_name}: {each.reason}"


_SAID: Mapping[type[Any], Callable[[Any], str]] = {
    DeadEntity: _dead,
    Cycle: _cycle,
    Hotspot: _hotspot,
    DriftIssue: _drift,
    UntestedArea: _area,
    DuplicateCluster: _cluster,
    UnusedExport: _export,
}
