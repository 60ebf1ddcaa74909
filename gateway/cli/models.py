"""``porch models``: which language model does what, and whether it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import EXIT, Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from gateway.contract import Database
    from gateway.services.models.records import CallEnd
    from gateway.services.models.service import ModelService

ROLES = ("simple", "complex", "chat", "fallback")


@click.group()
def command() -> None:
    """See which language model does what, and try one.

    Which ones there are says `services.models` in portal.yaml. A portal needs none.

    \b
    Examples:
      porch models list
      porch models test
      porch models test complex
    """


@command.command("list")
@json_option
@with_setup
@click.pass_context
def list_(ctx: click.Context, setup: Setup, as_json: bool) -> None:
    """List the roles with their models, and what is wrong with their providers.

    Each provider is asked for the list of its models, which costs nothing. The exit code is 1
    where something has to be mended.

    \b
    Examples:
      porch models list
      porch models list --json
    """
    rows, problems = asyncio.run(listed(setup))
    if as_json:
        emit({"roles": rows, "problems": problems})
    elif not rows:
        click.echo("This portal has no language model. See services.models in portal.yaml.")
    else:
        from gateway.cli.stored import show_table

        head = ("ROLE", "PROVIDER", "MODEL", "ADDRESS")
        show_table(head, [tuple(row.values()) for row in rows])
        for problem in problems:
            click.echo(problem)
    ctx.exit(EXIT.PROBLEM if problems else EXIT.DONE)


@command.command()
@click.argument("role", type=click.Choice(ROLES), default="simple")
@json_option
@with_setup
@click.pass_context
def test(ctx: click.Context, setup: Setup, role: str, as_json: bool) -> None:
    """Ask the model of a role one short question; it is metered like any other call.

    \b
    Examples:
      porch models test
      porch models test chat --json
    """
    told = asyncio.run(_tested(setup, role))
    if as_json:
        emit(told)
    elif told["ok"]:
        cost = told["cost_usd"]
        click.echo(
            f"{told['model']} of {told['provider']} answers, in {told['latency_ms']} ms. Cost: "
            + ("not known." if cost is None else f"{cost} USD.")
        )
    else:
        click.echo(f"{told['code']}: {told['message']}")
    ctx.exit(EXIT.DONE if told["ok"] else EXIT.PROBLEM)


async def listed(setup: Setup) -> tuple[list[dict[str, str]], list[str]]:
    """The roles with their models, and what is wrong; the database is not touched."""
    from gateway.cli.stored import opened_database

    async with (
        opened_database(setup) as database,
        _opened(setup, database.for_owner("gateway")) as service,
    ):
        rows = []
        for role, named in service.config.roles.items():
            name, _, model = named.partition("/")
            at = service.providers[name].url
            rows.append({"role": role, "provider": name, "model": model, "address": at})
        await service.examine()
        return rows, list(service.notices())


async def _tested(setup: Setup, role: Any) -> dict[str, Any]:
    from gateway.cli.stored import opened_tables
    from gateway.contract.models import ModelFailed
    from gateway.services.models.records import Purpose
    from gateway.services.models.trial import Ready

    ends: list[CallEnd] = []
    async with opened_tables(setup) as database, _opened(setup, database) as service:
        service.sinks.append(lambda call, end: ends.append(end))
        purpose = Purpose("gateway", role, None, "test")
        try:
            answer = await service.generate(Ready, "Answer that you are ready.", "", purpose)
        except ModelFailed as failed:
            return {"ok": False, "role": role, "code": failed.code, "message": failed.message}
    said, end = answer.provenance, ends[-1]
    return {
        "ok": True,
        "role": role,
        "provider": said.provider,
        "model": said.model,
        "latency_ms": end.latency_ms,
        "tokens_in": end.tokens.input if end.tokens else None,
        "tokens_out": end.tokens.output if end.tokens else None,
        "cost_usd": usd(end.cost_nano_usd),
    }


def usd(nano: int | None) -> str | None:
    """A cost as it is written, exactly: ``0.000123``."""
    from decimal import Decimal

    from gateway.services.models.records import NANO_USD

    return None if nano is None else f"{Decimal(nano) / NANO_USD:f}"


@asynccontextmanager
async def _opened(setup: Setup, database: Database) -> AsyncGenerator[ModelService]:
    from gateway.services.models.service import ModelService

    portal = setup.portal
    service = ModelService(
        portal.config.services.models, database, portal.root, portal.config.scrubbing.allow
    )
    try:
        yield service
    finally:
        await service.close()
