"""What an admin reads of the servers, and decides about their tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route, ToolFailed, near
from plugins.upstreams.catalogue.pins import Quarantined, State
from plugins.upstreams.servers.server import Server
from plugins.upstreams.servers.servers import Servers


class NoParams(BaseModel):
    """Nothing is asked for."""

    model_config = ConfigDict(extra="forbid")


class WaitingTool(BaseModel):
    """A tool that is not served until an admin has looked at it."""

    name: str = Field(description="Its name at its server.")
    reason: str = Field(description="Why it waits.")
    diff: str = Field(description="What has changed, line by line; of a new tool all it says.")


class LeftOut(BaseModel):
    """An entry of a server's list that is not served."""

    kind: str = Field(description="tool, prompt, resource or template.")
    name: str = Field(description="Its name or URI.")
    reason: str = Field(description="What is wrong with it, for the server's author.")


class ServerState(BaseModel):
    """How a server is."""

    name: str = Field(description="Its name in portal.yaml.")
    state: Literal["new", "up", "down"] = Field(description="new until it was first reached.")
    since: str = Field(description="Since when, as ISO 8601.")
    reason: str = Field(description="Why it is down, or could not be asked what it offers.")
    says: str = Field(description="The name and version that it gives itself.")
    era: str = Field(description="modern (2026-07-28) or legacy (before); empty where unknown.")
    tools: int = Field(description="How many of its tools are served.")
    prompts: int = Field(description="How many prompts.")
    resources: int = Field(description="How many resources and templates.")
    waiting: list[WaitingTool] = Field(description="Tools in quarantine.")
    left_out: list[LeftOut] = Field(description="Entries that are malformed.")


class AllServers(BaseModel):
    """How all servers are."""

    servers: list[ServerState]


class Decision(BaseModel):
    """What an admin decides about tools of a server."""

    model_config = ConfigDict(extra="forbid")

    server: str = Field(description="The server's name.")
    tool: str = Field("*", description="The tool's name at its server; * is every one that waits.")
    decision: Literal["accepted", "rejected"] = Field(description="What is decided.")


class Decided(BaseModel):
    """What was decided."""

    server: str
    decision: str
    tools: list[str] = Field(description="The tools that it was decided about.")


Decide = Callable[[Server, Sequence[Quarantined], State, str | None], Awaitable[None]]
"""``await decide(server, tools, decision, by)``: keeps a decision and puts it in force."""


def state_of(server: Server) -> ServerState:
    """How a server is, for people and programs."""
    offered = server.offered
    said = [str(value) for key in ("name", "version") if (value := offered.about.get(key))]
    return ServerState(
        name=server.name,
        state=server.state.status,
        since=server.state.since.isoformat(timespec="seconds"),
        reason=server.state.reason or server.problem,
        says=" ".join(said),
        era=server.era,
        tools=len(offered.verdict.served),
        prompts=len(offered.of("prompt")),
        resources=len(offered.of("resource")) + len(offered.of("template")),
        waiting=[
            WaitingTool(name=each.name, reason=each.reason, diff=each.diff())
            for each in offered.verdict.quarantined
        ],
        left_out=[
            LeftOut(kind=each.kind, name=each.id, reason=each.reason) for each in offered.malformed
        ],
    )


def routes(servers: Servers, decide: Decide) -> list[Route]:
    """The routes, for admins alone.

    Args:
        servers: the servers.
        decide: keeps a decision.
    """

    async def look(params: NoParams, caller: Caller) -> AllServers:
        return AllServers(servers=[state_of(each) for each in servers])

    async def review(params: Decision, caller: Caller) -> Decided:
        server = servers.get(params.server)
        if server is None:
            raise _unknown("server", params.server, [each.name for each in servers])
        tools = chosen(server, params.tool)
        await decide(server, tools, params.decision, caller.person)
        names = [each.name for each in tools]
        return Decided(server=server.name, decision=params.decision, tools=names)

    return [
        Route("GET", "/servers", look, None, NoParams, AllServers, "How servers are.", admin=True),
        Route(
            "POST",
            "/review",
            review,
            None,
            Decision,
            Decided,
            "Accept or reject tools that wait.",
            admin=True,
        ),
    ]


def chosen(server: Server, tool: str) -> list[Quarantined]:
    """The waiting tools of a server that a decision is about.

    Raises:
        ToolFailed: none is called that.
    """
    waiting = server.offered.verdict.quarantined
    found = [each for each in waiting if tool in ("*", each.name)]
    if not found and tool != "*":
        raise _unknown("waiting tool", tool, [each.name for each in waiting])
    return found


def _unknown(what: str, name: str, valid: Sequence[str]) -> ToolFailed:
    nearest = near(name, valid)
    hint = f" Did you mean {', '.join(nearest)}?" if nearest else ""
    return ToolFailed("not_found", f"There is no {what} {name!r}.{hint}")
