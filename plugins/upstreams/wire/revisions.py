"""How each era begins, and what each of its requests carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import mcp_types as mcp
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from gateway.toolkit.mirrored_headers import standard_headers
from plugins.upstreams.wire.connection import NO_HEADERS, Client, Era, ServerInfo
from plugins.upstreams.wire.errors import NotMcp

_HOP = (
    mcp.PROTOCOL_VERSION_META_KEY,
    mcp.CLIENT_INFO_META_KEY,
    mcp.CLIENT_CAPABILITIES_META_KEY,
    mcp.LOG_LEVEL_META_KEY,
)


class Revision(Protocol):
    """One era's way to begin and to ask.

    Attributes:
        era: which.
        opening: the method that begins.
    """

    era: Era
    opening: str

    def opening_params(self) -> Mapping[str, Any]:
        """The parameters of the opening request."""

    def read_opening(self, result: Mapping[str, Any]) -> tuple[str, ServerInfo]:
        """The revision that both speak, and what the server says of itself.

        Raises:
            NotMcp: there is no such revision, or the result is malformed.
        """

    def stamp(self, params: Mapping[str, Any], token: int | None) -> Mapping[str, Any]:
        """The parameters as they are sent.

        Args:
            params: as the caller gave them.
            token: the progress token, where progress is wanted.
        """

    def headers(
        self, method: str, params: Mapping[str, Any], further: Mapping[str, str] = NO_HEADERS
    ) -> Mapping[str, str]:
        """The HTTP headers that mirror a request.

        Args:
            method: its method.
            params: its parameters.
            further: those that mirror arguments as a tool's schema says, ``mcp-param-*``.
        """


class Modern:
    """2026-07-28: every request says who asks; there is no handshake.

    Args:
        client: what we are to the server.
    """

    era: Era = "modern"
    opening = "server/discover"

    def __init__(self, client: Client) -> None:
        self._meta = {
            mcp.PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
            mcp.CLIENT_INFO_META_KEY: client.info,
        }
        self._capabilities = {mcp.CLIENT_CAPABILITIES_META_KEY: client.capabilities}

    def opening_params(self) -> Mapping[str, Any]:
        """None of its own."""
        return {}

    def read_opening(self, result: Mapping[str, Any]) -> tuple[str, ServerInfo]:
        """Read a result of ``server/discover``."""
        supported = result.get("supportedVersions")
        if not isinstance(supported, list) or LATEST_MODERN_VERSION not in supported:
            raise NotMcp(f"The server does not speak any of {', '.join(MODERN_PROTOCOL_VERSIONS)}.")
        said = _mapping(_mapping(result.get("_meta")).get(mcp.SERVER_INFO_META_KEY))
        return LATEST_MODERN_VERSION, _server_info(said, result)

    def stamp(self, params: Mapping[str, Any], token: int | None) -> Mapping[str, Any]:
        """Add ``_meta``; of what the caller gave, client capabilities and log level are kept."""
        meta = {**self._capabilities, **_mapping(params.get("_meta")), **self._meta}
        meta.pop("progressToken", None)
        if token is not None:
            meta["progressToken"] = token
        return {**params, "_meta": meta}

    def headers(
        self, method: str, params: Mapping[str, Any], further: Mapping[str, str] = NO_HEADERS
    ) -> Mapping[str, str]:
        """Revision, method, name and further ones (SEP-2243)."""
        version = {"mcp-protocol-version": LATEST_MODERN_VERSION}
        return {**version, **standard_headers(method, params), **further}


class Legacy:
    """2025-11-25 and before: a handshake says once who asks.

    Args:
        client: what we are to the server.
    """

    era: Era = "legacy"
    opening = "initialize"

    def __init__(self, client: Client) -> None:
        self._client = client

    def opening_params(self) -> Mapping[str, Any]:
        """What we are, and the newest revision that has a handshake."""
        return {
            "protocolVersion": LATEST_HANDSHAKE_VERSION,
            "capabilities": self._client.capabilities,
            "clientInfo": self._client.info,
        }

    def read_opening(self, result: Mapping[str, Any]) -> tuple[str, ServerInfo]:
        """Read a result of ``initialize``."""
        version = result.get("protocolVersion")
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            raise NotMcp("The server answered the handshake with a revision that nobody knows.")
        return version, _server_info(_mapping(result.get("serverInfo")), result)

    def stamp(self, params: Mapping[str, Any], token: int | None) -> Mapping[str, Any]:
        """Take off what only modern requests carry, and add the progress token."""
        given = _mapping(params.get("_meta"))
        meta = {key: value for key, value in given.items() if key not in _HOP}
        meta.pop("progressToken", None)
        if token is not None:
            meta["progressToken"] = token
        if meta == given:
            return params
        rest = {key: value for key, value in params.items() if key != "_meta"}
        return {**rest, "_meta": meta} if meta else rest

    def headers(
        self, method: str, params: Mapping[str, Any], further: Mapping[str, str] = NO_HEADERS
    ) -> Mapping[str, str]:
        """None: the transport names the revision, and nothing is mirrored."""
        return NO_HEADERS


def _server_info(said: Mapping[str, Any], result: Mapping[str, Any]) -> ServerInfo:
    instructions = result.get("instructions")
    title = said.get("title")
    return ServerInfo(
        name=str(said.get("name") or ""),
        version=str(said.get("version") or ""),
        title=title if isinstance(title, str) else None,
        capabilities=_mapping(result.get("capabilities")),
        instructions=instructions if isinstance(instructions, str) else None,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
