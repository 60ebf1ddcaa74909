"""What an admin reads of the servers, and decides about their tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route, ToolFailed
from plugins.upstreams.catalogue.pins import Quarantined, State, digest
from plugins.upstreams.servers.server import Server
from plugins.upstreams.servers.servers import Servers
from plugins.upstreams.wording import no_such

_DIGEST_CHARACTERS = 16


class NoParams(BaseModel):
    """Nothing is asked for."""

    model_config = ConfigDict(extra="forbid")


class WaitingTool(BaseModel):
    """A tool that is not served until an admin has looked at it."""

    name: str = Field(description="Its name at its server.")
    reason: str = Field(description="Why it waits.")
    digest: str = Field(description="Tells this definition from any other that it may have later.")
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
    breaks: int = Field(
        description="How often a connection to it ended by itself since the portal runs."
    )
    last_break: str = Field(description="When it last did, as ISO 8601, and why; empty for never.")
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
    digest: str | None = Field(
        None, description="The definition that was looked at; another one is not decided about."
    )


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
    state, last = server.state, server.state.last_break
    return ServerState(
        name=server.name,
        state=state.status,
        since=_instant(state.since),
        reason=state.reason or server.problem,
        breaks=state.breaks,
        last_break="" if last is None else f"{_instant(last[0])}: {last[1]}",
        says=" ".join(said),
        era=server.era,
        tools=len(offered.verdict.served),
        prompts=len(offered.of("prompt")),
        resources=len(offered.of("resource")) + len(offered.of("template")),
        waiting=[
            WaitingTool(name=each.name, reason=each.reason, digest=_digest(each), diff=each.diff())
            for each in offered.verdict.quarantined
        ],
        left_out=[
            LeftOut(kind=each.kind, name=each.id, reason=each.reason) for each in offered.malformed
        ],
    )


def _instant(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


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
            names = [each.name for each in servers]
            raise ToolFailed("not_found", no_such("server", params.server, names))
        tools = chosen(server, params.tool, params.digest)
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


def chosen(server: Server, tool: str, seen: str | None = None) -> list[Quarantined]:
    """The waiting tools of a server that a decision is about.

    Args:
        server: which.
        tool: the tool's name there, or ``*``.
        seen: the digest of the definition that was looked at; None for whatever it is now.

    Raises:
        ToolFailed: none is called that, or it has changed since it was looked at.
    """
    waiting = server.offered.verdict.quarantined
    found = [each for each in waiting if tool in ("*", each.name)]
    if not found and tool != "*":
        names = [each.name for each in waiting]
        raise ToolFailed("not_found", no_such("waiting tool", tool, names))
    if seen is not None and any(_digest(each) != seen for each in found):
        text = f"{tool} of {server.name} has changed since you looked at it: review it once more."
        raise ToolFailed("changed", text)
    return found


def _digest(tool: Quarantined) -> str:
    return digest(tool.entry)[:_DIGEST_CHARACTERS]
