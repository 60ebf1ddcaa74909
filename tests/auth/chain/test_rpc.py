"""Endpoints that fail, lie or refuse, and the ones that answer for them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from subprocess import run
from typing import Any

import pytest

from auth.chain import abi
from auth.chain.endpoint import MAX_BATCH_SIZE, Endpoint, EndpointFailed, RangeRefused
from auth.chain.rpc import FAILED_ENDPOINT_PAUSE_S, Call, Rpc
from auth.facts import SourceUnavailable
from tests.chain.anvil import HATS, Chain

SECRET = "secret-key"
Reply = tuple[int, Any]


class Server:
    """An endpoint that answers as a test says, and remembers what it was asked."""

    def __init__(self, reply: Callable[[Any], Reply | None]) -> None:
        self.reply = reply
        self.asked: list[Any] = []
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[Server]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v2/{SECRET}"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        question = json.loads(await reader.readexactly(length))
        self.asked.append(question)
        if (reply := self.reply(question)) is not None:
            status, answer = reply
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n" % (status, len(body)))
            writer.write(b"Content-Type: application/json\r\nConnection: close\r\n\r\n" + body)
            await writer.drain()
        else:
            await reader.read()  # until the other side has had enough
        writer.close()


def good(question: Any) -> Reply:
    """Answer as an endpoint of chain 10 at which every call returns 1."""
    if isinstance(question, list):
        return 200, [good(each)[1] for each in question]
    result = "0xa" if question["method"] == "eth_chainId" else "0x" + bytes(31).hex() + "01"
    return 200, {"jsonrpc": "2.0", "id": question["id"], "result": result}


def failing(code: int, message: str = "x") -> Callable[[Any], Reply]:
    def reply(question: Any) -> Reply:
        if isinstance(question, list):
            return 200, [reply(each)[1] for each in question]
        if question["method"] == "eth_chainId":
            return good(question)
        error = {"code": code, "message": f"{message} {SECRET}"}
        return 200, {"jsonrpc": "2.0", "id": question["id"], "error": error}

    return reply


def wrong_chain(question: Any) -> Reply:
    status, answer = good(question)
    return status, answer | {"result": "0x1"}


def single(status: int, answer: Any) -> Callable[[Any], Reply]:
    return lambda question: (status, answer) if isinstance(question, list) else good(question)


ONE = bytes(31) + b"\x01"
CALL = Call(HATS, b"\x00" * 4)

BAD: dict[str, tuple[Callable[[Any], Reply | None], str]] = {
    "hangs": (lambda question: None, "in time"),
    "server error": (lambda question: (500, b""), "HTTP 500"),
    "too many requests": (lambda question: (429, b""), "HTTP 429"),
    "no JSON": (lambda question: (200, b"<html>" + SECRET.encode()), "JSON"),
    "JSON of something else": (lambda question: (200, [1]), "JSON-RPC"),
    "nothing": (lambda question: (200, {}), "JSON-RPC"),
    "another chain": (wrong_chain, "it serves another chain than 10"),
    "an error": (failing(-32005), "error -32005"),
    "no bytes": (lambda question: (200, good(question)[1] | {"result": "0xa"}), "without bytes"),
}


@pytest.mark.parametrize("name", BAD)
async def test_where_one_endpoint_fails_the_next_one_answers(name: str) -> None:
    reply, _ = BAD[name]
    async with Server(reply).serving() as bad, Server(good).serving() as other:
        rpc = Rpc(10, [bad.url, other.url], timeout=2)
        assert await rpc.call(CALL) == ONE
        asked = len(bad.asked)
        assert await rpc.call(CALL) == ONE
        assert len(bad.asked) == asked  # set aside for a while
        await rpc.close()


@pytest.mark.parametrize("name", BAD)
async def test_where_all_fail_it_is_said_why_without_a_secret(name: str) -> None:
    reply, reason = BAD[name]
    async with Server(reply).serving() as bad:
        rpc = Rpc(10, [bad.url, f"http://127.0.0.1:9/{SECRET}"], timeout=1)
        with pytest.raises(SourceUnavailable) as problem:
            await rpc.call(CALL)
        assert reason in str(problem.value)
        assert "127.0.0.1: there is no connection to it" in str(problem.value)
        assert SECRET not in repr(problem.value)
        assert problem.value.__context__ is None or SECRET not in repr(problem.value.__context__)
        await rpc.close()


async def test_an_endpoint_that_failed_is_asked_again_after_a_while() -> None:
    now = [0.0]
    async with Server(lambda _: (500, b"")).serving() as first, Server(good).serving() as second:
        rpc = Rpc(10, [first.url, second.url], clock=lambda: now[0])
        assert await rpc.call(CALL) == ONE
        first.reply = good
        now[0] = FAILED_ENDPOINT_PAUSE_S + 1
        asked = len(second.asked)
        assert await rpc.call(CALL) == ONE
        assert len(second.asked) == asked
        await rpc.close()


async def test_an_endpoint_that_failed_is_still_asked_where_no_other_answers() -> None:
    async with Server(lambda _: (500, b"")).serving() as only:
        rpc = Rpc(10, [only.url])
        with pytest.raises(SourceUnavailable):
            await rpc.call(CALL)
        only.reply = good
        assert await rpc.call(CALL) == ONE
        await rpc.close()


async def test_the_chain_is_checked_again_after_a_failure() -> None:
    async with Server(good).serving() as only:
        rpc = Rpc(10, [only.url])
        assert await rpc.call(CALL) == ONE
        only.reply = lambda _: (500, b"")
        with pytest.raises(SourceUnavailable):
            await rpc.call(CALL)
        only.reply = wrong_chain
        with pytest.raises(SourceUnavailable, match="another chain"):
            await rpc.call(CALL)
        await rpc.close()


async def test_calls_go_in_few_requests() -> None:
    async with Server(good).serving() as only:
        rpc = Rpc(10, [only.url])
        assert await rpc.calls([CALL] * (MAX_BATCH_SIZE + 6)) == [ONE] * (MAX_BATCH_SIZE + 6)
        assert [len(each) for each in only.asked[1:]] == [MAX_BATCH_SIZE, 6]
        await rpc.close()


REFUSALS: dict[str, Callable[[Any], Reply]] = {
    "by status": single(413, b""),
    "by an object": single(200, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600}}),
    "by no JSON": single(200, b"no"),
    "by one answer": single(200, [{"jsonrpc": "2.0", "id": 1, "result": "0x"}]),
    "without ids": single(200, [{"jsonrpc": "2.0", "result": "0x"}] * 3),
    "with one id": single(200, [{"jsonrpc": "2.0", "id": 1, "result": "0x"}] * 3),
    "with an empty list": single(200, []),
    "with ids of text": single(200, [{"id": "1", "result": "0x"}, {"id": 2, "result": "0x"}]),
}


@pytest.mark.parametrize("how", REFUSALS)
async def test_an_endpoint_that_takes_no_batches_is_asked_one_by_one(how: str) -> None:
    async with Server(REFUSALS[how]).serving() as only:
        rpc = Rpc(10, [only.url])
        assert await rpc.calls([CALL] * 3) == [ONE] * 3
        assert await rpc.calls([CALL] * 3) == [ONE] * 3
        assert sum(isinstance(each, list) for each in only.asked) == 1
        await rpc.close()


async def test_answers_out_of_order_are_put_in_order() -> None:
    def shuffled(question: Any) -> Reply:
        if not isinstance(question, list):
            return good(question)
        return 200, [
            {"jsonrpc": "2.0", "id": each["id"], "result": each["params"][0]["data"]}
            for each in reversed(question)
        ]

    async with Server(shuffled).serving() as only:
        rpc = Rpc(10, [only.url])
        calls = [Call(HATS, bytes([number])) for number in range(5)]
        assert await rpc.calls(calls) == [call.data for call in calls]
        await rpc.close()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (3, "no"),
        (-32000, "execution reverted"),
        (-32000, "execution aborted (timeout = 5s)"),
        (-32000, "invalid opcode: INVALID"),
        (-32015, "VM error"),
        (-32003, "EVM error: OutOfGas: out of gas"),
    ],
)
async def test_a_contract_that_refuses_is_no_failure_of_the_endpoint(
    code: int, message: str
) -> None:
    async with Server(failing(code, message)).serving() as only:
        rpc = Rpc(10, [only.url])
        assert await rpc.calls([CALL, CALL]) == [None, None]
        await rpc.close()


async def test_a_real_chain_tells_contracts_refusals_and_nothing_apart(
    rpc: Rpc, chain: Chain
) -> None:
    await abi.loaded()
    wearer = chain.wallet().address
    chain.give_hat(wearer, 1)
    balances = "balanceOfBatch(address[],uint256[])"
    returned = await rpc.calls(
        [
            abi.call(HATS, "isWearerOfHat(address,uint256)", wearer, 1),
            abi.call(HATS, balances, [wearer], []),
            abi.call(wearer, "isWearerOfHat(address,uint256)", wearer, 1),
        ]
    )
    assert returned == [ONE, None, b""]


async def test_two_questions_at_once_share_what_is_known() -> None:
    async with Server(good).serving() as only:
        rpc = Rpc(10, [only.url])
        assert await asyncio.gather(*(rpc.call(CALL) for _ in range(5))) == [ONE] * 5
        await rpc.close()


async def test_without_an_endpoint_nothing_is_known() -> None:
    with pytest.raises(SourceUnavailable, match="it has no endpoint"):
        await Rpc(10, []).call(CALL)


def test_nothing_heavy_is_imported_before_the_first_question() -> None:
    program = (
        "import sys, auth.sign_in.wallet, auth.chain.rpc, auth.fact_sources.hats, auth.chain.ens, "
        "auth.chain.contract_signatures\n"
        "auth.chain.rpc.Rpc(10, ['http://127.0.0.1:9'])\n"
        "print([name for name in ('web3', 'siwe', 'eth_abi', 'eth_account', 'aiohttp') "
        "if name in sys.modules])"
    )
    assert run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


async def test_a_chain_is_told_by_its_name_where_it_has_one() -> None:
    with pytest.raises(SourceUnavailable, match=r"chain 10 \(Optimism\) cannot be read"):
        await Rpc(10, [], "Optimism").call(CALL)


class Busy(Server):
    """An endpoint that has enough of us, and says for how long."""

    wait = b"120"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked.append(None)
        writer.write(b"HTTP/1.1 429 X\r\nRetry-After: " + self.wait)
        writer.write(b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


async def test_an_endpoint_that_asks_to_wait_is_left_alone_for_so_long() -> None:
    now = [0.0]
    async with Busy(good).serving() as only:
        rpc = Rpc(10, [only.url], clock=lambda: now[0])
        with pytest.raises(SourceUnavailable, match="HTTP 429"):
            await rpc.call(CALL)
        now[0] = 119
        with pytest.raises(SourceUnavailable, match="it asked to wait, 1 seconds more"):
            await rpc.call(CALL)
        assert len(only.asked) == 1
        now[0] = 121
        with pytest.raises(SourceUnavailable, match="HTTP 429"):
            await rpc.call(CALL)
        assert len(only.asked) == 2
        await rpc.close()


@pytest.mark.parametrize("wait", [b"soon", b"-5", b"", b"Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_a_wait_that_is_no_number_of_seconds_is_none(wait: bytes) -> None:
    async with Busy(good).serving() as only:
        only.wait = wait  # type: ignore[attr-defined]
        rpc = Rpc(10, [only.url])
        for _ in range(2):
            with pytest.raises(SourceUnavailable, match="HTTP 429"):
                await rpc.call(CALL)
        await rpc.close()


RANGES: dict[str, Callable[[Any], Reply | None]] = {
    "an error": failing(-32005),
    "another error": failing(-32602),
    "a status": lambda question: (
        (413, b"") if question["method"] == "eth_getLogs" else good(question)
    ),
}


@pytest.mark.parametrize("how", RANGES)
async def test_a_range_that_is_too_large_is_told_from_a_failure(how: str) -> None:
    async with Server(RANGES[how]).serving() as only:
        rpc = Rpc(10, [only.url])
        with pytest.raises(SourceUnavailable):
            await rpc.first(refused)
        await rpc.close()


async def refused(endpoint: Endpoint) -> None:
    with pytest.raises(RangeRefused) as problem:
        await endpoint.logs([{"fromBlock": "0x0"}])
    assert SECRET not in str(problem.value)
    raise problem.value


@pytest.mark.parametrize("reply", [failing(-32601), good, lambda question: (500, b""), wrong_chain])
async def test_an_endpoint_without_logs_has_failed(reply: Callable[[Any], Reply]) -> None:
    async with Server(reply).serving() as only:
        endpoint = Endpoint(only.url, 10)
        await abi.loaded()
        with pytest.raises(EndpointFailed) as problem:
            await endpoint.logs([{"fromBlock": "0x0"}])
        assert not isinstance(problem.value, RangeRefused)
        await endpoint.close()
