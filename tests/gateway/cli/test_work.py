"""``porch work`` shows what waits for members' agents, and who has answered what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from auth import Tier
from auth.stores import utc_now
from gateway.cli.options import EXIT
from gateway.contract import Database, ToolFailed, Work, WorkAnswer, WorkSource
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import open_database
from gateway.work.desk import Desk, Kind
from gateway.work.publishing import Publishing, Visibility
from gateway.work.settling import MAX_REFUSALS, Settling
from tests.gateway.cli.conftest import Run
from tests.gateway.work.clerk import Judgement
from tests.gateway.work.test_histories import Job

KIND = Kind("clerk/judge", 1, timedelta(minutes=15))
GOOD = {"verdict": "good", "quote": "well"}


def kept(place: Path, act: Callable[[Database], Awaitable[None]]) -> None:
    """Do something with the database of the portal in a place."""

    async def run() -> None:
        service = open_database("sqlite", place / "data")
        database = service.for_owner("gateway")
        await database.migrate(MIGRATIONS)
        try:
            await act(database)
        finally:
            await service.close()

    asyncio.run(run())


async def refused(answer: WorkAnswer) -> None:
    raise ToolFailed("no", "It is not about the text.\u202e")


async def fill(database: Database) -> None:
    """One item that waits, and one whose answers were refused until nobody was asked any more."""
    seen = Visibility(Tier.MEMBERS)
    publishing, desk = Publishing(database), Desk(database)
    work = Work("judge", "Judge", "Judge.", Judgement, refused)
    await publishing.publish(KIND.name, "bad", {"text": "ill"}, seen)
    for _ in range(MAX_REFUSALS):
        (item,) = [each async for each in desk.open_to("person:ann", Tier.MEMBERS, [KIND])]
        await desk.take(item.id, "person:ann", KIND)
        source = WorkSource("person:ann", "a client", "a model", utc_now())
        assert await desk.bring(item, KIND, GOOD, source) == 0
        await Settling(database, lambda _: work).run(Job(), {"item": item.id})  # type: ignore[arg-type]
    await publishing.publish(KIND.name, "waits", {"text": "well"}, seen)


async def nothing(database: Database) -> None:
    """A portal has run, and no plugin of it has had any work."""


def test_without_work_it_says_so(place: Path, porch: Run) -> None:
    kept(place, nothing)
    assert "No plugin has work" in porch("work", "list").output
    assert "Nothing was answered" in porch("work", "answers").output


def test_it_counts_names_and_tells_who_answered(place: Path, porch: Run) -> None:
    kept(place, fill)
    counted = json.loads(porch("work", "list", "--json").output)
    assert {(each["state"], each["items"]) for each in counted} == {
        ("open", "1"),
        ("unsettled", "1"),
    }
    listed = porch("work", "list", "--items").output
    assert "It is not about the text." in listed
    assert "\u202e" not in listed
    told = porch("work", "answers").output
    for each in ("person:ann", "a client", "a model", "refused"):
        assert each in told


def test_what_is_unsettled_is_done_again_once_an_admin_says_so(place: Path, porch: Run) -> None:
    kept(place, fill)
    items = json.loads(porch("work", "list", "--items", "--json").output)
    (id,) = [each["id"] for each in items if each["state"] == "unsettled"]
    assert porch("work", "again", id).exit_code == EXIT.DONE
    items = json.loads(porch("work", "list", "--items", "--json").output)
    assert {each["state"] for each in items} == {"open"}
    twice = porch("work", "again", id)
    assert twice.exit_code != EXIT.DONE
    assert "is unsettled" in twice.output


@pytest.mark.parametrize("word", ["list", "answers"])
def test_it_has_json_for_programs(place: Path, porch: Run, word: str) -> None:
    kept(place, fill)
    assert isinstance(json.loads(porch("work", word, "--json").output), list)
