"""The requests that the load generator sends, and how answers are checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Era = Literal["modern", "legacy"]
Kind = Literal["call", "list", "list_skills", "get_skill", "get_skill_anew", "skills"]

ERAS: tuple[Era, ...] = ("modern", "legacy")
VERSIONS: Mapping[Era, str] = {"modern": "2026-07-28", "legacy": "2025-11-25"}
TOOLS = 200
"""Tools in the list that is measured."""
SKILLS, SKILLS_PAGE = 1_000, 100
"""Skills in the list that is measured, and on the first page of the extension's."""
SKILL = "multi-reviewer-patterns-1"
"""The skill that is read: of a hundred real ones, its SKILL.md is of the middle size."""

_NUMBER = "NUMBER"
_CHANGING = re.compile(rb'[cC]ursor\\?":\\?"[^"\\]*|"times":\d+')
_PARAMS: Mapping[Kind, Mapping[str, Any]] = {
    "call": {"name": "add", "arguments": {"a": _NUMBER, "b": 1}},
    "list": {},
    "list_skills": {"name": "list_skills", "arguments": {}},
    "get_skill": {"name": "get_skill", "arguments": {"name": SKILL}},
    "get_skill_anew": {"name": "get_skill", "arguments": {"name": SKILL, "skipCache": True}},
    "skills": {},
}
_METHODS: Mapping[Kind, str] = {"list": "tools/list", "skills": "skills/list"}
"""The methods of those that call no tool."""
_META = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS["modern"],
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


def bodies(era: Era, kind: Kind) -> bytes:
    """The bodies of one kind of request, with ``%(n)d`` where each has its number."""
    params = {**_PARAMS[kind], "_meta": _META} if era == "modern" else _PARAMS[kind]
    return _body(_method(kind), params).replace(f'"{_NUMBER}"'.encode(), b"%(n)d")


def head(era: Era, kind: Kind, port: int, session: str = "", token: str = "") -> bytes:
    """The HTTP head of such a request, up to its length; a bearer token goes along if given."""
    headers = {"mcp-protocol-version": VERSIONS[era]}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    if era == "modern":
        headers["mcp-method"] = _method(kind)
        headers |= {"mcp-name": name} if (name := _PARAMS[kind].get("name")) else {}
    else:
        headers["mcp-session-id"] = session
    return _head(port, headers)


def framed(head: bytes, body: bytes) -> bytes:
    """A whole HTTP request."""
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


def handshake(port: int) -> bytes:
    """The request that begins a legacy session."""
    client = {"name": "bench", "version": "1"}
    params = {"protocolVersion": VERSIONS["legacy"], "capabilities": {}, "clientInfo": client}
    body = _body("initialize", params).replace(f'"{_NUMBER}"'.encode(), b"0")
    return framed(_head(port, {}), body)


def initialized(port: int, session: str) -> bytes:
    """The notification that ends the handshake."""
    body = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    return framed(head("legacy", "call", port, session), body)


def _method(kind: Kind) -> str:
    return _METHODS.get(kind, "tools/call")


def _body(method: str, params: Mapping[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "id": _NUMBER, "method": method, "params": params}
    return json.dumps(message, separators=(",", ":")).encode()


def _head(port: int, headers: Mapping[str, str]) -> bytes:
    every = {
        "host": f"127.0.0.1:{port}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **headers,
    }
    lines = [f"{name}: {value}" for name, value in every.items()]
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, ""]).encode()


@dataclass
class Checker:
    """Checks every answer of one kind; a wrong one raises ``ValueError``."""

    kind: Kind
    _known: set[bytes] = field(default_factory=set)

    def __call__(self, body: bytes, number: int) -> None:
        """Check one answer, to the request of that number."""
        right = self._is_sum(body, number) if self.kind == "call" else self._is_same(body, number)
        if not right:
            raise ValueError(f"wrong answer to request {number}: {body[:300]!r}")

    def _is_sum(self, body: bytes, number: int) -> bool:
        answer = json.loads(body)
        result = answer["result"]
        wanted = {"sum": number + 1}
        return bool(
            answer["id"] == number
            and result["structuredContent"] == wanted
            and json.loads(result["content"][0]["text"]) == wanted
            and not result.get("isError")
        )

    def _is_same(self, body: bytes, number: int) -> bool:
        # A long answer is parsed once; the next must be the same but for their number, for where
        # it goes on, which is sealed with the time, and for how often it was read before.
        same = _CHANGING.sub(b"", body.replace(b'"id":%d' % number, b'"id":0', 1))
        if same not in self._known:
            self._known.add(same)
            return len(self._known) == 1 and self._is_whole(json.loads(body)["result"])
        return True

    def _is_whole(self, result: Mapping[str, Any]) -> bool:
        if self.kind == "list":
            return len(result["tools"]) == TOOLS
        if self.kind == "skills":
            return len(result["skills"]) == SKILLS_PAGE
        value, said = result["structuredContent"], result["content"][0]["text"]
        if result.get("isError"):
            return False
        if self.kind == "list_skills":
            if json.loads(said) != value:
                return False
            return bool(value.get("pagination", {}).get("totalCount") == SKILLS)
        return bool(value["name"] == SKILL and value["content"] and said == value["content"])
