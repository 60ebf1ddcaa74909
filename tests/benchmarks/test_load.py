"""The load generator counts right answers only, from a real server in a process of its own."""

from __future__ import annotations

import json

import pytest

from benchmarks.load import Load, measured
from benchmarks.peers import serving
from benchmarks.wire import TOOLS, Checker


def _answer(number: int, total: int) -> bytes:
    value = {"sum": total}
    result = {"content": [{"text": json.dumps(value)}], "structuredContent": value}
    return json.dumps({"id": number, "result": result}).encode()


def test_a_right_sum_passes() -> None:
    assert Checker("call")(_answer(7, 8), 7) is None


@pytest.mark.parametrize("body", [_answer(7, 9), _answer(6, 8)])
def test_a_wrong_sum_or_another_requests_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="wrong answer to request 7"):
        Checker("call")(body, 7)


def test_a_list_must_stay_the_same_but_for_its_number() -> None:
    check = Checker("list")

    def listed(number: int, name: str) -> bytes:
        return b'{"id":%d,"result":%s}' % (
            number,
            json.dumps({"tools": [name] * TOOLS}).encode(),
        )

    check(listed(1, "add"), 1)
    check(listed(2, "add"), 2)
    with pytest.raises(ValueError, match="request 3"):
        check(listed(3, "other"), 3)


def test_a_load_on_a_real_server_has_figures() -> None:
    with serving(["starlette"], tools=1) as served:
        peer = served["starlette"]
        figures = measured(Load(peer.port, "modern", connections=4, seconds=0.05), peer.pid)
        assert figures.rate > 0
        assert 0 < figures.p50 <= figures.p99
        with pytest.raises(RuntimeError, match="no session"):
            measured(Load(peer.port, "legacy", seconds=0.05), peer.pid)
