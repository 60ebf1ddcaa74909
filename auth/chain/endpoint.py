"""One JSON-RPC endpoint of a chain, through web3.

What is worth knowing about a failure is told in our own words: an endpoint's address may hold a
key, and what it answers may repeat one, so neither is ever part of a message.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from web3 import AsyncHTTPProvider
    from web3.types import RPCEndpoint

BATCH = 50
"""Calls in one request; public endpoints refuse batches that are much longer."""

# What lies with the contract: nodes word it differently, and only 3 is a code of its own for it.
# A stranger can choose what is called (EIP-6492), so that must not look like a broken endpoint.
_REVERTED = 3
_EXECUTION = re.compile(r"revert|execution|out of gas|gas limit|opcode|stack|jump|\bE?VM\b", re.I)
# A client that cannot take a batch says so with one of these, or with an object for an answer.
_NO_BATCH = frozenset({400, 404, 405, 413, 415, 422, 501})
# What web3 raises (or warns of) where the answer to a batch is not a list of answers with ids.
_NOT_A_BATCH = (ValueError, TypeError, AttributeError, KeyError, RuntimeWarning)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a contract that changes nothing.

    Attributes:
        to: the contract's address, as EIP-55 writes it.
        data: the function's selector and its arguments.
    """

    to: str
    data: bytes


class EndpointFailed(Exception):
    """The endpoint is of no use; the message says why and names nothing of its address."""


class WrongChain(EndpointFailed):
    """The endpoint serves another chain."""


class _BatchRefused(Exception):
    """The endpoint answers single requests only."""


class Endpoint:
    """One endpoint, which is asked nothing before its chain is known to be the right one.

    Args:
        url: its address; it may hold a key.
        chain_id: the chain that it must serve.
    """

    def __init__(self, url: str, chain_id: int) -> None:
        self.host = urlsplit(url).hostname or "an endpoint without a host"
        self._url = url
        self._chain_id = chain_id
        self._provider: AsyncHTTPProvider | None = None
        self._checked = False
        self._batches = True

    async def calls(self, calls: Sequence[Call]) -> list[bytes | None]:
        """What each call returns at the latest block; None where the contract refused.

        Raises:
            EndpointFailed: it does not answer, or not as it should.
        """
        try:
            provider = await self._opened()
            returned: list[bytes | None] = []
            for start in range(0, len(calls), BATCH):
                returned += await self._some(provider, calls[start : start + BATCH])
        except EndpointFailed:
            self._checked, self._batches = False, True
            raise
        return returned

    async def close(self) -> None:
        """Let go of the connections."""
        provider, self._provider = self._provider, None
        if provider is not None:
            await provider.disconnect()

    async def _opened(self) -> AsyncHTTPProvider:
        if self._provider is None:
            self._provider = _provider(self._url)
        if not self._checked:
            answer = await _one(self._provider, "eth_chainId", [])
            if _quantity(answer) != self._chain_id:
                raise WrongChain(f"it serves another chain than {self._chain_id}")
            self._checked = True
        return self._provider

    async def _some(self, provider: AsyncHTTPProvider, calls: Sequence[Call]) -> list[bytes | None]:
        requests = [("eth_call", _parameters(call)) for call in calls]
        if self._batches and len(requests) > 1:
            try:
                return [_returned(each) for each in await _many(provider, requests)]
            except _BatchRefused:
                self._batches = False
        answers = await asyncio.gather(*(_one(provider, *request) for request in requests))
        return [_returned(each) for each in answers]


def _provider(url: str) -> AsyncHTTPProvider:
    from web3 import AsyncHTTPProvider

    # Whoever fails is set aside for a while; to ask again at once would only cost time.
    return AsyncHTTPProvider(url, exception_retry_configuration=None)


def _parameters(call: Call) -> list[Any]:
    return [{"to": call.to, "data": "0x" + call.data.hex()}, "latest"]


async def _one(provider: AsyncHTTPProvider, method: str, parameters: list[Any]) -> dict[str, Any]:
    try:
        return _answer(await provider.make_request(_method(method), parameters))
    except EndpointFailed:
        raise
    except Exception as error:
        raise EndpointFailed(_in_our_words(error)) from None


async def _many(
    provider: AsyncHTTPProvider, requests: Sequence[tuple[str, list[Any]]]
) -> list[dict[str, Any]]:
    batch = [(_method(method), parameters) for method, parameters in requests]
    try:
        answers: Any = await provider.make_batch_request(batch)
    except _NOT_A_BATCH:
        raise _BatchRefused from None
    except Exception as error:
        if getattr(error, "status", None) in _NO_BATCH:
            raise _BatchRefused from None
        raise EndpointFailed(_in_our_words(error)) from None
    # By their ids they are sorted; one that is missing would move every later one to a
    # question that it does not answer.
    if not isinstance(answers, list) or not _consecutive(answers, len(requests)):
        raise _BatchRefused
    return [_answer(each) for each in answers]


def _method(name: str) -> RPCEndpoint:
    from web3.types import RPCEndpoint

    return RPCEndpoint(name)


def _consecutive(answers: list[Any], expected: int) -> bool:
    ids = [each.get("id") if isinstance(each, dict) else None for each in answers]
    first = ids[0] if ids else None
    return isinstance(first, int) and ids == list(range(first, first + expected))


def _answer(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict) or ("result" in answer) == (answer.get("error") is not None):
        raise EndpointFailed("it does not answer as JSON-RPC does")
    return answer


def _quantity(answer: dict[str, Any]) -> int:
    try:
        return int(answer["result"], 16)
    except (KeyError, TypeError, ValueError):
        raise EndpointFailed("it does not say which chain it serves") from None


def _returned(answer: dict[str, Any]) -> bytes | None:
    error = answer.get("error")
    if error is None:
        try:
            return bytes.fromhex(answer["result"].removeprefix("0x"))
        except (AttributeError, ValueError):
            raise EndpointFailed("it answers a call without bytes") from None
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    if code == _REVERTED or _EXECUTION.search(str(message)):
        return None
    number = code if isinstance(code, int) else "without a number"
    raise EndpointFailed(f"it answers a call with JSON-RPC error {number}")


def _in_our_words(error: Exception) -> str:
    # The HTTP client's own classes are web3's business; a status is what they tell more.
    if isinstance(status := getattr(error, "status", None), int):
        return f"it answers with HTTP {status}"
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    if isinstance(error, OSError):
        return "there is no connection to it"
    if isinstance(error, ValueError):
        return "it does not answer with JSON"
    return f"reading it failed ({type(error).__name__})"
