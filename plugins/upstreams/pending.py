"""Tools in quarantine as the portal's page ``/approvals`` shows them, where an admin decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gateway.contract import Caller, PendingRequest, PendingRequests, ToolFailed
from plugins.upstreams.catalogue.pins import Quarantined, State, digest
from plugins.upstreams.reviews import Decide, chosen
from plugins.upstreams.servers.server import Server
from plugins.upstreams.servers.servers import Servers

_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


def pending_requests(servers: Servers, decide: Decide) -> PendingRequests:
    """What waits for an admin, and how they decide it; others are told of nothing.

    Args:
        servers: the servers.
        decide: keeps a decision.
    """

    async def of(caller: Caller) -> Sequence[PendingRequest]:
        return [_pending(*each) for each in _waiting(servers)] if caller.admin else []

    async def decided(id: str, caller: Caller, approve: bool, note: str) -> None:
        if not caller.admin:
            raise ToolFailed("not_allowed", "An admin decides which tools of a server are served.")
        found = next((each for each in _waiting(servers) if each[0] == id), None)
        if found is None:
            raise ToolFailed("changed", "It waits no more, or has changed: look at the list again.")
        _, server, tool = found
        state: State = "accepted" if approve else "rejected"
        await decide(server, chosen(server, tool.name), state, caller.person)

    return PendingRequests(of, decided)


def _waiting(servers: Servers) -> Iterator[tuple[str, Server, Quarantined]]:
    """Every tool that waits, with the id of its request."""
    for server in servers:
        for tool in server.offered.verdict.quarantined:
            if not tool.turned_down:
                yield _id(server, tool), server, tool


def _id(server: Server, tool: Quarantined) -> str:
    """It names the definition, so that another one is not decided about unseen."""
    return f"{_UNFIT.sub('_', server.name)}-{digest(tool.entry)[:32]}"


def _pending(id: str, server: Server, tool: Quarantined) -> PendingRequest:
    return PendingRequest(
        id=id,
        title=f"Serve the tool {tool.name} of {server.name}",
        asked_by=server.name,
        asked=server.state.since,
        shown={"why it waits": tool.reason, "what has changed": tool.diff()},
    )
