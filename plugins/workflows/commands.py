"""``porch workflows import`` and ``porch workflows export``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext, ContentScrub
from gateway.toolkit.progress_bar import progress_bar
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL

if TYPE_CHECKING:
    from plugins.workflows.files.exporter import ExportReport
    from plugins.workflows.files.importer import Report
    from plugins.workflows.playbook import Playbook

MIN_FILES_FOR_PROGRESS = 20
"""From this many files on, their count is shown while they are read."""


class ImportArgs(BaseModel):
    """What ``porch workflows import`` takes."""

    paths: tuple[Path, ...] = Field(
        description="Directories with workflows/, prompts/ and skills/, or single files of such."
    )
    check: bool = Field(False, description="Read the files, say what is wrong, write nothing.")


class ExportArgs(BaseModel):
    """What ``porch workflows export`` takes."""

    directory: Path = Field(description="Where to write; made if it is not there.")
    owner: str | None = Field(
        None, description="Whose items: a person's id, as the audit log has it; else the portal's."
    )
    force: bool = Field(False, description="Write over files that no export has written.")


async def import_(args: ImportArgs, context: CommandContext) -> int:
    """Take files in as the portal's own items; 1 where a file could not be."""
    from plugins.workflows.files import importer

    with progress_bar(least=MIN_FILES_FOR_PROGRESS) as bar:
        tell = partial(bar, "Importing")
        if args.check:
            report = await importer.check_paths(args.paths, tell)
        else:
            async with _playbook(context) as (playbook, scrub):
                writer = Writer(PORTAL, may_publish=True)
                report = await importer.import_paths(playbook, writer, args.paths, tell, scrub)
    if context.json:
        context.emit(asdict(report))
    else:
        for line in _imported(report):
            context.echo(line)
    return 1 if report.problems else 0


async def export(args: ExportArgs, context: CommandContext) -> int:
    """Write an owner's items as files; 1 where not all of them could be written."""
    from plugins.workflows.files import exporter

    owner = args.owner or PORTAL
    async with _playbook(context) as (playbook, _):
        try:
            done = await exporter.export(playbook, args.directory, owner, args.force)
        except OSError as error:
            context.echo(f"The export cannot be written: {error}")
            return 1
    if context.json:
        context.emit(asdict(done))
    else:
        for line in _exported(done, args.directory, owner):
            context.echo(line)
    return 1 if done.kept or done.refused else 0


@asynccontextmanager
async def _playbook(context: CommandContext) -> AsyncGenerator[tuple[Playbook, ContentScrub]]:
    # Late, because these need the database driver, and most commands do not.
    from plugins.workflows.playbook import Playbook
    from plugins.workflows.search.embedding import make_embed

    async with context.host() as host:
        await host.database.migrate(Path(__file__).with_name("migrations"))
        embed = make_embed(host.embedder, host.log)
        yield Playbook(host.database, host.objects, embed, lambda: datetime.now(UTC)), host.scrub


def _imported(report: Report) -> list[str]:
    lines = [str(each) for each in report.problems]
    warnings = [*report.dangling, *report.taken_out]
    lines += [f"{each.path}:{each.line}: warning: {each.reason}" for each in warnings]
    if lines:
        lines.append("")
    counts = {
        "added": len(report.added),
        "updated": len(report.updated),
        "unchanged": len(report.unchanged),
        "in order": len(report.checked),
    }
    told = [f"{count} {word}" for word, count in counts.items() if count]
    told += _counted(report.problems, "problem") + _counted(report.dangling, "dangling reference")
    lines.append(f"{', '.join(told) or 'There was nothing to import'}.")
    return lines


def _exported(done: ExportReport, directory: Path, owner: str) -> list[str]:
    lines = [f"{each}: not written" for each in done.refused]
    if done.kept:
        lines += [f"{directory / each}: not of an export, or changed since" for each in done.kept]
        lines.append("Nothing was written. Move these files away, or use --force.")
        return lines
    counts = {
        "written": len(done.written),
        "unchanged": len(done.unchanged),
        "removed": len(done.removed),
    }
    told = [f"{count} {word}" for word, count in counts.items() if count]
    whose = "the portal's own" if owner == PORTAL else f"of {owner}"
    lines.append(f"{directory}: {', '.join(told)}." if told else f"There is nothing {whose}.")
    return lines


def _counted(found: Sequence[Any], noun: str) -> list[str]:
    return [f"{len(found)} {noun}{'s' * (len(found) != 1)}"] if found else []


IMPORT = Command(
    name="import",
    summary="Take workflows and skill cards in from files, as the portal's own.",
    args=ImportArgs,
    run=import_,
    beside_portal=True,
)
EXPORT = Command(
    name="export",
    summary="Write workflows and skill cards as files that import reads.",
    args=ExportArgs,
    run=export,
    beside_portal=True,
)
