"""How the servers are, for ``/readyz`` and the admin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gateway.contract import Health
from plugins.upstreams.commons.sources import trouble_of
from plugins.upstreams.servers.server import Server

_MAX_NAMED = 20


async def health_of(servers: Iterable[Server]) -> Health:
    """Degraded where a server is down or a tool is not served; the portal stays ready."""
    everyone = list(servers)
    troubles = [trouble for server in everyone if (trouble := _trouble(server))]
    facts = {"servers": {server.name: facts_of(server) for server in everyone}}
    if troubles:
        return Health("degraded", " ".join(troubles), facts)
    return Health("ok", "" if everyone else "No server is configured.", facts)


def facts_of(server: Server) -> dict[str, Any]:
    """What an admin may want to know of a server, as JSON values."""
    offered = server.offered
    return {
        "state": server.state.status,
        "since": server.state.since.isoformat(timespec="seconds"),
        "reason": server.state.reason or server.problem,
        "server": {key: offered.about.get(key) for key in ("name", "version")},
        "asked": offered.fetched.isoformat(timespec="seconds") if offered.fetched else None,
        "tools": len(offered.verdict.served),
        "prompts": len(offered.of("prompt")),
        "skills": len(offered.skills),
        "resources": len(offered.of("resource")) + len(offered.of("template")),
        "quarantined": [
            {"tool": each.name, "reason": each.reason}
            for each in offered.verdict.quarantined[:_MAX_NAMED]
        ],
        "malformed": [
            {"kind": each.kind, "name": each.id, "reason": each.reason}
            for each in offered.malformed[:_MAX_NAMED]
        ],
        "cut": list(offered.cut),
    }


def _unasked(server: Server) -> str:
    """Why it cannot be asked, to be read after its name; nothing where it can."""
    if server.state.is_down:
        since = f"{server.state.since:%Y-%m-%d %H:%M} UTC"
        return f"has not answered since {since}: {server.state.reason}"
    if server.problem:
        return f"could not be asked what it offers: {server.problem}"
    return server.credential.trouble


def _trouble(server: Server) -> str:
    offered = server.offered
    found = [why] if (why := _unasked(server)) else []
    if count := len(offered.verdict.quarantined):
        tools = "a tool" if count == 1 else f"{count} tools"
        found.append(f"has {tools} in quarantine (porch upstreams review)")
    if count := len(offered.malformed):
        first = offered.malformed[0]
        entries = "a malformed entry," if count == 1 else f"{count} malformed entries, such as"
        found.append(f"offers {entries} {first.id}: {first.reason}")
    if offered.cut:
        kinds = " and ".join(f"{kind}s" for kind in offered.cut)
        found.append(f"offers more {kinds} than {server.config.max_tools:,} (max_tools)")
    if withheld := offered.instructions[1]:
        found.append(f"is not quoted to clients, because {withheld}")
    if trouble := trouble_of(server):
        found.append(trouble)
    return f"{server.name} {', and '.join(found)}." if found else ""
