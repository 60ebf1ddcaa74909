"""Changes that a client has missed are told when it comes back, each once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Change
from gateway.surfaces.mcp import change_log
from gateway.surfaces.mcp.change_log import Chronicle


@given(st.integers(0, 20), st.lists(st.booleans(), max_size=30))
def test_what_came_after_a_number_is_told_or_said_to_be_forgotten(
    had: int, is_change: list[bool]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(change_log, "MAX_CHANGES", 8)
        chronicle = Chronicle()
        for each in is_change:
            if each:
                chronicle.add(Change("moods", "tools"))
            else:
                chronicle.skip()
    after = [n for n, each in enumerate(is_change, 1) if each and n > had]
    heard = chronicle.heard(chronicle.id(had))
    if had <= len(is_change) and len(after) <= 8:
        assert heard == had
        assert [each.number for each in chronicle.after(had)] == after
    else:
        assert heard is None


@pytest.mark.parametrize("event_id", ["", "n-0", "nonsense", "n-000000000000-0", "n--1", "\udcff"])
def test_an_id_of_another_process_or_of_none_says_nothing(event_id: str) -> None:
    assert Chronicle().heard(event_id) is None


def kinds(events: list[Any]) -> list[str]:
    return [each["method"].removeprefix("notifications/") for each in events]


EVERYTHING = ["tools/list_changed", "prompts/list_changed", "resources/list_changed"]


async def following(wire: Any, last: str | None = None) -> Any:
    """A stream of news, whose first event says where the client is."""
    stream = wire.send(b"", {"last-event-id": last}, "GET")
    while not stream.ids:
        await stream.chunk()
    return stream


async def test_a_client_that_comes_back_hears_what_it_has_missed(wire, portal) -> None:
    session = await wire.begin()
    stream = await following(session)
    portal.running.changes.publish(Change("moods", "tools"))
    assert kinds([await stream.event()]) == ["tools/list_changed"]
    await stream.leave()
    portal.running.changes.publish(Change("moods", "prompts"))
    portal.running.changes.publish(Change("moods", "resource", "moods://shared"))
    portal.running.changes.publish(Change("moods", "resources"))
    again = await following(session, stream.ids[-1])
    portal.running.changes.publish(Change("moods", "tools"))
    assert kinds([await again.event() for _ in range(3)]) == [
        "prompts/list_changed",
        "resources/list_changed",
        "tools/list_changed",
    ]
    await again.leave()


@pytest.mark.parametrize("unknown", ["n-000000000000-7", "something of another version"])
async def test_who_comes_from_elsewhere_is_told_that_everything_may_have_changed(
    wire, unknown
) -> None:
    session = await wire.begin()
    await session.legacy("resources/subscribe", {"uri": "moods://shared"}).reply()
    stream = session.send(b"", {"last-event-id": unknown}, "GET")
    told = [await stream.event() for _ in range(4)]
    assert kinds(told) == ["resources/updated", *EVERYTHING]
    await stream.leave()
    assert stream.ids[-1].startswith("n-")


async def test_who_has_signed_in_and_lost_the_news_of_it_is_told_again(wire, moods) -> None:
    stranger = await wire.begin()
    stream = await following(stranger)
    ann = moods.Wire(wire.portal, "members", stranger.session)
    await ann.call("secret", "2025-11-25").reply()
    assert await stream.events() == []
    for _ in range(2):  # as though the connection broke before anything came through
        lost = ann.send(b"", {"last-event-id": stream.ids[-1]}, "GET")
        assert kinds([await lost.event() for _ in range(3)]) == EVERYTHING
        await lost.leave()
    again = await following(ann, lost.ids[-1])
    wire.portal.running.changes.publish(Change("moods", "prompts"))
    assert kinds([await again.event()]) == ["prompts/list_changed"]
    await again.leave()


def test_the_number_of_changes_that_are_remembered_is_bounded() -> None:
    chronicle = Chronicle()
    for _ in range(change_log.MAX_CHANGES + 5):
        chronicle.add(Change("moods", "tools"))
    assert len(chronicle._news) == change_log.MAX_CHANGES
