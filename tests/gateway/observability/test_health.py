from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from gateway.contract import Health
from gateway.observability.health import HealthBoard, health_routes, is_loopback
from gateway.observability.metrics import Metrics


def says(health: Health) -> Callable[[], Awaitable[Health]]:
    async def ask() -> Health:
        return health

    return ask


async def never() -> Health:
    await asyncio.Event().wait()
    return Health()


async def stubborn() -> Health:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if _released.is_set():
                raise


_released = asyncio.Event()


async def broken() -> Health:
    raise RuntimeError("no route to postgresql://porch:hunter2hunter2@db")


def board_of(**plugins: Health) -> HealthBoard:
    board = HealthBoard(deadline=0.05)
    for name, health in plugins.items():
        board.expect(name, required=True)
        board.opened(name, says(health))
    return board


async def test_a_portal_with_well_and_degraded_plugins_is_ready() -> None:
    report = await board_of(a=Health(), b=Health("degraded", "keywords only")).report()
    assert report.ready
    assert report.details()["plugins"]["b"]["detail"] == "keywords only"


async def test_a_plugin_that_still_opens_makes_the_portal_wait() -> None:
    board = board_of(a=Health())
    board.expect("b", required=False)
    assert (await board.report()).status == "starting"
    board.opened("b", says(Health("starting", "12 of 40 documents")))
    assert (await board.report()).status == "starting"
    board.opened("b", says(Health()))
    assert (await board.report()).status == "ok"


async def test_without_the_database_a_replica_that_begins_waits_for_its_plugins_all_the_same() -> (
    None
):
    board = board_of(a=Health())
    board.needs(_away)
    board.expect("b", required=False)
    assert (await board.report()).status == "starting"
    board.opened("b", says(Health("starting", "12 of 40 documents")))
    assert (await board.report()).status == "starting", "the first index keeps the database busy"
    board.late("b", "the database does not answer")
    assert (await board.report()).status == "degraded"
    board.opened("b", says(Health("starting", "12 of 40 documents")))
    assert (await board.report()).status == "degraded", "it has been ready, and serves on"


async def _away(_anew: bool) -> bool:
    return False


@pytest.mark.parametrize(("required", "status"), [(True, "failed"), (False, "ok")])
async def test_a_plugin_that_failed_to_open_counts_where_it_is_required(
    required: bool, status: str
) -> None:
    board = board_of(a=Health())
    board.expect("b", required=required)
    board.failed("b", "no such directory: ./content")
    report = await board.report()
    assert report.status == status
    assert report.details()["plugins"]["b"] == {
        "state": "failed",
        "required": required,
        "detail": "no such directory: ./content",
        "facts": {},
    }


async def test_a_late_plugin_is_failed_and_asked_again_next_time() -> None:
    board = board_of(a=Health())
    board.opened("a", never)
    assert "within 0.05 s" in (await board.report()).plugins[0].health.detail
    board.opened("a", says(Health()))
    assert (await board.report()).ready


async def test_a_plugin_that_ignores_its_cancellation_holds_up_no_one() -> None:
    board = board_of(a=Health(), b=Health())
    board.opened("a", stubborn)
    before = len(asyncio.all_tasks())
    for _ in range(3):
        report = await board.report()
        assert [p.health.state for p in report.plugins] == ["failed", "ok"]
    assert len(asyncio.all_tasks()) == before + 1
    _released.set()
    assert (await board.report()).status == "failed"


async def test_reports_at_the_same_time_ask_a_plugin_once() -> None:
    asked = 0
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def ask() -> Health:
        nonlocal asked
        asked += 1
        begun.set()
        await go_on.wait()
        return Health()

    board = HealthBoard(deadline=5)
    board.expect("a", required=True)
    board.opened("a", ask)
    reports = [asyncio.create_task(board.report()) for _ in range(5)]
    await begun.wait()
    go_on.set()
    assert all(report.ready for report in await asyncio.gather(*reports))
    assert asked == 1


async def test_a_raising_plugin_says_why_without_secrets() -> None:
    board = board_of(a=Health())
    board.opened("a", broken)
    detail = (await board.report()).plugins[0].health.detail
    assert detail == "RuntimeError: no route to postgresql://porch:***@db"


