"""``porch token``: API tokens for programs, which carry their tier by themselves."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gateway.cli.connection import admin_answer
from gateway.cli.options import TIERS, Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from datetime import datetime

    from auth.stores import ApiToken


@click.group()
def command() -> None:
    """Make, list and revoke API tokens for programs.

    Such a token carries its tier by itself and belongs to nobody: its holder is known as
    token:NAME. People make their own on the portal's page /account.

    \b
    Examples:
      porch token create --tier members --name ci --expires 90d
      porch token list
      porch token revoke ci
    """


@command.command()
@click.option("--tier", type=click.Choice(TIERS), required=True, help="The tier that it grants.")
@click.option("--name", required=True, help="What it is for: a-z, 0-9 and hyphens.")
@click.option(
    "--expires",
    metavar="SPAN",
    callback=lambda _ctx, _param, text: _ends(text) if text else None,
    help="When it ends, such as 90d; never if not given.",
)
@click.option(
    "--tool", "tools", metavar="NAME", multiple=True, help="Only this tool; may be repeated."
)
@click.option(
    "--unchecked", is_flag=True, help="Take tools that no plugin offers now, as one that is off."
)
@with_setup
def create(
    setup: Setup,
    tier: str,
    name: str,
    expires: datetime | None,
    tools: tuple[str, ...],
    unchecked: bool,
) -> None:
    """Make a token and print it, and nothing else.

    It is shown this once and stored as its digest. It is good at once, also where a portal runs.
    A tool is called what `porch tools` calls it; a name that no plugin offers is refused.

    \b
    Examples:
      porch token create --tier members --name ci
      porch token create --tier public --name bot --expires 90d --tool search_knowledge
    """
    if tools and not unchecked:
        _check(setup, tools)
    click.echo(asyncio.run(_create(setup, name, tier, tools, expires)))


def _check(setup: Setup, tools: tuple[str, ...]) -> None:
    """Refuse tools that the portal does not have; one that does not run is opened to ask.

    Raises:
        click.UsageError: it has no such tool; the message names those that come near.
    """
    answer = admin_answer(setup, "GET", "tools", params={"name": list(tools)})
    if not answer["unknown"]:
        return
    lines = [_unknown(each["name"], each["near"]) for each in answer["unknown"]]
    if answer["closed"]:
        off = ", ".join(answer["closed"])
        lines.append(f"Not open, so that their tools are not known: {off}. See --unchecked.")
    raise click.UsageError("\n".join([*lines, "`porch tools` lists them."]))


def _unknown(name: str, near: list[str]) -> str:
    from gateway.cli.render import clean

    meant = f" Is {' or '.join(near)} meant?" if near else ""
    return f"There is no tool {clean(name)!r}.{meant}"


def _ends(text: str) -> datetime:
    from auth.stores import utc_now
    from gateway.cli.stored import span

    try:
        return utc_now() + span(text, "--expires")
    except OverflowError:
        raise click.BadParameter(
            f"{text!r} is longer than any calendar.", param_hint="--expires"
        ) from None


async def _create(
    setup: Setup, name: str, tier: str, tools: tuple[str, ...], ends: datetime | None
) -> str:
    from auth import Tier
    from auth.tokens.api_tokens import ApiTokens, NameTaken
    from gateway.cli.stored import opened_stores

    async with opened_stores(setup) as (stores, revocations):
        tokens = ApiTokens(stores.tokens, stores.people, revocations)
        try:
            _, text = await tokens.create_operator(
                name, Tier(tier), tools=tools or None, expires=ends
            )
        except NameTaken as error:
            raise click.ClickException(str(error)) from None
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    return text


@command.command("list")
@json_option
@with_setup
def list_(setup: Setup, as_json: bool) -> None:
    """List the tokens that are not revoked, without their texts.

    \b
    Examples:
      porch token list
      porch token list --json
    """
    tokens = asyncio.run(_tokens(setup))
    if as_json:
        emit([_json(token) for token in tokens])
        return
    if not tokens:
        click.echo("There is no token. `porch token create` makes one.")
        return
    from gateway.cli.render import clean
    from gateway.cli.stored import day, show_table

    rows = [
        (
            token.name,
            str(token.granted),
            day(token.created),
            day(token.expires),
            day(token.used),
            clean(", ".join(sorted(token.tools))) if token.tools is not None else "all",
        )
        for token in tokens
    ]
    show_table(("name", "tier", "created", "expires", "last used", "tools"), rows)


async def _tokens(setup: Setup) -> list[ApiToken]:
    from gateway.cli.stored import opened_stores

    async with opened_stores(setup) as (stores, _):
        return await stores.tokens.operators()


def _json(token: ApiToken) -> dict[str, object]:
    record = asdict(token) | {"tools": None if token.tools is None else sorted(token.tools)}
    for name in ("created", "expires", "used"):
        record[name] = record[name] and record[name].isoformat()
    return {name: value for name, value in record.items() if name not in {"ceiling", "revoked"}}


@command.command()
@click.argument("name")
@with_setup
def revoke(setup: Setup, name: str) -> None:
    """Revoke the token of a name.

    A portal that runs refuses it within seconds.

    \b
    Examples:
      porch token revoke ci
    """
    asyncio.run(_revoke(setup, name))
    click.echo(f"The token {name} is revoked.")


async def _revoke(setup: Setup, name: str) -> None:
    from auth.tokens.api_tokens import ApiTokens
    from gateway.cli.stored import opened_stores

    async with opened_stores(setup) as (stores, revocations):
        tokens = ApiTokens(stores.tokens, stores.people, revocations)
        found = [each for each in await tokens.operators() if each.name == name]
        if not found:
            raise click.ClickException(
                f"There is no token {name!r}; `porch token list` shows them."
            )
        for token in found:
            await tokens.revoke(token.person, token.id)
