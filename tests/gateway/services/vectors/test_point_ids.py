"""Owners' ids are read once, and as many are remembered as there is room for."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gateway.services.vectors.point_ids import PointIds

POINTS = [uuid.UUID(int=number) for number in range(12)]
GONE = POINTS[-1]


@given(asked=st.lists(st.lists(st.sampled_from(POINTS), max_size=6)), most=st.integers(0, 8))
def test_the_ids_are_those_that_are_read(asked: list[list[uuid.UUID]], most: int) -> None:
    def read(points: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
        return {point: str(point.int) for point in points if point is not GONE}

    ids = PointIds(read, most)
    for points in asked:
        assert ids.of(points) == [None if one is GONE else str(one.int) for one in points]


def test_what_is_remembered_is_not_read_again() -> None:
    read: list[uuid.UUID] = []

    def noted(points: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
        read.extend(points)
        return {point: str(point.int) for point in points}

    ids = PointIds(noted, 2)
    for number in (0, 1, 0, 1, 2, 1, 0):
        ids.of([POINTS[number]])
    assert [one.int for one in read] == [0, 1, 2, 0]


def test_the_oldest_tenth_goes_at_once() -> None:
    """Otherwise each search of a large collection would look through all that is remembered."""
    read: list[int] = []

    def noted(points: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
        read.extend(point.int for point in points)
        return {point: str(point.int) for point in points}

    points = [uuid.UUID(int=number) for number in range(21)]
    ids = PointIds(noted, 20)
    ids.of(points)
    read.clear()
    ids.of(points[2:])
    assert read == []
    ids.of(points[:3])
    assert read == [0, 1]


@given(asked=st.lists(st.sampled_from(range(60)), max_size=200), most=st.integers(0, 30))
def test_never_more_is_remembered_than_there_is_room_for(asked: list[int], most: int) -> None:
    ids = PointIds(lambda points: {point: str(point.int) for point in points}, most)
    for number in asked:
        ids.of([uuid.UUID(int=number)])
        assert len(ids) <= most
