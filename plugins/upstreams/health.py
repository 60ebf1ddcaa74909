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
    catalogue, verdict = server.catalogue, server.verdict
    return {
        "state": server.state.standing,
        "since": server.state.since.isoformat(timespec="seconds"),
        "reason": server.state.reason or server.problem,
        "server": {key: server.about.get(key) for key in ("name", "version")},
        "asked": server.fetched.isoformat(timespec="seconds") if server.fetched else None,
        "tools": len(verdict.served),
        "prompts": len(server.offered("prompt")),
        "skills": len(server.skills),
        "resources": len(server.offered("resource")) + len(server.offered("template")),
        "quarantined": [
            {"tool": each.name, "reason": each.reason} for each in verdict.quarantined[:_MAX_NAMED]
        ],
        "malformed": [
            {"kind": each.kind, "name": each.id, "reason": each.reason}
            for each in (catalogue.malformed[:_MAX_NAMED] if catalogue else ())
        ],
        "cut": list(catalogue.cut) if catalogue else [],
    }


def _trouble(server: Server) -> str:
    found = []
    if server.state.is_down:
        since = f"{server.state.since:%Y-%m-%d %H:%M} UTC"
        found.append(f"has not answered since {since}: {server.state.reason}")
    elif server.problem:
        found.append(f"could not be asked what it offers: {server.problem}")
    if count := len(server.verdict.quarantined):
        tools = "a tool" if count == 1 else f"{count} tools"
        found.append(f"has {tools} in quarantine (porch upstreams review)")
    if server.catalogue and (count := len(server.catalogue.malformed)):
        first = server.catalogue.malformed[0]
        entries = "a malformed entry," if count == 1 else f"{count} malformed entries, such as"
        found.append(f"offers {entries} {first.id}: {first.reason}")
    if server.catalogue and (cut := server.catalogue.cut):
        kinds = " and ".join(f"{kind}s" for kind in cut)
        found.append(f"offers more {kinds} than {server.config.max_tools:,} (max_tools)")
    if withheld := server.instructions[1]:
        found.append(f"is not quoted to clients, because {withheld}")
    if trouble := trouble_of(server):
        found.append(trouble)
    return f"{server.name} {', and '.join(found)}." if found else ""
