"""One JSON-RPC endpoint of a chain, through web3.

Failures are described in our own words: an endpoint's address may hold a key, and its answers may
repeat the key, so neither is ever part of a message.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from web3 import AsyncHTTPProvider
    from web3.types import RPCEndpoint

MAX_BATCH_SIZE = 50
"""Calls in one request; public endpoints refuse batches that are much longer."""

# Errors of the contract, not of the endpoint: nodes word them differently, and only code 3 is
# reserved for them. A stranger can choose what is called (EIP-6492), so a failing call must not
# look like a broken endpoint.
_REVERTED = 3
_EXECUTION = re.compile(r"revert|execution|out of gas|gas limit|opcode|stack|jump|\bE?VM\b", re.I)
_NO_METHOD = -32601
_BUSY = frozenset({429, 503})
_TOO_LARGE = frozenset({400, 413})
# A client that cannot take a batch says so with one of these, or with an object for an answer.
_NO_BATCH = frozenset({400, 404, 405, 413, 415, 422, 501})
# What web3 raises (or warns of) where the answer to a batch is not a list of answers with ids.
_NOT_A_BATCH = (ValueError, TypeError, AttributeError, KeyError, RuntimeWarning)


Request = tuple[str, list[Any]]
"""A method of JSON-RPC and its parameters."""


@dataclass(frozen=True, slots=True)
class Call:
    """A read-only call of a contract (``eth_call``).

    Attributes:
        to: the contract's address, as EIP-55 writes it.
        data: the function's selector and its arguments.
    """

    to: str
    data: bytes


class EndpointFailed(Exception):
    """The endpoint cannot be used; the message says why, without any part of its address.

    Attributes:
        wait: the seconds that it asks to wait (``Retry-After``), or 0.
        status: the HTTP status of its answer, if that is what failed.
    """

    def __init__(self, message: str, wait: float = 0.0, status: int | None = None) -> None:
        super().__init__(message)
        self.wait = wait
        self.status = status


class RangeRefused(EndpointFailed):
    """The endpoint does not read so many blocks, or so many logs, at once."""


class WrongChain(EndpointFailed):
    """The endpoint serves another chain."""


class _BatchRefused(Exception):
    """The endpoint answers single requests only."""


class Endpoint:
    """One endpoint; before anything else it is asked which chain it serves.

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
        answers = await self._answers([("eth_call", _parameters(call)) for call in calls])
        with self._rechecking():
            return [_returned(each) for each in answers]

    async def head(self) -> int:
        """The number of the newest block.

        Raises:
            EndpointFailed: it does not answer, or not as it should.
        """
        (answer,) = await self._answers([("eth_blockNumber", [])])
        with self._rechecking():
            return _quantity(answer, "which block is the newest")

    async def logs(self, filters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The logs of several filters together, as ``eth_getLogs`` returns them.

        Raises:
            RangeRefused: not of so many blocks.
            EndpointFailed: it does not answer, or not as it should.
        """
        try:
            answers = await self._answers([("eth_getLogs", [dict(each)]) for each in filters])
        except EndpointFailed as error:
            if error.status in _TOO_LARGE:
                raise RangeRefused(str(error)) from None
            raise
        with self._rechecking():
            return [log for each in answers for log in _logs(each)]

    async def close(self) -> None:
        """Close the connections."""
        provider, self._provider = self._provider, None
        if provider is not None:
            await provider.disconnect()

    @contextmanager
    def _rechecking(self) -> Iterator[None]:
        """After a failure it may be another machine, so check its chain and try batches again."""
        try:
            yield
        except RangeRefused:
            raise
        except EndpointFailed:
            self._checked, self._batches = False, True
            raise

    async def _answers(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        with self._rechecking():
            provider = await self._opened()
            answers: list[dict[str, Any]] = []
            for start in range(0, len(requests), MAX_BATCH_SIZE):
                answers += await self._some(provider, requests[start : start + MAX_BATCH_SIZE])
            return answers

    async def _opened(self) -> AsyncHTTPProvider:
        if self._provider is None:
            self._provider = _provider(self._url)
        if not self._checked:
            answer = await _one(self._provider, "eth_chainId", [])
            if _quantity(answer, "which chain it serves") != self._chain_id:
                raise WrongChain(f"it serves another chain than {self._chain_id}")
            self._checked = True
        return self._provider

    async def _some(
        self, provider: AsyncHTTPProvider, requests: Sequence[Request]
    ) -> list[dict[str, Any]]:
        if self._batches and len(requests) > 1:
            try:
                return await _many(provider, requests)
            except _BatchRefused:
                self._batches = False
        return list(await asyncio.gather(*(_one(provider, *request) for request in requests)))


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
        raise _failed(error) from None


async def _many(provider: AsyncHTTPProvider, requests: Sequence[Request]) -> list[dict[str, Any]]:
    batch = [(_method(method), parameters) for method, parameters in requests]
    try:
        answers: Any = await provider.make_batch_request(batch)
    except _NOT_A_BATCH:
        raise _BatchRefused from None
    except Exception as error:
        if getattr(error, "status", None) in _NO_BATCH:
            raise _BatchRefused from None
        raise _failed(error) from None
    # The answers are sorted by id; a missing one would shift all later ones to wrong requests.
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


def _quantity(answer: dict[str, Any], what: str) -> int:
    try:
        return int(answer["result"], 16)
    except (KeyError, TypeError, ValueError):
        raise EndpointFailed(f"it does not say {what}") from None


def _logs(answer: dict[str, Any]) -> list[dict[str, Any]]:
    if (error := answer.get("error")) is not None:
        code = error.get("code") if isinstance(error, dict) else None
        # Nodes word it differently, and give it the codes of other things too.
        refused = EndpointFailed if code == _NO_METHOD else RangeRefused
        number = code if isinstance(code, int) else "without a number"
        raise refused(f"it answers eth_getLogs with JSON-RPC error {number}")
    logs = answer["result"]
    if not isinstance(logs, list) or not all(isinstance(each, dict) for each in logs):
        raise EndpointFailed("it answers eth_getLogs without logs")
    return logs


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


def _failed(error: Exception) -> EndpointFailed:
    said = getattr(error, "status", None)
    status = said if isinstance(said, int) else None
    headers = getattr(error, "headers", None) or {}
    wait = str(headers.get("Retry-After", "")) if status in _BUSY else ""
    seconds = float(wait) if wait.isdecimal() else 0.0
    return EndpointFailed(_in_our_words(error), seconds, status)


def _in_our_words(error: Exception) -> str:
    # The HTTP client's exception classes are web3's business; all we use of them is the status.
    if isinstance(status := getattr(error, "status", None), int):
        return f"it answers with HTTP {status}"
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    if isinstance(error, OSError):
        return "there is no connection to it"
    if isinstance(error, ValueError):
        return "it does not answer with JSON"
    return f"reading it failed ({type(error).__name__})"
