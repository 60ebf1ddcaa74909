"""Who holds the event loop is named: the plugin, the line, how long and how often."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from structlog.testing import capture_logs

from gateway.observability import loop_watchdog as module
from gateway.observability.loop_lag import LoopLag
from gateway.observability.loop_watchdog import LoopWatchdog, OwnerOf
from gateway.observability.metrics import Metrics


class _Watched(LoopWatchdog):
    """A watchdog that says when it has seen who holds the loop, and when it has told of it."""

    def __init__(self, lag: LoopLag, metrics: Metrics, owner_of: OwnerOf) -> None:
        super().__init__(lag, metrics, owner_of)
        self.seen, self.told = list[str](), threading.Event()

    def _who_holds(self) -> tuple[str, str] | None:
        who = super()._who_holds()
        if who is not None and who[1].endswith("in _compute"):
            self.seen.append(who[1])
        return who

    def _tell(self, plugin: str, place: str, seconds: float) -> None:
        super()._tell(plugin, place, seconds)
        if place.endswith("in _compute"):
            self.told.set()


def _compute(seconds: float, seen: list[str] | None = None) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until or seen == []:
        pass


def _owner_of(name: str) -> str | None:
    return "garden" if name == __name__ else None


def _nobody(name: str) -> str | None:
    return None


async def _held(watchdog: _Watched, lag: LoopLag, seconds: float) -> None:
    async with lag.watched(), watchdog.watching(), asyncio.timeout(60):
        await asyncio.sleep(0.15)
        _compute(seconds, watchdog.seen)
        while not watchdog.told.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
def told_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STARTING_SECONDS", 0.0)
    monkeypatch.setattr(module, "NOTICED_SECONDS", 0.3)


async def test_a_plugin_that_computes_is_named_with_its_line() -> None:
    metrics, lag = Metrics(lambda _: True), LoopLag()
    watchdog = _Watched(lag, metrics, _owner_of)
    with capture_logs() as logged:
        await _held(watchdog, lag, 0.7)
    # A busy machine may hold a loop too, at any line.
    holds = [each for each in logged if each["event"] == "loop_held"]
    assert any(
        each["plugin"] == "garden"
        and each["seconds"] > 0.6
        and each["place"].startswith(f"{__name__}, line ")
        and each["place"].endswith("in _compute")
        for each in holds
    )
    assert any(each.startswith("garden kept everybody waiting for ") for each in watchdog.notices())
    assert 'porch_loop_held_total{plugin="garden"}' in metrics.render().decode()


async def test_what_is_no_plugins_is_the_portals_and_no_news_for_an_admin() -> None:
    metrics, lag = Metrics(lambda _: True), LoopLag()
    watchdog = _Watched(lag, metrics, _nobody)
    await _held(watchdog, lag, 0.7)
    assert list(watchdog.notices()) == []
    assert 'porch_loop_held_total{plugin="portal"}' in metrics.render().decode()


async def test_a_loop_that_turns_is_not_told_of() -> None:
    metrics, lag = Metrics(lambda _: True), LoopLag()
    watchdog = LoopWatchdog(lag, metrics, _owner_of)
    async with lag.watched(), watchdog.watching():
        for _ in range(20):
            _compute(0.005)
            await asyncio.sleep(0.01)
    assert "porch_loop_held_total{" not in metrics.render().decode()
    assert list(watchdog.notices()) == []


async def test_while_plugins_open_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STARTING_SECONDS", 60.0)
    lag = LoopLag()
    watchdog = _Watched(lag, Metrics(lambda _: True), _owner_of)
    await _held(watchdog, lag, 0.7)
    assert list(watchdog.notices()) == []
