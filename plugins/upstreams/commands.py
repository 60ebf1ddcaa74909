"""``porch upstreams status``, ``review``, ``accept`` and ``reject``: of the portal that runs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext, ToolFailed

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


async def status(args: ServerArgs, context: CommandContext) -> int:
    """Print how each server is; 1 where one is down, 2 where nobody can say."""
    if (servers := await _servers(args.server, context)) is None:
        return 2
    for each in servers:
        context.echo(_line(each))
        for trouble in _troubles(each):
            context.echo(f"  {trouble}")
    if not servers:
        context.echo("There are no servers: write some under plugins: upstreams: in portal.yaml.")
    return 1 if any(each["state"] == "down" for each in servers) else 0


async def review(args: ServerArgs, context: CommandContext) -> int:
    """Print what waits for a decision, with what has changed; 1 where something does."""
    if (servers := await _servers(args.server, context)) is None:
        return 2
    count = 0
    for server in servers:
        for tool in server["waiting"]:
            count += 1
            context.echo(f"{server['name']}/{tool['name']}: {tool['reason']}.")
            context.echo("\n".join(f"    {line}" for line in tool["diff"].splitlines()))
            both = f"{server['name']} --tool {tool['name']}"
            context.echo(f"  porch upstreams accept {both}   or   porch upstreams reject {both}\n")
    if not count:
        context.echo("Nothing waits.")
    return 1 if count else 0


async def _servers(name: str | None, context: CommandContext) -> list[dict[str, Any]] | None:
    answer = await context.ask("GET", "/servers")
    if answer is None:
        context.echo(_NO_PORTAL)
        return None
    servers = [each for each in answer["servers"] if name in (None, each["name"])]
    if context.json:
        context.emit({"servers": servers})
        return []
    return servers


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
    wish = {"server": args.server, "tool": args.tool, "decision": decision}
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
        context.echo(f"{decision}: {', '.join(answer['tools']) or 'nothing, for nothing waits'}")
    return 0


STATUS = Command("status", "How each server is.", ServerArgs, status, beside_portal=True)
REVIEW = Command("review", "Tools that wait for you.", ServerArgs, review, beside_portal=True)
ACCEPT = Command("accept", "Serve waiting tools.", DecisionArgs, accept, beside_portal=True)
REJECT = Command("reject", "Turn waiting tools down.", DecisionArgs, reject, beside_portal=True)
