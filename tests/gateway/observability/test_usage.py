"""Usage by the hour, as it is kept and read again."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from gateway.observability.metrics import BUCKETS, Metrics
from gateway.observability.usage import KEPT, UsageLog
from gateway.observability.usage_reader import Figures, Only, UsageReader, total
from gateway.observability.usage_table import usage
from gateway.services.database.service import OwnedDatabase

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
OWNERS = {"search": "knowledge", "read": "knowledge", "walk": "workflows"}


class Clock:
    now = NOON + timedelta(minutes=59)

    def __call__(self) -> datetime:
        return self.now


def counted(database: OwnedDatabase, clock: Clock | None = None) -> tuple[Metrics, UsageLog]:
    metrics = Metrics(lambda name: name in OWNERS)
    return metrics, UsageLog(database, metrics, lambda: OWNERS, clock or Clock())


async def test_what_was_counted_is_added_to_its_hour_once(database: OwnedDatabase) -> None:
    clock = Clock()
    metrics, log = counted(database, clock)
    metrics.observe("search", "tool", "open", "ok", 0.004, 100)
    await log.keep()
    await log.keep()
    metrics.observe("search", "tool", "open", "ok", 2.0, 40)
    metrics.observe("search", "tool", "open", "not_allowed", 0.0, 0)
    await log.keep()
    clock.now += timedelta(hours=1)
    metrics.observe("walk", "tool", "members", "ok", 0.2, 7)
    await log.keep()
    (first, noon), (second, one) = await UsageReader(database).by("hour", NOON)
    assert (first, second) == (NOON, NOON + timedelta(hours=1))
    assert (noon.calls, noon.failed, noon.bytes_out) == (3, 1, 140)
    assert (one.calls, one.failed, sum(one.within)) == (1, 0, 1)


async def test_two_processes_count_together(database: OwnedDatabase) -> None:
    (here, log), (there, other) = counted(database), counted(database)
    for metrics in (here, there):
        for _ in range(50):
            metrics.observe("search", "tool", "open", "ok", 0.01, 1)
            metrics.observe("read", "tool", "open", "ok", 0.01, 1)
    await asyncio.gather(log.keep(), other.keep(), log.keep())
    found = dict(await UsageReader(database).by("item", NOON))
    assert {name: each.calls for name, each in found.items()} == {"read": 100, "search": 100}


async def test_it_is_summed_by_plugin_item_tier_and_outcome(database: OwnedDatabase) -> None:
    metrics, log = counted(database)
    metrics.observe("search", "tool", "open", "ok", 0.01, 1)
    metrics.observe("read", "tool", "members", "ok", 0.01, 1)
    metrics.observe("walk", "tool", "members", "failed", 0.01, 1)
    metrics.observe("made up by somebody", "tool", "open", "not_found", 0.0, 0)
    await log.keep()
    reader = UsageReader(database)

    async def calls(by: Any, only: Only = Only()) -> dict[str, int]:  # noqa: B008
        return {name: each.calls for name, each in await reader.by(by, NOON, only)}

    assert await calls("plugin") == {"knowledge": 2, "workflows": 1, "": 1}
    assert await calls("item") == {"search": 1, "read": 1, "walk": 1, "unknown": 1}
    assert await calls("tier", Only(plugin="knowledge")) == {"open": 1, "members": 1}
    assert await calls("outcome", Only(tier="members")) == {"ok": 1, "failed": 1}
    assert await calls("item", Only(item="walk")) == {"walk": 1}
    assert len(await reader.by("item", NOON, limit=2)) == 2
    assert await reader.by("item", NOON + timedelta(hours=1)) == []


async def test_an_error_loses_nothing(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics, log = counted(database)
    metrics.observe("search", "tool", "open", "ok", 0.01, 1)

    async def away(*_: Any) -> None:
        raise OSError("away")

    with monkeypatch.context() as patched:
        patched.setattr(log, "_add", away)
        with pytest.raises(OSError, match="away"):
            await log.keep()
    await log.keep()
    ((_, found),) = await UsageReader(database).by("item", NOON)
    assert found.calls == 1


async def test_what_is_kept_when_the_keeper_is_cancelled_is_not_kept_again(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics, log = counted(database)
    metrics.observe("search", "tool", "open", "ok", 0.01, 1)
    add, added, go_on = log._add, asyncio.Event(), asyncio.Event()

    async def slowly(grown: Any) -> None:
        await add(grown)
        added.set()
        await go_on.wait()

    monkeypatch.setattr(log, "_add", slowly)
    keeping = asyncio.create_task(log.keep())
    await added.wait()
    keeping.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait({keeping})
    await log.keep()
    ((_, found),) = await UsageReader(database).by("item", NOON)
    assert (keeping.cancelled(), found.calls) == (True, 1)


async def test_what_is_left_at_the_end_is_kept_and_what_is_old_is_purged(
    database: OwnedDatabase,
) -> None:
    clock = Clock()
    metrics, log = counted(database, clock)
    async with log.running():
        metrics.observe("search", "tool", "open", "ok", 0.01, 1)
    assert len(await UsageReader(database).by("hour", NOON)) == 1
    clock.now += KEPT + timedelta(hours=1)
    await log.purge()
    async with database.read() as connection:
        rows = await connection.scalar(select(func.count()).select_from(usage))
    assert rows == 0


@given(
    st.lists(st.floats(0, 29, allow_nan=False), min_size=1, max_size=60),
    st.sampled_from([0.5, 0.95]),
)
def test_a_quantile_is_in_the_range_that_the_true_one_is_in(
    seconds: list[float], share: float
) -> None:
    metrics = Metrics(lambda _: True)
    for each in seconds:
        metrics.observe("search", "tool", "open", "ok", each, 1)
    (sums,) = metrics.sums().values()
    found = Figures(len(seconds), 0, 0, sums.buckets).quantile(share)
    ordered = sorted(seconds)
    true = next(each for n, each in enumerate(ordered, 1) if n >= share * len(ordered))
    upper = next(bound for bound in BUCKETS if true <= bound)
    lower = max((bound for bound in BUCKETS if bound < true), default=0.0)
    assert lower <= found <= upper


def test_nothing_has_no_quantile_and_what_is_beyond_all_bounds_is_the_last() -> None:
    assert total([]).quantile(0.95) == 0
    beyond = Figures(2, 0, 0, (*(0,) * len(BUCKETS), 2))
    assert beyond.quantile(0.5) == BUCKETS[-1]
    assert total([beyond, beyond]).within[-1] == 4
