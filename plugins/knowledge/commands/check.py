"""``porch knowledge check``: what members should mend, before anything is served."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext


class CheckArgs(BaseModel):
    """What ``porch knowledge check`` takes."""

    directory: Path = Field(description="The directory of markdown notes to check.")


async def check(args: CheckArgs, context: CommandContext) -> int:
    """Report every note's problems; 1 where a note cannot be served, 2 without a directory."""
    from plugins.knowledge.inspection import inspect, lines, mistakes, propose
    from plugins.knowledge.sync.sources import SourceMissing

    try:
        report = await asyncio.to_thread(inspect, args.directory, context.config)
        proposal = None
        if report.unpublished or not report.files:
            proposal = await asyncio.to_thread(
                propose, args.directory, context.config, root=context.root
            )
        if proposal and proposal.report.served.total() <= report.served.total():
            proposal = None
    except SourceMissing as error:
        context.echo(f"Cannot list the notes: {error.strerror}")
        return 2
    if context.json:
        looks = {"proposal": proposal.as_json()} if proposal else {}
        context.emit(report.as_json() | looks)
    else:
        for line in mistakes(args.directory, context.config):
            context.echo(f"note: {line}")
        for line in lines(report) + (proposal.lines() if proposal else []):
            context.echo(line)
    return 1 if report.errors else 0


CHECK = Command(
    name="check",
    summary="Report the problems of every note in a directory, as file:line: reason.",
    args=CheckArgs,
    run=check,
)
