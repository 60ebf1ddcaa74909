"""``porch upstreams status``, ``review``, ``accept`` and ``reject``: of the portal that runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext, ToolFailed
from plugins.upstreams.wording import no_such, visible

_NO_PORTAL = "No portal runs with this data directory: start it with porch serve."


class ServerArgs(BaseModel):
    """What ``porch upstreams status`` and ``review`` take."""

    server: str | None = Field(None, description="Only the server of this name.")


class DecisionArgs(BaseModel):
    """What ``porch upstreams accept`` and ``reject`` take."""

    server: str = Field(description="The server's name.")
    tool: str = Field(
        "*", description="One tool, by its name at its server; all that wait if not given."
    )
    digest: str | None = Field(
        None,
        description="The definition that review has shown: one that has changed since is not "
        "decided about.",
    )


async def status(args: ServerArgs, context: CommandContext) -> int:
    """Print how each server is; 1 where one is down, 2 where nobody can say."""
    if (servers := await _servers(args.server, context)) is None:
        return 2
    if context.json:
        context.emit({"servers": servers})
    else:
        for line in _overview(servers):
            context.echo(visible(line))
    return 1 if any(each["state"] == "down" for each in servers) else 0


async def review(args: ServerArgs, context: CommandContext) -> int:
    """Print what waits for a decision, with what has changed; 1 where something does."""
    if (servers := await _servers(args.server, context)) is None:
        return 2
    waiting = [(server["name"], tool) for server in servers for tool in server["waiting"]]
    if context.json:
        context.emit({"servers": servers})
    elif not waiting:
        context.echo("Nothing waits.")
    else:
        for server, tool in waiting:
            _show(server, tool, context)
    return 1 if waiting else 0


def _show(server: str, tool: dict[str, Any], context: CommandContext) -> None:
    context.echo(visible(f"{server}/{tool['name']}: {tool['reason']}."))
    for line in tool["diff"].splitlines():
        context.echo(visible(f"    {line}"))
    which = shlex.join([server, "--tool", tool["name"], "--digest", tool["digest"]])
    for decide in ("accept", "reject"):
        context.echo(visible(f"  porch upstreams {decide} {which}"))
    context.echo("")


async def _servers(name: str | None, context: CommandContext) -> list[dict[str, Any]] | None:
    """All servers, or the one of that name; None where that is to be said, and was."""
    answer = await context.ask("GET", "/servers")
    if answer is None:
        context.echo(_NO_PORTAL)
        return None
    servers: list[dict[str, Any]] = answer["servers"]
    names = [each["name"] for each in servers]
    if name is not None and name not in names:
        context.echo(no_such("server", name, names))
        return None
    return [each for each in servers if name in (None, each["name"])]


def _overview(servers: list[dict[str, Any]]) -> Iterator[str]:
    for each in servers:
        yield _line(each)
        if last := each["last_break"]:
            times = "once" if each["breaks"] == 1 else f"{each['breaks']} times"
            yield f"  its connection has ended by itself {times}, last at {last}"
        yield from (f"  {trouble}" for trouble in _troubles(each))
    if not servers:
        yield "There are no servers: write some under plugins: upstreams: in portal.yaml."


def _line(server: dict[str, Any]) -> str:
    says = f" ({server['says']})" if server["says"] else ""
    counts = ", ".join(
        f"{server[f'{what}s']} {what}{'s' * (server[f'{what}s'] != 1)}"
        for what in ("tool", "prompt", "resource")
    )
    return f"{server['name']}{says}: {server['state']} since {server['since']}; {counts}"


def _troubles(server: dict[str, Any]) -> list[str]:
    reason = [server["reason"]] if server["reason"] else []
    waiting = [f"waits: {each['name']}: {each['reason']}" for each in server["waiting"]]
    left_out = [
        f"left out: {each['kind']} {each['name']}: {each['reason']}" for each in server["left_out"]
    ]
    return reason + waiting + left_out


async def accept(args: DecisionArgs, context: CommandContext) -> int:
    """Have tools served as they are now."""
    return await _decide(args, "accepted", context)


async def reject(args: DecisionArgs, context: CommandContext) -> int:
    """Have tools not served until they change."""
    return await _decide(args, "rejected", context)


async def _decide(args: DecisionArgs, decision: str, context: CommandContext) -> int:
    wish = {"server": args.server, "tool": args.tool, "decision": decision, "digest": args.digest}
    try:
        answer = await context.ask("POST", "/review", wish)
    except ToolFailed as failed:
        context.echo(failed.message)
        return 1
    if answer is None:
        context.echo(_NO_PORTAL)
        return 2
    if context.json:
        context.emit(answer)
    else:
        tools = ", ".join(answer["tools"]) or "nothing, for nothing waits"
        context.echo(visible(f"{decision}: {tools}"))
    return 0


STATUS = Command("status", "How each server is.", ServerArgs, status, beside_portal=True)
REVIEW = Command("review", "Tools that wait for you.", ServerArgs, review, beside_portal=True)
ACCEPT = Command("accept", "Serve waiting tools.", DecisionArgs, accept, beside_portal=True)
REJECT = Command("reject", "Turn waiting tools down.", DecisionArgs, reject, beside_portal=True)
