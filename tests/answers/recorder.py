"""Asks a portal from outside, and keeps each answer under the name of its case."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

from tests.answers import world
from tests.answers.normal import Normal
from tests.answers.portal import Portal

MODERN, LEGACY = "2026-07-28", "2025-11-25"
TOKENS = {"open": None, "public": world.PUBLIC, "member": world.MEMBER, "other": world.OTHER}
MAX_BODY = 20_000
"""Characters of a normalised body that is kept as it is."""
MAX_PART, MAX_DEPTH = 400, 4
"""Of a longer one, parts of so many characters as far down; the rest by their digests."""
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_META = "io.modelcontextprotocol/"
_UNTOLD_HEADERS = {"date", "content-length", "server", "connection"}
_BOTH = "application/json, text/event-stream"


class Recorder:
    """Asks, and keeps the answers.

    Args:
        portal: the portal that runs.

    Attributes:
        portal: the same.
        cases: the answers by name.
        bodies: long bodies by their digests, to look at where they differ.
        http: a client that keeps cookies, as a browser does.
    """

    def __init__(self, portal: Portal) -> None:
        self.portal = portal
        self.cases: dict[str, dict[str, Any]] = {}
        self.bodies: dict[str, str] = {}
        self.http = httpx2.Client(
            base_url=portal.url,
            headers={"host": world.ADDRESS.removeprefix("http://"), "user-agent": "Answers"},
            timeout=120,
            trust_env=False,
        )
        self._normal = Normal(portal.root, portal.url)
        self._sessions: dict[str, str] = {}

    def ask(
        self,
        case: str,
        method: str,
        path: str,
        who: str = "open",
        headers: Mapping[str, str] | None = None,
        **request: Any,
    ) -> httpx2.Response:
        """Send a request and keep the answer.

        Args:
            case: its name, unlike any other.
            method: of HTTP.
            path: below the portal's address, with the query.
            who: whose token is sent: ``open``, ``public``, ``member`` or ``other``.
            headers: more headers.
            request: the body, as httpx takes it.
        """
        sent = {"accept": "application/json", **(headers or {})}
        if token := TOKENS[who]:
            sent.setdefault("authorization", f"Bearer {token}")
        answer = self.http.request(method, path, headers=sent, **request)
        self.keep(case, self._told(f"{method} {path} as {who}", answer))
        return answer

    def commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Run commands and keep what they print.

        Args:
            commands: of each the directory, below the portal's, and its arguments.
        """
        done = self.portal.run([(where, line.split()) for where, line in commands])
        for (where, line), each in zip(commands, done, strict=True):
            told: dict[str, Any] = {"code": each["code"]}
            for name in ("stdout", "stderr"):
                if text := each[name]:
                    told[name] = self._body(self._normal.text(text)).splitlines()
            self.keep(f"porch {line}" + ("" if where == "." else f", in {where}"), told)

    def modern(
        self,
        case: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        who: str = "member",
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request of the newest revision; gives the decoded answer."""
        params = dict(params or {})
        sent = {"accept": _BOTH, "mcp-protocol-version": MODERN, "mcp-method": method}
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            sent["mcp-name"] = name
        params["_meta"] = {
            f"{_META}protocolVersion": MODERN,
            f"{_META}clientInfo": {"name": "answers", "version": "1"},
            f"{_META}clientCapabilities": {},
            **params.get("_meta", {}),
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.ask(case, "POST", path, who, {**sent, **(headers or {})}, json=message)
        return decoded(answer)

    def legacy(
        self,
        case: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        who: str = "member",
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request of 2025-11-25 in a session of the caller's; gives the decoded answer."""
        if who not in self._sessions:
            self._sessions[who] = self._session(who)
        session = {"mcp-session-id": self._sessions[who], "mcp-protocol-version": LEGACY}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})}
        sent = {"accept": _BOTH, **session, **(headers or {})}
        return decoded(self.ask(case, "POST", path, who, sent, json=message))

    def _session(self, who: str) -> str:
        begin = {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "answers", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin}
        case = f"legacy initialize as {who}"
        answer = self.ask(case, "POST", "/mcp", who, {"accept": _BOTH}, json=message)
        session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        case = f"legacy initialized as {who}"
        self.ask(case, "POST", "/mcp", who, {"accept": _BOTH, **session}, json=begun)
        return answer.headers["mcp-session-id"]

    def _told(self, request: str, answer: httpx2.Response) -> dict[str, Any]:
        headers = {
            name: self._normal.text(value)
            for name, value in sorted(answer.headers.multi_items())
            if name not in _UNTOLD_HEADERS
        }
        headers["x-request-id"] = "<request>" if "x-request-id" in headers else "none"
        if "allow" in headers:
            headers["allow"] = ", ".join(sorted(headers["allow"].split(", ")))
        for name in headers.keys() & {"retry-after", "x-rate-limit-remaining"}:
            headers[name] = "<n>"
        if "etag" in headers:
            headers["etag"] = "<etag>"
        told = {
            "request": self._normal.text(request),
            "status": answer.status_code,
            "headers": headers,
        }
        if headers.get("content-type", "").startswith("application/json") and answer.text:
            told["body"] = self._folded(self._normal.value(answer.json()))
        elif headers.get("content-type") == "application/zip":
            told["files"] = sorted(zipfile.ZipFile(io.BytesIO(answer.content)).namelist())
        elif answer.text:
            told["body"] = self._body(self._normal.text(answer.text)).splitlines()
        return told

    def _folded(self, value: Any, depth: int = 0) -> Any:
        """A value whose long parts are told by their digests, as far down as it takes."""
        text = json.dumps(value, ensure_ascii=False)
        if len(text) <= (MAX_PART if depth else MAX_BODY):
            return value
        if depth < MAX_DEPTH and isinstance(value, dict):
            return {key: self._folded(each, depth + 1) for key, each in value.items()}
        if depth < MAX_DEPTH and isinstance(value, list):
            return [self._folded(each, depth + 1) for each in value]
        return self._digest(text)

    def _body(self, text: str) -> str:
        return text if len(text) <= MAX_BODY else self._digest(text)

    def _digest(self, text: str) -> str:
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.bodies[digest] = text
        return f"<{len(text)} characters, {digest}>"

    def keep(self, case: str, told: dict[str, Any]) -> None:
        """Keep what was told in a case."""
        assert case not in self.cases, f"two cases are called {case!r}"
        self.cases[case] = told


def decoded(answer: httpx2.Response) -> dict[str, Any]:
    """The last JSON-RPC message of an answer, whether it came as JSON or as a stream of events."""
    text = answer.text
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