async def test_a_state_is_logged_when_it_changes_and_not_at_every_question() -> None:
    board = board_of(a=Health())
    with capture_logs() as lines:
        await board.report()
        await board.report()
        board.failed("a", "the disk is full")
        await board.report()
        await board.report()
    assert [(line["log_level"], line["state"], line["detail"]) for line in lines] == [
        ("info", "ok", ""),
        ("warning", "failed", "the disk is full"),
    ]


async def test_a_plugin_that_returns_something_else_is_failed() -> None:
    async def wrong() -> Health:
        return "fine"  # type: ignore[return-value]

    board = board_of(a=Health())
    board.opened("a", wrong)
    assert "returned str instead of Health" in (await board.report()).plugins[0].health.detail


async def test_notices_are_told_and_a_stopping_portal_is_not_ready() -> None:
    board = board_of(a=Health())
    board.notices(lambda: ["`search` of b was set aside: a has it already."])
    report = await board.report()
    assert report.notices == ("`search` of b was set aside: a has it already.",)
    board.stop()
    assert (await board.report()).status == "stopping"


def client(board: HealthBoard, peer: str = "127.0.0.1", host: str = "127.0.0.1") -> TestClient:
    metrics = Metrics(lambda _: True)
    app = Starlette(routes=health_routes(board, metrics, is_loopback))
    return TestClient(app, base_url=f"http://{host}:8321", client=(peer, 50000))


def test_healthz_answers_whatever_the_plugins_do() -> None:
    board = board_of(a=Health("failed"))
    answer = client(board).get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(("state", "status"), [("ok", 200), ("starting", 503), ("failed", 503)])
def test_a_stranger_learns_one_word(state: str, status: int) -> None:
    board = board_of(a=Health(state))  # type: ignore[arg-type]
    answer = client(board, peer="192.0.2.7").get("/readyz")
    assert (answer.status_code, answer.json()) == (status, {"status": state})


def test_loopback_sees_each_plugin_and_its_facts() -> None:
    answer = client(board_of(a=Health("ok", "well", {"documents": 3, "token": "x"}))).get("/readyz")
    assert answer.json() == {
        "status": "ok",
        "plugins": {
            "a": {
                "state": "ok",
                "required": True,
                "detail": "well",
                "facts": {"documents": 3, "token": "***"},
            }
        },
        "notices": [],
    }


def test_metrics_hold_the_health_and_are_not_for_strangers() -> None:
    board = board_of(a=Health("degraded"))
    shown = client(board).get("/metrics")
    assert 'porch_plugin_health{plugin="a",state="degraded"} 1.0' in shown.text
    assert shown.headers["content-type"].startswith("text/plain; version=0.0.4")
    refused = client(board, peer="192.0.2.7").get("/metrics")
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "forbidden"
    assert "porch_" not in refused.text


def request(peer: str | None, host: str = "localhost", **headers: str) -> Request:
    raw = [(b"host", host.encode())]
    raw += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": "/readyz",
            "query_string": b"",
            "headers": raw,
            "client": None if peer is None else (peer, 50000),
        }
    )


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8321", "[::1]:8321"])
def test_a_direct_request_from_this_machine_is_loopback(peer: str, host: str) -> None:
    assert is_loopback(request(peer, host))


@pytest.mark.parametrize("peer", [None, "", "10.0.0.1", "192.0.2.7", "::ffff:10.0.0.1", "unix"])
def test_another_peer_is_not_loopback(peer: str | None) -> None:
    assert not is_loopback(request(peer))


@pytest.mark.parametrize("host", ["portal.example", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_name_is_not_loopback(host: str) -> None:
    assert not is_loopback(request("127.0.0.1", host))


@pytest.mark.parametrize("header", ["x_forwarded_for", "forwarded", "via", "x_real_ip"])
def test_a_request_through_a_proxy_is_not_loopback(header: str) -> None:
    assert not is_loopback(request("127.0.0.1", **{header: "127.0.0.1"}))
