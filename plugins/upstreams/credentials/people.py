"""What the plugin tells of people's connections: to themselves, and to who asks for their data."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from gateway.contract import (
    Caller,
    Connection,
    Connections,
    PersonalData,
    PersonalFile,
    Tier,
    ToolFailed,
)
from plugins.upstreams.credentials.member import MemberAccounts
from plugins.upstreams.store.connections import ConnectionStore

Accounts = Callable[[], Iterable[tuple[MemberAccounts, Tier]]]
"""Gives the servers whose members have accounts there, and who may use each."""


def connections(accounts: Accounts) -> Connections:
    """How people connect.

    Args:
        accounts: the servers.
    """

    def of(name: str) -> MemberAccounts:
        for each, _ in accounts():
            if each.server == name:
                return each
        raise ToolFailed("not_found", "There is no such server any more.")

    async def listed(caller: Caller) -> list[Connection]:
        may = [each for each, tier in accounts() if caller.tier.allows(tier)]
        return [await each.listed(caller) for each in may]

    return Connections(
        listed,
        lambda name, caller, place: of(name).begin(caller, place),
        lambda name, caller, place, query, kept: of(name).finish(caller, place, query, kept),
        lambda name, caller: of(name).end(caller),
    )


def personal_data(
    store: ConnectionStore,
    servers: Callable[[], Iterable[str]],
    told: Callable[[str, str], Awaitable[None]],
) -> PersonalData:
    """What is kept of people: that they are connected, and to what; tokens are secrets.

    Args:
        store: keeps it.
        servers: gives those to which each person is somebody else.
        told: called where a person's connection is another one.
    """

    async def export(person: str) -> AsyncIterator[PersonalFile]:
        found = [
            {
                "server": each.server,
                "status": each.status,
                "expires": each.expires.isoformat() if each.expires else None,
            }
            for each in await store.of(person)
        ]
        if found:
            yield PersonalFile("connections.json", json.dumps(found, indent=2).encode())

    async def erase(person: str) -> None:
        kept = [each.server for each in await store.of(person)]
        await store.forget(person)
        for server in {*kept, *servers()}:
            await told(person, server)

    return PersonalData(store.people, export, erase)
