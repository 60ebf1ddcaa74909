"""``porch codegraph onboard``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext

if TYPE_CHECKING:
    from plugins.codegraph.client_setup.onboard import Step


class OnboardArgs(BaseModel):
    """What ``porch codegraph onboard`` takes."""

    path: Path = Field(description="The project's root directory.")
    check: bool = Field(False, description="Say what is missing or old; write nothing.")
    update: bool = Field(False, description="Renew what an older version wrote, too.")
    url: str | None = Field(
        None, description="The portal's MCP endpoint; else what portal.yaml has as public_url."
    )


async def onboard(args: OnboardArgs, context: CommandContext) -> int:
    """Write the rule and the clients' settings into a project; exit code 1 if something is
    wrong."""
    from plugins.codegraph.client_setup import onboard as project

    if args.check and args.update:
        context.echo("--check writes nothing and --update writes: give one of them.")
        return 2
    if not args.path.is_dir():
        context.echo(f"{args.path} is not a directory. Give the root of the project.")
        return 2
    mode = project.Mode.UPDATE if args.update else project.Mode.WRITE
    mode = project.Mode.CHECK if args.check else mode
    steps = project.onboard(args.path, args.url or context.url, mode)
    if context.json:
        context.emit([asdict(step) for step in steps])
    else:
        for line in _step_lines(steps):
            context.echo(line)
    fine = (project.Outcome.CURRENT, project.Outcome.WRITTEN, project.Outcome.BY_HAND)
    return 0 if all(step.outcome in fine for step in steps) else 1


def _step_lines(steps: Sequence[Step]) -> Iterator[str]:
    width = max(len(step.path) for step in steps)
    for step in steps:
        yield f"{step.outcome.value:<8}  {step.path:<{width}}  {step.client}"
        if step.reason:
            yield f"          {step.reason}"
        if step.paste:
            yield from (f"            {line}" for line in step.paste.splitlines())
    if any(step.outcome.value == "written" for step in steps):
        yield ""
        yield "Commit what was written. Each client asks to allow the server when it starts."


ONBOARD = Command(
    name="onboard",
    summary="Make a project ready for Claude Code, Cursor, VS Code and Windsurf.",
    args=OnboardArgs,
    run=onboard,
    beside_portal=True,
)
