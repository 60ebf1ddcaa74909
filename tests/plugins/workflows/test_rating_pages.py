"""Ratings: said on a page and by a tool, shown to everyone, and heard by searches."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gateway.testing import TestPortal
from plugins.workflows.search import standing_cache
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage
from tests.plugins.workflows.test_pages import ALL, BASE, ONE, Person

PUBLIC = {"stages": [stage("One")], "visibility": "PUBLIC"}


@pytest.fixture
async def portal(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TestPortal]:
    monkeypatch.setattr(standing_cache, "REFRESH_INTERVAL_S", 0.0)
    async with opened("ben", "cara") as portal:
        yield portal


async def test_a_rating_is_said_changed_and_taken_back_on_the_page(portal: TestPortal) -> None:
    person = Person(portal.app, BASE)
    await person.sign_in()
    made = await done(portal, "ben", "add_workflow", name="Prune the trees", **PUBLIC)
    path = f"{ONE}?workflow_id={made['id']}&include_content=true"
    assert "not yet" in (await person.get(path)).text
    rated = await person.sent(path, "<button>Rate it", stars="5")
    assert "Thank you." in rated.text
    assert "5.0 of 5, by 1" in rated.text
    again = await person.sent(path, "<button>Rate it", stars="2")
    assert "2.0 of 5, by 1" in again.text
    assert "You gave it 2 of 5" in again.text
    assert "2.0 of 5, by 1" in (await person.get(ALL)).text
    gone = await person.sent(path, "Take your rating back")
    assert "Your rating is taken back." in gone.text
    assert "of 5, by" not in gone.text
    own = await person.written("Mine")
    assert "Rate it" not in (await person.get(own)).text
    await person.aclose()


async def test_what_others_finish_and_rate_is_told_by_the_tools(portal: TestPortal) -> None:
    made = await done(portal, "ben", "add_workflow", name="Prune the trees", **PUBLIC)
    flow = {"workflow_id": made["id"]}
    for who in ("ben", "cara"):
        begun = await done(portal, who, "select_workflow", **flow, start_run=True)
        await done(portal, who, "finish_run", run_id=begun["run"]["runId"])
    rated = await done(portal, "cara", "rate_workflow", **flow, stars=4)
    wanted = {"average": 4.0, "ratings": 1, "started": 1, "finished": 1}
    assert (rated["myRating"], rated["standing"]) == (4, wanted)
    for who, own in ((ANYONE, None), ("ben", None), ("cara", 4)):
        told = await done(portal, who, "get_workflow", **flow)
        assert (told["standing"], told["myRating"]) == (wanted, own)
        (found,) = (await done(portal, who, "get_available_workflows"))["workflows"]
        assert found["standing"] == wanted
    assert "your own" in await refused(portal, "ben", "rate_workflow", **flow, stars=5)
    assert "stars" in await refused(portal, "cara", "rate_workflow", **flow, stars=6)


async def test_of_two_alike_the_better_rated_is_found_first(portal: TestPortal) -> None:
    made = {}
    for name in ("Prune apple trees", "Prune pear trees"):
        draft = {"name": name, "description": "Prune trees in winter.", **PUBLIC}
        made[name] = await done(portal, "ben", "add_workflow", **draft)

    async def found() -> list[str]:
        answer = await done(portal, ANYONE, "get_available_workflows", task="prune trees")
        return [each["name"] for each in answer["workflows"]]

    before = await found()
    assert len(before) == 2
    await done(portal, "cara", "rate_workflow", workflow_id=made[before[1]]["id"], stars=5)
    await done(portal, "cara", "rate_workflow", workflow_id=made[before[0]]["id"], stars=1)
    assert await found() == before[::-1]
