"""What many different callers leave in the memory of a portal's process.

``python -m benchmarks.many_callers DIRECTORY PORT MARK ...`` opens the portal in a directory,
sends it requests as the HTTP server would, and prints its memory after so many callers.

One caller in :data:`SIGNED_IN` presents a credential that was never seen before: by turns an API
token and an access token, each of a person of its own. The others are anonymous, each at an
address of its own, by turns IPv4 and IPv6; they call the same tool, and some register an OAuth
client, which is counted by address.

The people and their tokens are put into the database in bulk, by another process, so that what
that takes leaves nothing here that could be used again.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from ipaddress import IPv4Address, IPv6Address
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auth.stores import ApiToken, digest, utc_now
from auth.tiers import Tier
from benchmarks.members import configure, grant_of, wallet
from benchmarks.peers import plugin_module
from benchmarks.processes import ABOVE_LOAD, ROOT, free_port, memory
from benchmarks.wire import VERSIONS, Checker, bodies
from gateway.app import PortalApp
from gateway.assembly import open_portal
from gateway.config.portal import Portal, load_portal

if TYPE_CHECKING:
    from auth.tokens.access_tokens import AccessTokens
    from gateway.contract.services import Database

CALLERS = 100_000
MARKS = (1_000, CALLERS // 2, CALLERS)
"""After how many callers the memory is looked at."""
SIGNED_IN = 5
"""One caller in so many presents a credential."""
REGISTERING = 4
"""One anonymous caller in so many registers a client."""
HAT = "30.3.1"
"""A rule asks who wears it, so that a fact about each person is remembered."""
AT_ONCE = 16
"""Requests under way at the same time."""
_BULK = 5_000


@dataclass(frozen=True, slots=True)
class Growth:
    """What came of it.

    Attributes:
        marks: after how many callers the memory was looked at.
        held: what the process held then, in MiB.
        seconds: what all of them took.
    """

    marks: Sequence[int]
    held: Sequence[float]
    seconds: float

    @property
    def whole(self) -> float:
        """From the first look to the last."""
        return self.held[-1] - self.held[0]

    @property
    def note(self) -> str:
        """What a reader must know to judge it."""
        late = self.held[-1] - self.held[-2]
        half, everybody = self.marks[-2:]
        return (
            f"of {self.held[0]:.0f} MiB; {late:+.1f} MiB after {half:,}; in the portal's process "
            f"without its HTTP server; {everybody // SIGNED_IN:,} have an API or access token of "
            f"their own, the others an address of their own; {self.seconds:.0f} s"
        )


def grown(marks: Sequence[int] = MARKS) -> Growth:
    """Send callers to a portal in a process of its own.

    Args:
        marks: after how many to look at its memory.

    Raises:
        RuntimeError: an answer was wrong.
    """
    port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        asyncio.run(_populate(place, configure(place, port, hat=HAT), marks[-1]))
        command = [sys.executable, "-m", "benchmarks.many_callers", directory, str(port)]
        command += map(str, marks)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise RuntimeError(f"a crowd of callers: {done.stderr.strip()[-2000:]}")
    return Growth(**json.loads(done.stdout))


@dataclass(frozen=True, slots=True)
class Member:
    """One of the people who sign in: the number of the caller decides everything."""

    number: int

    @property
    def person(self) -> str:
        """The person's id."""
        return f"person:{self.number:020d}"

    @property
    def api_token(self) -> str:
        """The text of the person's API token."""
        return f"porch_{self.number:043d}"

    def access_token(self, tokens: AccessTokens, url: str) -> str:
        """An access token of the person's grant."""
        return tokens.issue(grant_of(f"grant-{self.number}", self.person, url), url)[0]


async def _populate(place: Path, portal: Portal, callers: int) -> None:
    """Put everybody who will sign in into the database."""
    async with open_portal(portal, place / "data", modules=[plugin_module(1)]) as running:
        everyone = [Member(number) for number in range(0, callers, SIGNED_IN)]
        for start in range(0, len(everyone), _BULK):
            await _insert(
                running.services.shared_database,
                everyone[start : start + _BULK],
                portal.config.url,
            )


async def _insert(database: Database, members: Sequence[Member], url: str) -> None:
    from sqlalchemy import insert

    from gateway.identity.stores.tables import accounts, api_tokens, grants, people

    now = utc_now()
    async with database.begin() as connection:
        await connection.execute(
            insert(people), [{"id": each.person, "created": now} for each in members]
        )
        rows: list[dict[str, Any]] = [_account(each) for each in members]
        await connection.execute(insert(accounts), rows)
        await connection.execute(insert(api_tokens), [_api_token(each) for each in members])
        rows = [asdict(grant_of(f"grant-{each.number}", each.person, url)) for each in members]
        await connection.execute(insert(grants), rows)


