"""The load: people and programs who read, write and hand in batches, and one who may not."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from tests.chaos.ledger import Batch, Ledger
from tests.chaos.world import PAGES, PEOPLE, Replica, World
from tests.faults.conftest import JSON, modern
from tests.faults.playbook import token_of
from tests.mcp_messages import INITIALIZE_PARAMS

API = "/openspec/v1/knowledge"
TIMEOUT_SECONDS = 20.0
"""Seconds that a client waits for an answer."""
GRACE_SECONDS = 15.0
"""Seconds after a fault in which what it broke may still be refused."""
BATCH_ENTRIES = 5
OK = frozenset({200, 201, 202})


class Clients:
    """Everybody who uses the two replicas.

    Args:
        world: the replicas.
        ledger: where they write down what they see.
        chance: decides what they do.
        pause_seconds: how long a client waits on average between two requests.

    Attributes:
        fault: the name of what is broken just now; ``calm`` where nothing is.
        refusable_until: until when what needs the database may be refused, in the clock's seconds.
    """

    def __init__(
        self, world: World, ledger: Ledger, chance: random.Random, pause_seconds: float
    ) -> None:
        self._world = world
        self._ledger = ledger
        self._chance = chance
        self._pause_seconds = pause_seconds
        self.fault = "calm"
        self.refusable_until = 0.0

    async def run(self, ended: asyncio.Event) -> None:
        """Use the portal until the event."""
        async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, verify=False) as http:
            await asyncio.gather(
                self._again(ended, self._search, http),
                self._again(ended, self._search, http),
                self._again(ended, self._trespass, http),
                *(self._again(ended, self._write_as(person), http) for person in PEOPLE),
                self._again(ended, self._hand_in, http),
                self._again(ended, self._ask_for_batches, http),
                self._converse(ended, http),
            )

    async def _again(
        self,
        ended: asyncio.Event,
        act: Callable[[httpx2.AsyncClient, Replica], Awaitable[None]],
        http: httpx2.AsyncClient,
    ) -> None:
        while not ended.is_set():
            await asyncio.sleep(self._chance.expovariate(1 / self._pause_seconds))
            replica = self._world.reliable(self._chance)
            if replica is None:
                continue
            portal = replica.portal
            try:
                await act(http, replica)
            except httpx2.TransportError as error:
                self._unanswered(act.__name__, replica, portal, error)

    def _unanswered(self, what: str, replica: Replica, portal: Any, error: Exception) -> None:
        """A request had no answer: fair where something was done to the replica meanwhile."""
        self._ledger.answers[what, "no answer"] += 1
        if replica.is_reliable and replica.portal is portal and not self._is_refusable():
            self._ledger.broke(f"{what} had no answer in {self.fault}: {error!r}")

    def _is_refusable(self) -> bool:
        return time.monotonic() < self.refusable_until

    def _expected(self) -> frozenset[int]:
        return OK | {503} if self._is_refusable() else OK

    async def _search(self, http: httpx2.AsyncClient, replica: Replica) -> None:
        number, fault, started = self._chance.randrange(PAGES), self.fault, time.monotonic()
        answer = await _call(http, replica, "", "search_knowledge", query=f"Garden {number}")
        if fault == self.fault:
            self._ledger.seconds[fault].append(time.monotonic() - started)
        self._ledger.note("an open search", answer.status_code, frozenset({200}), self.fault)
        if answer.status_code == 200:
            result = answer.json()["result"]
            found = [each["id"] for each in result.get("structuredContent", {}).get("results", [])]
            if f"garden-{number}" not in found:
                self._ledger.broke(f"an open search in {fault} gave {str(result)[:200]}")

    async def _trespass(self, http: httpx2.AsyncClient, replica: Replica) -> None:
        answer = await _call(http, replica, "", "remember", content="Let me in.")
        body = answer.json() if answer.status_code == 200 else {}
        result = body.get("result")
        self._ledger.answers["a stranger's call", str(answer.status_code)] += 1
        if answer.status_code >= 500 and not self._is_refusable():
            self._ledger.broke(f"a stranger was answered with {answer.status_code}")
        if result is not None and not result.get("isError"):
            self._ledger.broke(f"a stranger was let in: {str(body)[:200]}")

    def _write_as(self, person: str) -> Callable[[httpx2.AsyncClient, Replica], Awaitable[None]]:
        async def write(http: httpx2.AsyncClient, replica: Replica) -> None:
            text = f"{person} wrote {uuid.uuid4().hex}"
            self._ledger.sent.add(text)
            answer = await http.post(
                f"{replica.url}{API}/create", headers=_headers(person), json=_entry(text)
            )
            self._ledger.note("a write", answer.status_code, self._expected(), self.fault)
            if answer.status_code in OK:
                self._ledger.sent.discard(text)
                self._ledger.written[text] = answer.json()["entry"]["id"]

        return write

    async def _hand_in(self, http: httpx2.AsyncClient, replica: Replica) -> None:
        if sum(1 for _ in self._ledger.waiting()) >= 10:
            return
        texts = [f"a batch wrote {uuid.uuid4().hex}" for _ in range(BATCH_ENTRIES)]
        self._ledger.sent |= set(texts)
        body = {"operation": "create", "entries": [_entry(text) for text in texts]}
        answer = await http.post(
            f"{replica.url}{API}/batch", headers=_headers(PEOPLE[0]), json=body
        )
        self._ledger.note("a batch", answer.status_code, self._expected(), self.fault)
        if answer.status_code == 202:
            self._ledger.sent -= set(texts)
            results = answer.json()["results_url"]
            self._ledger.batches.append(Batch(results, texts, time.monotonic()))

    async def _ask_for_batches(self, http: httpx2.AsyncClient, replica: Replica) -> None:
        for batch in list(self._ledger.waiting()):
            path = httpx2.URL(batch.results).raw_path.decode()
            answer = await http.get(f"{replica.url}{path}", headers=_headers(PEOPLE[0]))
            self._ledger.note(
                "a batch's progress", answer.status_code, self._expected(), self.fault
            )
            if answer.status_code != 200:
                return
            progress = answer.json()
            status, batch.told = progress["status"], _told(progress)
            if status == "failed":
                self._ledger.broke(f"a batch failed: {answer.text[:300]}")
            if status in ("completed", "failed"):
                batch.done_at = time.monotonic()

    async def _converse(self, ended: asyncio.Event, http: httpx2.AsyncClient) -> None:
        """A client of the older era keeps its session, whichever replica it meets."""
        session = ""

        async def speak(http: httpx2.AsyncClient, replica: Replica) -> None:
            nonlocal session
            method = "tools/list" if session else "initialize"
            body = {"jsonrpc": "2.0", "id": 1, "method": method}
            body["params"] = {} if session else INITIALIZE_PARAMS
            headers = JSON | {"mcp-protocol-version": "2025-11-25"}
            headers |= {"mcp-session-id": session} if session else {}
            answer = await http.post(f"{replica.url}/mcp", headers=headers, json=body)
            self._ledger.note(
                "an older client's call", answer.status_code, frozenset({200}), self.fault
            )
            session = session or answer.headers.get("mcp-session-id", "")

        await self._again(ended, speak, http)


@asynccontextmanager
async def running(clients: Clients) -> AsyncGenerator[None]:
    """Let the clients go on for as long as the block lasts."""
    ended = asyncio.Event()
    task = asyncio.create_task(clients.run(ended))
    try:
        yield
    finally:
        ended.set()
        await task


def _told(progress: dict[str, Any]) -> str:
    written = progress["results"]["succeeded"]
    return f"{progress['status']}, {written} written, {progress.get('message')}"


def _headers(person: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token_of(person)}"}


def _entry(text: str) -> dict[str, Any]:
    return {"entry": {"content": text}}


async def _call(
    http: httpx2.AsyncClient, replica: Replica, person: str, tool: str, **arguments: Any
) -> httpx2.Response:
    request = modern("tools/call", name=tool, arguments=arguments)
    headers = {name: each for name, each in request["headers"].items() if name != "authorization"}
    headers |= _headers(person) if person else {}
    return await http.post(f"{replica.url}/mcp", headers=headers, json=request["json"])
