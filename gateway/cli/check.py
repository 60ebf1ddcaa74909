"""``porch check``: everything an admin should mend, before members meet it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.cli.options import EXIT, config_option, emit, json_option
from gateway.toolkit.counts import counted

if TYPE_CHECKING:
    from gateway.cli.file_check import Findings


@click.command()
@json_option
@config_option
@click.pass_context
def command(ctx: click.Context, as_json: bool, config: Path | None) -> None:
    """Check portal.yaml, tiers.yaml and the plugins.

    Every line names a file, a line, a key and the reason, or a plugin and the reason. The
    plugins are opened beside your data, in a place of their own and without the network: a
    portal that runs is not disturbed.

    \b
    Examples:
      porch check
      porch check --config /etc/porch
      porch check --json                              in a deployment script
    """
    from gateway.cli.checkup import check_directory
    from gateway.config.portal import read_environment
    from gateway.observability import logs

    logs.configure("critical")
    findings = asyncio.run(check_directory(config or read_environment().config))
    if as_json:
        emit({"problems": list(findings.problems), "notes": list(findings.notes)})
    else:
        for line in findings.problems:
            click.echo(line)
        for line in findings.notes:
            click.echo(f"note: {line}")
        click.echo(_summary(findings))
    ctx.exit(EXIT.PROBLEM if findings.problems else EXIT.DONE)


def _summary(findings: Findings) -> str:
    problems, notes = len(findings.problems), len(findings.notes)
    if not (problems or notes):
        return "All well."
    told = counted(problems, "problem") if problems else "No problems"
    return f"{told}, {counted(notes, 'note')}." if notes else f"{told}."