def _account(member: Member) -> dict[str, Any]:
    account = asdict(wallet(member.number + 1_000_000))
    return {**account, "person": member.person, "place": 0, "known_as": None, "proved": utc_now()}


def _api_token(member: Member) -> dict[str, Any]:
    now = utc_now()
    token = ApiToken(
        f"token-{member.number}", member.person, "benchmark", Tier.MEMBERS, None, None, now, None
    )
    # As used just now: to note the use of each would take longer than all the rest.
    stored = {"ceiling": str(token.ceiling), "digest": digest(member.api_token), "used": now}
    return {**asdict(token), **stored}


class Crowd:
    """Sends requests to an open portal.

    Args:
        app: the portal.
        url: its address.
        tokens: issue access tokens.
    """

    def __init__(self, app: PortalApp, url: str, tokens: AccessTokens) -> None:
        self._app = app
        self._url = url
        self._tokens = tokens
        self._call = bodies("modern", "call")
        self._check = Checker("call")

    async def requests(self, numbers: Iterable[int]) -> None:
        """Send the requests of several callers, one after the other."""
        for number in numbers:
            await self.request(number)

    async def request(self, number: int) -> None:
        """Send the request of one caller; raises ``ValueError`` where the answer is wrong."""
        if number % SIGNED_IN == 0:
            await self._calls(number, self._credential(number))
        elif number % REGISTERING == 0:
            await self._registers(number)
        else:
            await self._calls(number)

    def _credential(self, number: int) -> str:
        member = Member(number)
        if number // SIGNED_IN % 2:
            return member.access_token(self._tokens, self._url)
        return member.api_token

    async def _calls(self, number: int, token: str = "") -> None:
        headers = {"mcp-protocol-version": VERSIONS["modern"], "mcp-method": "tools/call"}
        headers |= {"mcp-name": "add"}
        headers |= {"authorization": f"Bearer {token}"} if token else {}
        status, body = await self._post("/mcp", headers, self._call % {b"n": number}, number)
        if status != 200:
            raise ValueError(f"{status} {body[:300]!r}")
        self._check(body, number)

    async def _registers(self, number: int) -> None:
        uri = f"https://client-{number}.example.org/callback"
        said = {"redirect_uris": [uri], "token_endpoint_auth_method": "none"}
        status, body = await self._post("/register", {}, json.dumps(said).encode(), number)
        if status != 201:
            raise ValueError(f"{status} {body[:300]!r}")

    async def _post(
        self, path: str, headers: dict[str, str], body: bytes, number: int
    ) -> tuple[int, bytes]:
        """Send a request as the HTTP server hands it over; gives the answer's status and body."""
        every = {
            "host": self._url.partition("//")[2],
            "content-type": "application/json",
            "content-length": str(len(body)),
            "accept": "application/json, text/event-stream",
            **headers,
        }
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in every.items()],
            "client": (peer(number), 50_000),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        exchange = _Exchange(body)
        await self._app(scope, exchange.receive, exchange.send)
        return exchange.status, bytes(exchange.answer)


class _Exchange:
    """One request and its answer, as ASGI passes them."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self.status = 0
        self.answer = bytearray()

    async def receive(self) -> dict[str, Any]:
        if self._body is None:  # the client waits for its answer and does not leave
            await asyncio.get_running_loop().create_future()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.answer += message.get("body", b"")


def peer(number: int) -> str:
    """The address that a caller comes from: by turns IPv4 and IPv6, and no two in one /64."""
    if number % 2:
        return str(IPv4Address((10 << 24) + number))
    return str(IPv6Address((0x20010DB8 << 96) + (number << 64) + 1))


async def send_all(place: Path, port: int, marks: Sequence[int]) -> Growth:
    """Open the portal in a directory and send it callers, up to the last mark."""
    portal = load_portal(place / "config", {"listen": {"port": port}, "limits": ABOVE_LOAD})
    app = PortalApp(portal, place / "data", modules=[plugin_module(1)])
    begun = time.perf_counter()
    held = []
    async with app.opened() as running:
        crowd = Crowd(app, portal.config.url, running.authentication.access_tokens)
        for before, mark in pairwise((0, *marks)):
            shares = [range(before + first, mark, AT_ONCE) for first in range(AT_ONCE)]
            await asyncio.gather(*map(crowd.requests, shares))
            held.append(memory(os.getpid())[0])
    return Growth(marks, held, time.perf_counter() - begun)


def main() -> None:
    """Send everybody to the portal that the command line names; print the memory."""
    import uvloop

    from gateway.observability import logs, telemetry

    logs.configure("warning")
    telemetry.configure("porch", enabled=True)
    place, port, *marks = sys.argv[1:]
    found = uvloop.run(send_all(Path(place), int(port), [int(mark) for mark in marks]))
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
