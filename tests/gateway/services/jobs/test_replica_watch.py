"""What one replica sees of the others, and what it tells an admin."""

from __future__ import annotations

import pytest

from gateway.services.jobs.replica_watch import TOLD_SECONDS, ReplicaWatch, Seen

OURS = Seen("a", "here, process 1", 15.0)


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def watch(clock: list[float]) -> ReplicaWatch:
    return ReplicaWatch(6.0, lambda: clock[0])


def other(seconds_left: float, executor: str = "b") -> Seen:
    return Seen(executor, "there, process 2", seconds_left)


def test_a_replica_that_died_is_told_of_until_one_is_in_its_place(
    watch: ReplicaWatch, clock: list[float]
) -> None:
    watch.look([OURS, other(15)])
    watch.look([OURS, other(3)])
    assert list(watch.living) == [OURS.place, "there, process 2"]
    assert [*watch.notices()] == []
    watch.look([OURS])
    clock[0] = 75.0
    (notice,) = watch.notices()
    assert notice.startswith("The replica on there, process 2 died 75 s ago, and none has come")
    assert "Start it again" in notice
    watch.look([OURS, other(15, "c")])
    assert [*watch.notices()] == []


def test_a_replica_that_left_in_order_is_none_that_died(watch: ReplicaWatch) -> None:
    watch.look([OURS, other(12)])
    watch.look([OURS])
    assert list(watch.living) == [OURS.place]
    assert [*watch.notices()] == []


def test_one_whose_lease_has_run_out_does_not_live_and_is_not_dead_yet(
    watch: ReplicaWatch,
) -> None:
    watch.look([OURS, other(-1)])
    assert list(watch.living) == [OURS.place]
    assert [*watch.notices()] == []
    watch.look([OURS, other(15)])
    watch.look([OURS, other(15)])
    assert [*watch.notices()] == []


def test_after_a_day_nobody_is_reminded(watch: ReplicaWatch, clock: list[float]) -> None:
    watch.look([OURS, other(1)])
    watch.look([OURS])
    clock[0] = 7200.0
    (notice,) = watch.notices()
    assert "died 2 h ago" in notice
    clock[0] = TOLD_SECONDS
    assert [*watch.notices()] == []
