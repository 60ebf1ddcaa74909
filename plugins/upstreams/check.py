"""What ``porch check`` says of the servers: whether the variables that they name are set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from gateway.contract import Finding, Host
from plugins.upstreams.config import Server, UpstreamsConfig
from plugins.upstreams.credential_settings import variables_of

Place = tuple[str | int, ...]


async def check(config: UpstreamsConfig, host: Host) -> Sequence[Finding]:
    """Name the environment variables that servers need and this environment lacks.

    Args:
        config: the plugin's section.
        host: the plugin's services; nothing is asked of them.
    """
    found: dict[tuple[Place, str], Finding] = {}
    for number, server in enumerate(config.servers):
        for place, text in _texts(server):
            for name in variables_of(text):
                if name not in os.environ:
                    reason = f"the environment has no {name}; until it has, {server.name} is away"
                    at = ("servers", number, *place)
                    found[at, name] = Finding(at, reason, notice=True)
    return list(found.values())


def _texts(server: Server) -> Iterator[tuple[Place, str]]:
    """The texts of a server that may name variables, each with its place."""
    yield from _each(("env",), server.env)
    if (credential := server.credential) is None:
        return
    yield from _each(("credential", "header"), credential.header or {})
    if credential.member_oauth is not None:
        yield from _each(("credential", "member_oauth", "list"), credential.member_oauth.list)
    if credential.exchange is not None:
        yield from _each(("credential", "exchange", "list"), credential.exchange.list)


def _each(place: Place, texts: Mapping[str, str]) -> Iterator[tuple[Place, str]]:
    return (((*place, name), text) for name, text in texts.items())
