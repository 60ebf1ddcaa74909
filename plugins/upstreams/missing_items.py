"""What of the servers a caller does not see, or cannot use now, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Literal

from gateway.contract import Absent, Caller
from plugins.upstreams.catalogue.entries import Kind
from plugins.upstreams.catalogue.names import SEPARATOR, key_of, shown_name
from plugins.upstreams.commons.sources import trouble_of
from plugins.upstreams.credentials.credential import Lacking
from plugins.upstreams.servers.server import Server

_LACKING_SECONDS = 1.0
"""Seconds for what the database knows of connections, of the two that the gateway waits."""
_MAX_OF_A_SERVER = 200
"""Entries of a server that are told of, at most."""
_KINDS: Mapping[Kind, Literal["tool", "prompt", "resource"]] = {
    "tool": "tool",
    "prompt": "prompt",
    "resource": "resource",
    "template": "resource",
    "skill": "resource",
}


async def absent(servers: Iterable[Server], caller: Caller) -> list[Absent]:
    """What is not there of any server (``Offer.absent``).

    Args:
        servers: the servers.
        caller: who misses something, which decides what they have to connect.
    """
    everyone, found = list(servers), list[Absent]()
    lacking = await asyncio.gather(*(_lacking(each, caller) for each in everyone))
    for server, connection in zip(everyone, lacking, strict=True):
        found += _of_the_server(server)
        if connection is not None:
            why = f"connection_{connection.why}"
            found.append(_source(server, why, connection.reason, link=connection.link))
        found += [*_left_out(server), *_quarantined(server), *_not_taken(server)][:_MAX_OF_A_SERVER]
    return found


async def _lacking(server: Server, caller: Caller) -> Lacking | None:
    """What the caller has to connect; a database that is slow does not keep back all the rest."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LACKING_SECONDS):
            return await server.lacking(caller)
    return None


def _source(server: Server, why: str, reason: str, detail: str = "", link: str = "") -> Absent:
    return Absent(
        server.name,
        key_of(server.name, ""),
        why,
        reason,
        "source",
        server.config.tier,
        f"{server.name}{SEPARATOR}",
        link,
        detail,
    )


def _of_the_server(server: Server) -> Iterator[Absent]:
    state, catalogue = server.state, server.offered.catalogue
    if state.is_down:
        since = f"{server.name} has not answered since {state.since:%Y-%m-%d %H:%M} UTC."
        known = (
            "What it offered last stays listed, and cannot be used until it is back."
            if catalogue is not None
            else "What it offers is not known yet."
        )
        reason = f"{since} {known} It is asked again by itself."
        yield _source(server, "down", reason, state.reason)
    elif catalogue is None:
        reason = f"{server.name} is being asked for the first time: ask again in a moment."
        yield _source(server, "new", reason, server.problem)
    elif server.problem:
        reason = f"{server.name} could not be asked last what it offers, so a list may be old."
        yield _source(server, "not_listed", reason, server.problem)
    if trouble := trouble_of(server):
        reason = f"{server.name} is of the commons, and has no search tool that can be used now."
        yield _source(server, "no_search", reason, f"{server.name} {trouble}.")
    for kind in server.offered.cut:
        most = server.config.max_tools
        reason = f"{server.name} offers more {kind}s than the {most:,} that are taken of it."
        yield _source(server, "cut", reason, "max_tools in portal.yaml says how many are.")


def _left_out(server: Server) -> Iterator[Absent]:
    for each in server.offered.malformed:
        reason = f"{server.name} offers it malformed, and it is set aside: {each.reason}."
        yield _entry(server, each.kind, each.id, "malformed", reason)


def _quarantined(server: Server) -> Iterator[Absent]:
    for each in server.offered.verdict.quarantined:
        reason = f"It is in quarantine until an admin has looked at it: {each.told}."
        detail = f"{each.reason}. porch upstreams review shows it."
        yield _entry(server, "tool", each.name, "quarantined", reason, detail)


def _not_taken(server: Server) -> Iterator[Absent]:
    for entry in server.offered.of("tool"):
        name = str(entry["name"])
        if not server.config.tools.takes(name):
            reason = f"This portal does not take it of {server.name}."
            detail = "tools: include and exclude in portal.yaml say what is taken."
            yield _entry(server, "tool", name, "excluded", reason, detail)


def _entry(
    server: Server, kind: Kind, name: str, why: str, reason: str, detail: str = ""
) -> Absent:
    config, shown = server.config, name
    if kind == "tool":
        shown = config.tools.alias.get(name) or shown_name(config.name, name)
    elif kind == "prompt":
        shown = shown_name(config.name, name)
    key = key_of(config.name, name)
    return Absent(shown, key, why, reason, _KINDS[kind], config.tier, detail=detail)
