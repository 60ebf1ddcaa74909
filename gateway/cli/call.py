"""``porch call``: call a tool through the whole pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from gateway.cli.options import EXIT, Setup, as_option, emit, json_option, with_setup


@click.command()
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@as_option
@json_option
@with_setup
@click.pass_context
def command(
    ctx: click.Context,
    setup: Setup,
    tool: str,
    arguments: tuple[str, ...],
    tier: str,
    as_json: bool,
) -> None:
    """Call a tool, as a member's client would.

    The call passes the tier check, validation, the deadline and the audit like any other. Where
    a portal runs on the data directory it answers; else it is opened for this one call.

    A value is read as what the tool asks for: text stays text, numbers, true and false and JSON
    are taken as such, commas separate the items of a list. A dotted key reaches into an object.

    \b
    Examples:
      porch call search_knowledge query="who may use what"
      porch call search_knowledge query=tiers filters.tags=access filters.limit=3
      porch call get_document contentType=tag id=tier --as open
      porch call list_groups --json
    """
    ctx.exit(asyncio.run(_call(setup, tool, arguments, tier, as_json)))


async def _call(setup: Setup, tool: str, pairs: tuple[str, ...], tier: str, as_json: bool) -> EXIT:
    from gateway.cli.arguments import build
    from gateway.cli.connection import connected
    from gateway.cli.mcp_client import McpClient, RequestRefused

    async with connected(setup, tier) as http:
        client = McpClient(http)
        schemas = {each["name"]: each["inputSchema"] for each in await client.list("tools")}
        arguments = build(pairs, schemas.get(tool, {}))
        try:
            result = await client.call(tool, arguments)
        except RequestRefused as refused:
            return _refused(refused, tool, schemas, as_json)
    return _print_result(result, as_json)


def _print_result(response: Mapping[str, Any], as_json: bool) -> EXIT:
    from gateway.cli.render import show_result

    result = _warned(response)
    failed = bool(result.get("isError"))
    if as_json:
        structured = result.get("structuredContent")
        emit(
            _error_of(result) if failed else result["content"] if structured is None else structured
        )
    elif failed:
        click.echo(result["content"][0].get("text", "The tool failed."), err=True)
    else:
        show_result(result)
    return EXIT.PROBLEM if failed else EXIT.DONE


def _warned(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result without the notices of redaction, which go to standard error."""
    from gateway.scrubbing.report import META_KEY, PREFIX

    if META_KEY not in result.get("_meta", {}):
        return result
    kept = []
    for block in result["content"]:
        text = block.get("text", "")
        if text.startswith(PREFIX):
            click.echo(text, err=True)
        else:
            kept.append(block)
    return {**result, "content": kept}


def _error_of(result: Mapping[str, Any]) -> Any:
    """The error as JSON, if the last block holds one, as the portal's own errors do."""
    from pydantic_core import from_json

    try:
        return from_json(result["content"][-1]["text"])
    except (KeyError, IndexError, ValueError):
        return result["content"]


def _refused(refused: Any, tool: str, known: Mapping[str, Any], as_json: bool) -> EXIT:
    from gateway.contract.suggestions import nearest

    if as_json:
        emit({"error": {"code": refused.code, "message": str(refused), "details": refused.data}})
        return EXIT.PROBLEM
    hint = "" if tool in known else nearest(tool, known)
    click.echo(f"{refused}{hint}", err=True)
    if tool not in known:
        click.echo("`porch tools` lists what there is.", err=True)
    return EXIT.PROBLEM
