"""The clients of the streams section say what is wrong, and come from enough addresses."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from benchmarks import streams
from benchmarks.listeners import ERAS, PROBER, Address, Caller, Listener
from gateway.config.portal_keys import Streams
from gateway.limits.networks import network_of
from tests.servers.serving import bound


def _source(number: int) -> str:
    async def connected() -> str:
        with bound() as listener:
            listener.listen(1)
            made = await Address(listener.getsockname()[1], number).connect(asyncio.Protocol)
            accepted, peer = listener.accept()
            accepted.close()
            del made
            return str(peer[0])

    return asyncio.run(connected())


def test_a_portal_as_shipped_takes_as_many_from_one_address_and_network() -> None:
    numbers = [0, 99, 100, 399, 400, streams.STREAMS - 1, PROBER]
    sources = [_source(number) for number in numbers]
    assert sources[0] == sources[1] != sources[2]
    assert network_of(sources[0]) == network_of(sources[3]) != network_of(sources[4])
    each = Counter(number // 100 for number in range(streams.STREAMS))
    assert max(each.values()) <= Streams().address
    assert 4 * max(each.values()) <= Streams().network
    assert Streams().total >= streams.STREAMS + streams.STORM


@pytest.mark.parametrize("era", ERAS)
async def test_a_refusal_and_a_lost_connection_are_errors(era: str) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 503 Busy\r\n\r\n{"jsonrpc":"2.0","error":{}}')
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        address = Address(server.sockets[0].getsockname()[1], 0)
        async with Caller.connected(address) as caller:
            with pytest.raises(ValueError, match="503"):
                await caller.call()
        with pytest.raises((ConnectionError, ValueError), match="503"):
            await Listener.opened(address, era)
