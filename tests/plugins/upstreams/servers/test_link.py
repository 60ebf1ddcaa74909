"""A kept connection: made once for all who wait, and again where its credential was renewed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from plugins.upstreams.credentials.credential import Credential
from plugins.upstreams.servers.link import Link
from plugins.upstreams.wire import Connection, HeaderSource, Unauthorized

REFUSED = Unauthorized("The server answered HTTP 401.", 401)


class Token:
    """A credential that is renewed as often as it is refused."""

    def __init__(self) -> None:
        self.number = 0

    async def headers(self, holder: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.number}"}

    async def refused(self, holder: str, error: Unauthorized) -> bool:
        self.number += 1
        return True


class Opened:
    """A connection, by the headers that it was made with."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers

    async def ended(self) -> None:
        await asyncio.Event().wait()

    async def close(self) -> None: ...


class Server:
    """Takes one token, and answers once it may."""

    def __init__(self) -> None:
        self.takes = "Bearer 1"
        self.asked = 0
        self.may_answer = asyncio.Event()

    async def connect(self, headers: HeaderSource) -> Connection:
        given = await headers()
        self.asked += 1
        await self.may_answer.wait()
        if given["Authorization"] != self.takes:
            raise REFUSED
        return cast(Connection, Opened(given))


def link_to(server: Server) -> Link:
    return Link("ana", cast(Credential, Token()), server.connect, lambda reason: None)


async def test_who_waits_for_an_attempt_that_began_before_a_renewal_gets_another() -> None:
    server = Server()
    link = link_to(server)
    early = asyncio.create_task(link.get())
    while not server.asked:  # noqa: ASYNC110  (a few turns of the loop)
        await asyncio.sleep(0)
    assert await link.refused(REFUSED)  # another call, which the server has turned away
    late = asyncio.create_task(link.get())
    await asyncio.sleep(0)
    server.may_answer.set()
    made: Any = await asyncio.gather(early, late)
    assert made[0] is made[1]
    assert made[0].headers == {"Authorization": "Bearer 1"}
    assert server.asked == 2
    await link.close()


async def test_a_refusal_without_a_renewal_is_told_to_all_who_wait() -> None:
    server = Server()
    server.may_answer.set()
    link = link_to(server)
    made = await asyncio.gather(*(link.get() for _ in range(3)), return_exceptions=True)
    assert made == [REFUSED] * 3
    assert server.asked == 1
    await link.close()
