"""A declared tool, prompt, resource or completion as a call of its server."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import mcp_types as mcp

from gateway.contract import Caller, Completer, Exchange, Relayed, RelayedError, ToolFailed
from gateway.toolkit.mirrored_headers import mirrored, parameter_headers
from plugins.upstreams.relay.apps import (
    with_shown_blocks,
    with_shown_contents,
    with_shown_messages,
)
from plugins.upstreams.relay.parked import Parked
from plugins.upstreams.relay.rounds import through_rounds
from plugins.upstreams.relay.server_messages import Direct, Noted
from plugins.upstreams.servers.reach import ASKABLE
from plugins.upstreams.servers.server import Server
from plugins.upstreams.wire import NO_HEADERS, Back

NOTHING: Mapping[str, Any] = MappingProxyType({})
CurrentExchange = Callable[[], Exchange]
Shown = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Makes of a server's name and its result one with the portal's addresses."""


class Calls:
    """The calls of one server.

    Args:
        server: which.
        exchange: gives the call that is running.
        parked: the calls that wait for their clients.
    """

    def __init__(self, server: Server, exchange: CurrentExchange, parked: Parked) -> None:
        self._server = server
        self._exchange = exchange
        self._parked = parked
        self._mirrored = {
            str(entry["name"]): headers
            for entry in server.offered.verdict.served
            if (headers := parameter_headers(entry["inputSchema"]))
        }

    async def tool(self, name: str, args: Mapping[str, Any], caller: Caller) -> Any:
        """A tool's result; ``name`` is the server's name for it."""
        settings = self._server.config.tools
        given = {**settings.defaults.get(name, {}), **args, **settings.fixed.get(name, {})}
        headers = mirrored(self._mirrored.get(name, ()), given)
        params = {"name": name, "arguments": given}
        answer = await self._call("tools/call", params, caller, headers)
        return self._shown(with_shown_blocks, answer)

    async def prompt(self, name: str, args: Mapping[str, Any], caller: Caller) -> Any:
        """A prompt's messages."""
        answer = await self._call("prompts/get", {"name": name, "arguments": dict(args)}, caller)
        return self._shown(with_shown_messages, answer)

    async def resource(self, uri: str, caller: Caller) -> Any:
        """What a resource holds; ``uri`` is the server's."""
        answer = await self._call("resources/read", {"uri": uri}, caller)
        return self._shown(with_shown_contents, answer)

    def _shown(self, made: Shown, answer: Any) -> Any:
        """A server's result with its addresses as the portal has them; a question as it is."""
        if not isinstance(answer, Relayed):
            return answer
        return Relayed(made(self._server.name, answer.result))

    async def file(self, uri: str, caller: Caller) -> bytes:
        """The bytes of a skill's file; ``uri`` is the server's.

        Raises:
            ToolFailed: the server gives nothing that could be them.
        """
        answer = await self._call("resources/read", {"uri": uri}, caller)
        contents = answer.result.get("contents") if isinstance(answer, Relayed) else None
        held = contents[0] if isinstance(contents, list) and contents else None
        text, blob = (held.get(k) if isinstance(held, dict) else None for k in ("text", "blob"))
        if isinstance(text, str):
            return text.encode()
        if isinstance(blob, str):
            with suppress(ValueError):
                return b64decode(blob, validate=True)
        raise ToolFailed("server_failed", f"{self._server.name} does not give the file {uri}.")

    def completers(self, ref: Mapping[str, str]) -> Mapping[str, Completer]:
        """What completes the arguments of a prompt or a template, whichever they are."""
        return _AnyArgument(partial(self._complete, ref))

    async def _complete(
        self,
        ref: Mapping[str, str],
        argument: str,
        typed: str,
        others: Mapping[str, str],
        caller: Caller,
    ) -> Relayed:
        params = {
            "ref": dict(ref),
            "argument": {"name": argument, "value": typed},
            "context": {"arguments": dict(others)},
        }
        client = self._exchange().client
        return Relayed(await self._server.request("completion/complete", params, caller, client))

    async def _call(
        self,
        method: str,
        params: Mapping[str, Any],
        caller: Caller,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Any:
        exchange, server = self._exchange(), self._server
        try:
            return await self._relayed(exchange, method, params, caller, headers)
        except RelayedError as error:
            server.url_questions.needed(error, exchange)
            raise

    async def _relayed(
        self,
        exchange: Exchange,
        method: str,
        params: Mapping[str, Any],
        caller: Caller,
        headers: Mapping[str, str],
    ) -> Any:
        server, client = self._server, exchange.client
        said = exchange.meta if server.config.meta else {}
        params = {**params, "_meta": {**said, **_of_client(exchange)}}

        def note(method: str, params: Mapping[str, Any]) -> None:
            server.note_question(method, params, exchange)

        async def send(back: Back, more: Mapping[str, Any] = NOTHING) -> Mapping[str, Any]:
            sent, noted = {**params, **more}, Noted(back, note)
            return await server.request(method, sent, caller, client, noted, headers)

        if server.asks_at_once and not exchange.can_ask:
            return await self._parked.call(send, exchange)
        return await through_rounds(partial(send, Direct(exchange)), exchange)


def _of_client(exchange: Exchange) -> dict[str, Any]:
    """What a server of the newer era is told of the client with each request.

    It may ask what this client can answer, and log what it wants to read. A server of the older
    era is told once what the portal can, and no when a client cannot.
    """
    able = {name: exchange.client_capabilities.get(name) for name in ASKABLE}
    told: dict[str, Any] = {
        mcp.CLIENT_CAPABILITIES_META_KEY: {k: v for k, v in able.items() if v is not None}
    }
    if exchange.log_level is not None:
        told[mcp.LOG_LEVEL_META_KEY] = exchange.log_level
    return told


class _AnyArgument(Mapping[str, Completer]):
    """Completers by argument, of which the server alone knows which there are."""

    def __init__(self, complete: Callable[..., Any]) -> None:
        self._complete = complete

    def __getitem__(self, argument: str) -> Completer:
        return partial(self._complete, argument)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
