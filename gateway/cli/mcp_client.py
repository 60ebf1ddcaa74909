"""A small MCP client of revision 2026-07-28, for ``porch call`` and the testing kit.

It speaks over any ``httpx2.AsyncClient``: a TCP port, the local socket, or the application in
memory. Each request stands alone, so there is nothing to open and nothing to close.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from gateway.toolkit.mcp_names import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    HEADER_MISMATCH,
    LATEST_MODERN_VERSION,
    PROTOCOL_VERSION_META_KEY,
)
from gateway.toolkit.mirrored_headers import mirrored, parameter_headers, standard_headers

if TYPE_CHECKING:
    import httpx2

__all__ = ["McpClient", "RequestRefused"]

_LISTS = {
    "tools": ("tools/list", "tools"),
    "prompts": ("prompts/list", "prompts"),
    "resources": ("resources/list", "resources"),
    "templates": ("resources/templates/list", "resourceTemplates"),
    "skills": ("skills/list", "skills"),
}
_CLIENT = {"name": "porch", "version": "1"}


class RequestRefused(Exception):
    """The portal answered with an error instead of a result.

    Args:
        code: the JSON-RPC error code, or the HTTP status where there was none.
        message: what is wrong.
        data: JSON values that came with it.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Challenged(RequestRefused):
    """The portal asks the client to sign its person in, for a higher tier."""


class McpClient:
    """Sends MCP requests, one POST each.

    Args:
        http: where to, and with which headers.
        path: the endpoint, ``/mcp`` or ``/mcp/<plugin>``.
        headers: further headers of every request.
        capabilities: what it declares that it can do.
    """

    def __init__(
        self,
        http: httpx2.AsyncClient,
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        self._http = http
        self._path = path
        self._headers = dict(headers or {})
        self._capabilities = dict(capabilities or {})
        self._next = 0

    async def list(self, kind: str) -> list[dict[str, Any]]:
        """Every entry of a list, from all its pages.

        Args:
            kind: ``tools``, ``prompts``, ``resources``, ``templates`` or ``skills``.
        """
        return await self.pages(*_LISTS[kind])

    async def pages(
        self, method: str, key: str, params: Mapping[str, Any] | None = None
    ) -> builtins.list[dict[str, Any]]:
        """Every entry from all pages of a method's answer.

        Args:
            method: the MCP method.
            key: where an answer has its entries.
            params: the method's parameters.
        """
        entries: builtins.list[dict[str, Any]] = []
        asked = dict(params or {})
        while True:
            page = await self.request(method, asked)
            entries += page[key]
            if (cursor := page.get("nextCursor")) is None:
                return entries
            asked["cursor"] = cursor

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool; a failure that the model is to read is a result with ``isError``.

        So is a challenge to sign in: this client has no browser to follow it with.

        Raises:
            RequestRefused: there is no such tool, or the request is not good.
        """
        params = {"name": tool, "arguments": dict(arguments)}
        try:
            return await self.request("tools/call", params)
        except Challenged as challenged:
            return {"content": [{"type": "text", "text": challenged.message}], "isError": True}
        except RequestRefused as refused:
            if refused.code != HEADER_MISMATCH:
                raise
        # The tool mirrors some arguments in headers (SEP-2243); its schema says which.
        schemas = {each["name"]: each["inputSchema"] for each in await self.list("tools")}
        headers = mirrored(parameter_headers(schemas.get(tool, {})), arguments)
        return await self.request("tools/call", params, headers)

    async def request(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send one request and wait for its result.

        Args:
            method: the MCP method.
            params: its parameters, without ``_meta``.
            headers: further headers.

        Raises:
            RequestRefused: the answer is an error.
        """
        self._next += 1
        meta = {
            PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
            CLIENT_CAPABILITIES_META_KEY: self._capabilities,
            CLIENT_INFO_META_KEY: _CLIENT,
        }
        message = {
            "jsonrpc": "2.0",
            "id": self._next,
            "method": method,
            "params": {**params, "_meta": meta},
        }
        sent = {**_standard_headers(method, params), **self._headers, **(headers or {})}
        answer = await self._http.post(self._path, content=to_json(message), headers=sent)
        return _result(answer, self._next)


def _standard_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": LATEST_MODERN_VERSION,
        **standard_headers(method, params),
    }


def _result(answer: httpx2.Response, request_id: int) -> dict[str, Any]:
    message = _message(answer, request_id)
    error = message.get("error")
    if error is None and "result" in message:
        result: dict[str, Any] = message["result"]
        return result
    error = error or {"message": f"The portal answered with HTTP {answer.status_code}."}
    code = error.get("code")
    code = code if isinstance(code, int) else answer.status_code
    refused = Challenged if _is_challenge(answer) and "data" in error else RequestRefused
    raise refused(code, error["message"], error.get("data") or error.get("details"))


def _is_challenge(answer: httpx2.Response) -> bool:
    return answer.status_code in {401, 403} and "www-authenticate" in answer.headers


def _message(answer: httpx2.Response, request_id: int) -> dict[str, Any]:
    """The JSON-RPC response in an answer, be it plain JSON or the last event of a stream."""
    kind = answer.headers.get("content-type", "")
    if kind.startswith("text/event-stream"):
        lines = answer.text.splitlines()
        events = [from_json(line[5:]) for line in lines if line.startswith("data:")]
        return next((each for each in events if each.get("id") == request_id), {})
    if kind.startswith("application/json"):
        message: dict[str, Any] = from_json(answer.content)
        return message
    return {}
