"""``porch doctor``: what an admin should mend, the heaviest first, each with what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from gateway.cli.connection import request_portal
from gateway.cli.options import EXIT, Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.cli.file_check import Findings
    from gateway.config.portal import Portal
    from gateway.observability.diagnosis import Finding

_LATE = "It did not open within "
_NOTED = "The portal serves all the same; change it where you want it otherwise."
_HEADS = {
    1: ("Broken: people feel it now", "red"),
    2: ("At risk: mend it soon", "yellow"),
    3: ("Worth knowing", "cyan"),
}


@click.command()
@json_option
@with_setup
@click.pass_context
def command(ctx: click.Context, setup: Setup, as_json: bool) -> None:
    """Say what an admin should mend, in order, each with what to do.

    It asks the portal that runs on this data directory, looks at the machine, and reads the
    configuration; where no portal runs, it checks it as `porch check` does. It changes nothing.
    The exit code is 1 where something is broken or at risk.

    \b
    Examples:
      porch doctor
      porch doctor --json
    """
    findings = asyncio.run(_examined(setup))
    if as_json:
        emit([{**each._asdict(), "weight": each.weight.name.lower()} for each in findings])
    else:
        for line in lines(findings):
            click.echo(line)
    serious = any(each.weight < 3 for each in findings)
    ctx.exit(EXIT.PROBLEM if serious else EXIT.DONE)


async def _examined(setup: Setup) -> list[Finding]:
    """Everything that was found, the heaviest first, nothing twice."""
    from gateway.observability.diagnosis import Finding, Weight, of_disk, of_machine, of_portal

    config = setup.portal.config
    running = await request_portal(setup, "GET", "/admin/status")
    told = {each["name"]: each["detail"] for each in running["plugins"]} if running else {}
    checked = _of_files(setup.portal) if running else await _opened_beside(setup.portal)
    findings = [*of_disk(setup.data_dir), *_of_check(checked, told)]
    if running is None:
        what = f"No portal runs on {setup.data_dir}."
        findings.append(Finding(Weight.RISK, what, "Start it with `porch serve`, or name --data."))
        findings += await _of_models(setup)
    else:
        findings += of_portal(running)
        if not config.is_local:
            from gateway.cli.public_address import of_address

            findings += await of_address(config.url)
    tokens = bool(setup.environment.static_tokens.get_secret_value())
    findings += of_machine(setup.data_dir, tokens, not config.is_local)
    findings += _of_database(setup)
    lightest_first = sorted(findings, key=lambda each: each.weight, reverse=True)
    unique = {each.what: each for each in lightest_first}
    return sorted(unique.values(), key=lambda each: each.weight)


def _of_database(setup: Setup) -> Iterator[Finding]:
    """A database that is left behind; an address that cannot be read is a finding of the check."""
    from gateway.observability.diagnosis import of_database

    if (said := setup.portal.config.services.database) == "sqlite":
        return
    from gateway.services.secrets import SecretMissing, address

    with suppress(SecretMissing):
        yield from of_database(setup.data_dir, address(said, setup.portal.root))


async def _of_models(setup: Setup) -> list[Finding]:
    """What is wrong with language models, of which no portal tells that runs."""
    from gateway.cli.models import listed
    from gateway.observability.diagnosis import Finding, Weight

    if not setup.portal.config.services.models.roles:
        return []
    _, problems = await listed(setup)
    todo = "Mend services.models in portal.yaml; `porch models list` looks again."
    return [Finding(Weight.RISK, problem, todo) for problem in problems]


def _of_files(portal: Portal) -> Findings:
    """What the files say by themselves: the portal that runs knows how its plugins are."""
    from gateway.cli.file_check import Findings, file_problems
    from gateway.plugin_discovery import discover

    return Findings(tuple(file_problems(portal, discover()).lines), ())


async def _opened_beside(portal: Portal) -> Findings:
    from gateway.cli.checkup import check_portal
    from gateway.observability import logs

    logs.configure("critical")
    return await check_portal(portal)


def _of_check(checked: Findings, told: Mapping[str, str]) -> Iterator[Finding]:
    """What the check of the configuration found, without what the running portal knows better.

    Args:
        checked: what was found.
        told: what the running portal says of each plugin.
    """
    from gateway.observability.diagnosis import Finding, Weight

    for problem in checked.problems:
        plugin, _, detail = problem.partition(": ")
        if detail == told.get(plugin):
            continue
        if not detail.startswith(_LATE):
            yield Finding(Weight.BROKEN, problem, "Mend that line; `porch check` looks again.")
        elif plugin not in told:  # where a portal runs, it is open there
            yield Finding(Weight.RISK, problem, "The machine is busy, or what it needs is slow.")
    for note in checked.notes:
        yield Finding(Weight.ADVICE, note, _NOTED)


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """The findings for a person, 80 columns wide."""
    from gateway.cli.render import style
    from gateway.cli.status import folded

    if not findings:
        yield style("✓ Nothing to mend.", fg="green", bold=True)
        return
    head = 0
    for number, each in enumerate(findings, start=1):
        if each.weight != head:
            if head:
                yield ""
            head = each.weight
            text, colour = _HEADS[head]
            yield style(text, fg=colour, bold=True)
        yield from folded(f"{number:>2}. ", each.what)
        yield from folded("    → ", each.todo)
