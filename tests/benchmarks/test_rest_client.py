"""The client of REST APIs counts right answers only, from a real server in a process of its own."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.peers import serving
from benchmarks.rest_client import Request, Sending, Times, sent


def _asks(value: int) -> Request:
    call: Any = {"method": "tools/call", "id": value, "params": {"arguments": {"a": value, "b": 1}}}
    return "POST", "/mcp", call


def test_each_request_after_the_warm_up_is_timed_once() -> None:
    with serving(["starlette"], tools=1) as served:
        peer = served["starlette"]
        sending = Sending(
            peer.port, "token", [_asks(n) for n in range(1, 31)], "result", 10, 4, peer.pid
        )
        times = sent(sending)
        assert len(times.latencies) == 20
        assert 0 < times.at(0.5) <= times.at(0.95) <= times.at(0.99) == times.latencies[-1]
        with pytest.raises(RuntimeError, match="wrong answer"):
            sent(Sending(peer.port, "token", [_asks(1), _asks(2)], "entry", 0, 1, peer.pid))


def test_a_share_of_the_requests_takes_at_most_the_time_at_it() -> None:
    times = Times(1.0, 1.0, [float(n) for n in range(1, 101)])
    assert (times.at(0.5), times.at(0.99), times.at(1.0)) == (51.0, 100.0, 100.0)
