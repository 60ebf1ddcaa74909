"""A portal with a plugin of many moods, and a client that sees every event as it comes in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import mcp_types as mcp
import pytest
from pydantic_core import from_json, to_json

from gateway.contract import (
    Caller,
    Host,
    Offer,
    Plugin,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.observability.audit_record import AuditRecord
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.surfaces.mcp.asking import asking_tools

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ICON = mcp.Icon(src="https://example.org/icon.png")
TIERS = """
items:
  moods: open
  moods/secret: members
  moods/unseen: {tier: members, hidden: true}
  moods/resource:moods://diary: members
  moods/resource:moods://unseen/{id}: {tier: members, hidden: true}
"""
paused: list[str] = []
"""What the tool ``pause`` has done."""

_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def _tools(host: Host) -> list[Tool]:
    async def echo(text: str = "", number: int = 0) -> str:
        """Says it back.

        Args:
            text: what to say.
            number: a number.
        """
        return f"{text}{number or ''}"

    async def crash() -> str:
        """Breaks."""
        raise RuntimeError("the password is hunter2")

    async def break_off() -> str:
        """Awaits something that is cancelled."""
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task
        return "never"

    async def complain() -> str:
        """Reports progress, then fails."""
        await host.exchange().progress(1, 2)
        raise ToolFailed("no_good", "This went wrong.")

    async def stutter() -> str:
        """Reports progress that does not always grow."""
        for done in (1, 1, 0.5, float("nan"), 2):
            await host.exchange().progress(done)
        return "done"

    async def chatter() -> str:
        """Logs once at each of three levels."""
        for level in ("debug", "info", "error"):
            await host.exchange().log(level, {"not a number": float("nan")})
        return "done"

    async def wait() -> str:
        """Begins, then waits to be cancelled."""
        await host.exchange().progress(1)
        await asyncio.Event().wait()
        return "never"

    async def pause() -> str:
        """Begins, then takes a moment."""
        paused.clear()
        await host.exchange().progress(1)
        await asyncio.sleep(0.2)
        paused.append("finished")
        return "done"

    async def two_rounds(topic: str = "") -> Any:
        """Needs a second round.

        Args:
            topic: what it is about.
        """
        if host.exchange().request_state == "first":
            return f"state-ok {topic}"
        return mcp.InputRequiredResult(request_state="first")

    async def nan() -> dict[str, Any]:
        """Gives what JSON does not have."""
        return {"nan": float("nan"), "inf": float("inf")}

    async def secret(caller: Caller) -> str:
        """For members."""
        return str(caller.tier)

    async def unseen() -> str:
        """Hidden."""
        return "seen"

    plain: tuple[Callable[..., Awaitable[Any]], ...] = (
        crash,
        break_off,
        complain,
        stutter,
        chatter,
        wait,
        pause,
        two_rounds,
        secret,
        unseen,
    )
    pretty = mcp.ToolAnnotations(read_only_hint=True)
    raw = {"type": "object", "properties": {}}
    return [
        Tool.of(echo, annotations=pretty, icons=(ICON,)),
        *map(Tool.of, plain),
        *asking_tools(host),
        Tool("nan", "Gives what JSON does not have.", lambda _, __: nan(), input_schema=raw),
    ]


async def _diary(caller: Caller) -> str:
    return "dear diary"


async def _shared(caller: Caller) -> mcp.ReadResourceResult:
    text = mcp.TextResourceContents(uri="moods://shared", text="for all")
    return mcp.ReadResourceResult(contents=[text], ttl_ms=5, cache_scope="public")


async def _thing(variables: Mapping[str, str], caller: Caller) -> str:
    if variables["id"] == "none":
        raise ToolFailed("not_found", "There is no such thing.")
    return f"<{variables['id']}>"


async def _greet(args: Any, caller: Caller) -> str:
    return "Hello."


async def _many(typed: str, others: Mapping[str, str], caller: Caller) -> list[str]:
    return [f"{typed}{number}" for number in range(150)]


async def _broken(typed: str, others: Mapping[str, str], caller: Caller) -> list[str]:
    raise RuntimeError("the password is hunter2")


@asynccontextmanager
async def _open(config: Any, host: Host) -> AsyncGenerator[Offer]:
    completers = {"many": _many, "broken": _broken}
    yield Offer(
        tools=_tools(host),
        prompts=[Prompt("greet", "Greets.", _greet, complete=completers)],
        resources=[
            Resource("moods://diary", "diary", "A diary.", _diary),
            Resource("moods://shared", "shared", "Shared.", _shared),
        ],
        templates=[
            ResourceTemplate("moods://unseen/{id}", "unseen", "Hidden.", _thing),
            ResourceTemplate("moods://thing/{id}", "thing", "A thing.", _thing),
        ],
        instructions="It holds moods.",
        said={"echo": "Echoes are quick.", "secret": "Few may know."},
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("moods", "A plugin of many moods.", _open)


class Answer:
    """One response as it comes in."""

    def __init__(self, app: Any, scope: dict[str, Any], body: bytes) -> None:
        self._news: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._body: bytes | None = body
        self._left = asyncio.Event()
        self._start: dict[str, Any] = {}
        self._read: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.task = asyncio.ensure_future(app(scope, self._receive, self._news.put))

    async def _receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def start(self) -> Answer:
        """Wait for status and headers."""
        if not self._start:
            self._start = await asyncio.wait_for(self._news.get(), 60)
        return self

    @property
    def status(self) -> int:
        status: int = self._start["status"]
        return status

    @property
    def headers(self) -> dict[str, str]:
        return {key.decode(): value.decode() for key, value in self._start["headers"]}

    async def chunk(self) -> bytes | None:
        """The next part of the body, or None after the last."""
        await self.start()
        if self._start.get("over"):
            return None
        message = await asyncio.wait_for(self._news.get(), 60)
        self._start["over"] = not message.get("more_body")
        body: bytes = message.get("body", b"")
        self.ids += [line[4:].decode() for line in body.split(b"\n") if line.startswith(b"id: ")]
        return body

    async def event(self) -> dict[str, Any] | None:
        """The next JSON-RPC message, from a stream or a plain body; None after the last."""
        while not self._read and (chunk := await self.chunk()) is not None:
            for part in chunk.split(b"\n\n"):
                data = part.rpartition(b"data: ")[2]
                if data and not data.startswith(b":"):
                    self._read.append(from_json(data))
        return self._read.pop(0) if self._read else None

    async def events(self) -> list[dict[str, Any]]:
        """All the messages that are still to come."""
        found = []
        while (event := await self.event()) is not None:
            found.append(event)
        return found

    async def reply(self) -> dict[str, Any]:
        """The last message."""
        return (await self.events())[-1]

    async def leave(self) -> None:
        """Close the connection and wait until the portal is done with it."""
        self.go()
        await asyncio.wait_for(self.task, 60)

    def go(self) -> None:
        """Close the connection."""
        self._left.set()


class Wire:
    """Speaks to the portal byte by byte, as one caller."""

    def __init__(self, portal: TestPortal, tier: str = "open", session: str | None = None) -> None:
        self.portal = portal
        self.tier = tier
        self.session = session
        self.address = "192.0.2.7"
        self._number = 0

    def send(
        self,
        body: Any = b"",
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
        path: str = "/mcp",
        doubled: str | None = None,
    ) -> Answer:
        """Send a request; a value of None takes a header away, ``doubled`` sends it twice."""
        given = {
            "host": "localhost",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-session-id": self.session,
            "authorization": self.portal.http(self.tier).headers.get("authorization"),
            **(headers or {}),
        }
        raw = [(key.encode(), value.encode()) for key, value in given.items() if value is not None]
        raw += [(key, value) for key, value in raw if key.decode() == doubled]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": raw,
            "client": (self.address, 1),
        }
        data = body if isinstance(body, bytes) else to_json(body)
        return Answer(self.portal.app, scope, data)

    def modern(
        self, method: str, params: Any = None, headers: Any = None, meta: Any = None, **more: Any
    ) -> Answer:
        """Send a 2026-07-28 request, complete with what it owes."""
        params = dict(params or {})
        standard = {"mcp-protocol-version": MODERN, "mcp-method": method}
        if isinstance(params.get(_NAMED.get(method)), str):
            standard["mcp-name"] = params[_NAMED[method]]
        params["_meta"] = {
            mcp.PROTOCOL_VERSION_META_KEY: MODERN,
            mcp.CLIENT_CAPABILITIES_META_KEY: {},
            **(meta or {}),
        }
        return self.send(self.message(method, params), {**standard, **(headers or {})}, **more)

    def legacy(self, method: str, params: Any = None, headers: Any = None, **more: Any) -> Answer:
        """Send a request of the older era."""
        message = self.message(method, dict(params or {}), **more)
        return self.send(message, {"mcp-protocol-version": LEGACY, **(headers or {})})

    def message(self, method: str, params: Any, **more: Any) -> dict[str, Any]:
        """A JSON-RPC request."""
        self._number += 1
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params} | more

    def call(self, name: str, era: str = MODERN, token: Any = None, **arguments: Any) -> Answer:
        """Call a tool, in either era, perhaps with a progress token."""
        meta = {"progressToken": token} if token is not None else {}
        params = {"name": name, "arguments": arguments}
        if era == MODERN:
            return self.modern("tools/call", params, meta=meta)
        return self.legacy("tools/call", params | {"_meta": meta})

    async def begin(self, capabilities: Any = None) -> Wire:
        """The same caller in a legacy session."""
        params = {
            "protocolVersion": LEGACY,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer = await self.send(self.message("initialize", params)).start()
        return Wire(self.portal, self.tier, answer.headers["mcp-session-id"])


@pytest.fixture(scope="module")
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(sys.modules[__name__], tiers=TIERS) as portal:
        yield portal


@pytest.fixture
def moods() -> ModuleType:
    """The plugin, and the client's class beside it, for tests that open a portal of their own."""
    return sys.modules[__name__]


@pytest.fixture
def wire(portal: TestPortal) -> Wire:
    """An anonymous caller."""
    return Wire(portal)


@pytest.fixture
def member(portal: TestPortal) -> Wire:
    """A caller of the members tier."""
    return Wire(portal, "members")


@pytest.fixture
def recorded(portal: TestPortal, monkeypatch: pytest.MonkeyPatch) -> list[AuditRecord]:
    """The audit records that the test gives cause for."""
    records: list[AuditRecord] = []
    write = portal.running.audit.write

    def spy(record: AuditRecord) -> None:
        records.append(record)
        write(record)

    monkeypatch.setattr(portal.running.audit, "write", spy)
    return records
