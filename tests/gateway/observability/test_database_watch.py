"""Whether the database answers, as the health board asks."""

import asyncio
from contextlib import closing
from pathlib import Path
from socket import socket

import pytest

from gateway.contract import Health
from gateway.observability import database_watch
from gateway.observability.database_watch import CHECK_INTERVAL_SECONDS, DatabaseWatch
from gateway.observability.health import HealthBoard
from gateway.services.database.service import open_database
from tests.auth.clocks import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def absent() -> str:
    """The address of a server that is not there."""
    with closing(socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return f"postgresql://somebody@127.0.0.1:{taken.getsockname()[1]}/portal"


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """A database that answers."""
    return "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")


async def test_a_database_that_answers_is_there(address: str, tmp_path: Path) -> None:
    service = open_database(address, tmp_path)
    watch = DatabaseWatch(service.for_owner("gateway"))
    assert await watch.there()
    assert list(watch.notices()) == []
    await service.close()


async def healthy() -> Health:
    return Health()


async def unable() -> Health:
    return Health("failed", "the database is away")


async def test_without_it_a_portal_that_serves_something_is_ready_and_degraded(
    absent: str, tmp_path: Path, clock: Clock
) -> None:
    away, back = open_database(absent, tmp_path), open_database("sqlite", tmp_path)
    watch, board = DatabaseWatch(away.for_owner("gateway"), clock), HealthBoard()
    for name, health in (("knowledge", healthy), ("workflows", unable)):
        board.expect(name, required=True)
        board.opened(name, health)
    board.needs(watch.there)
    board.notices(watch.notices)
    first = await board.report()
    assert (first.status, first.ready) == ("degraded", True)
    assert first.notices[0].startswith("The database has not answered for 0 s.")
    board.opened("knowledge", unable)
    nothing = await board.report()
    assert (nothing.status, nothing.ready) == ("failed", False)
    for name in ("knowledge", "workflows"):
        board.opened(name, healthy)
    watch._database = back.for_owner("gateway")
    clock.pass_(CHECK_INTERVAL_SECONDS)
    assert (await board.report()).status == "ok"
    assert list(watch.notices()) == []
    await away.close()
    await back.close()


async def test_it_is_asked_once_a_second_however_many_ask(tmp_path: Path, clock: Clock) -> None:
    service = open_database("sqlite", tmp_path)
    watch = DatabaseWatch(service.for_owner("gateway"), clock)
    asked = 0
    ask = watch._ask

    async def counted() -> None:
        nonlocal asked
        asked += 1
        await ask()

    watch._ask = counted  # type: ignore[method-assign]
    assert all(await asyncio.gather(*(watch.there() for _ in range(20))))
    assert await watch.there()
    assert asked == 1
    clock.pass_(CHECK_INTERVAL_SECONDS)
    assert await watch.there()
    assert asked == 2
    await service.close()


async def test_one_that_says_nothing_holds_up_no_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_watch, "TIMEOUT_SECONDS", 0.05)
    with closing(socket()) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"postgresql://somebody@127.0.0.1:{silent.getsockname()[1]}/portal"
        service = open_database(address, tmp_path)
        watch = DatabaseWatch(service.for_owner("gateway"))
        assert not await watch.there()
        assert list(watch.notices()) != []
        await service.close()


async def test_a_plugin_that_waits_for_it_is_believed_though_it_has_just_answered(
    absent: str, tmp_path: Path, clock: Clock
) -> None:
    there, away = open_database("sqlite", tmp_path), open_database(absent, tmp_path)
    watch, board = DatabaseWatch(there.for_owner("gateway"), clock), HealthBoard()

    async def waiting() -> Health:
        async with away.for_owner("workflows").read():
            return Health()

    for name, health in (("knowledge", healthy), ("workflows", healthy)):
        board.expect(name, required=True)
        board.opened(name, health)
    board.needs(watch.there)
    board.notices(watch.notices)
    assert (await board.report()).status == "ok"
    watch._database = away.for_owner("gateway")  # it is gone within the same second
    board.opened("workflows", waiting)
    report = await board.report()
    assert (report.status, report.ready) == ("degraded", True)
    assert any("The database has not answered" in each for each in report.notices)
    await there.close()
    await away.close()
