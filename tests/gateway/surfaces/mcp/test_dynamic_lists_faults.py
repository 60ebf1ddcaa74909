"""What a plugin's own lists can do wrong, and what it costs: its own entries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from auth import Caller, Tier
from gateway.contract import ListedResource, Offer, Prompt
from gateway.surfaces.mcp import dynamic_lists
from gateway.surfaces.mcp import lists as listing
from gateway.testing import open_test_portal
from tests.gateway.surfaces.mcp.conftest import Wire
from tests.gateway.surfaces.mcp.diaries import LISTS, TEMPLATE, Diaries, pages
from tests.journeys import garden

OPEN = {"default": "open"}
DAYS: dict[str, str | None] = {"monday": None, "sunday": None}


async def _fail() -> None:
    raise RuntimeError("the password is hunter2")


async def _hang() -> None:
    await asyncio.Event().wait()


async def _break_off() -> None:
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (_fail, "RuntimeError: the password is hunter2"),
        (_hang, "it took longer than 0.2 s"),
        (_break_off, "it awaited something that was cancelled"),
    ],
)
@pytest.mark.parametrize("method", list(LISTS))
async def test_a_lister_that_fails_costs_its_own_entries_and_health_says_so(
    before: Any, why: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamic_lists, "LISTER_TIMEOUT_SECONDS", 0.2)
    diaries = Diaries(DAYS, before=before)
    key = {"prompts/list": "prompt:day-*", "resources/list": f"resource:{TEMPLATE}"}[method]
    notice = f"diaries/{key}: its list cannot be made: {why}"
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        with capture_logs() as logs:
            for _ in range(3):
                (page,) = await pages(Wire(portal), method)
                assert len(page) == 1, "what is the same for all is there"
        assert [each["event"] for each in logs if each["log_level"] == "error"] == ["list_failed"]
        assert notice in (await portal.health())["notices"]
        diaries.before = Diaries.before
        (page,) = await pages(Wire(portal), method)
        assert len(page) == 3
        assert notice not in (await portal.health())["notices"]


async def test_the_lists_of_others_are_served_beside_one_that_fails() -> None:
    broken, well = Diaries(DAYS, before=_fail), Diaries(DAYS)
    async with open_test_portal(broken, garden, tiers=OPEN) as portal:
        (family,) = well.offer().prompt_families
        nights = Offer(prompt_families=[family])
        portal.running.catalog.add("nights", nights, {"day-*": "night-*"})
        listed = set(await portal.prompts("open"))
    assert listed == {"greet", "plan-season", "night-monday", "night-sunday"}


async def _render(args: Any, caller: Caller) -> None:
    return None


BAD_PROMPTS = [
    Prompt("other", "Of no family.", _render),
    Prompt("day-", "Nothing after the stem.", _render),
    Prompt("day-" + "x" * 42, "Too long.", _render),
    Prompt("day-é", "No name.", _render),
    Prompt("day-monday", "A second one.", _render),
    Prompt("day-tier", "Wants a tier.", _render, tier=Tier.MEMBERS),
    Prompt("day-floor", "Wants a floor.", _render, floor=Tier.MEMBERS),
]
BAD_RESOURCES = [
    ListedResource("letters://monday", "other", "Of another template."),
    ListedResource("diaries://a/b", "deep", "Of none."),
    ListedResource("diaries://monday", "monday", "A second one."),
    ListedResource("diaries://x", 5, "Its name is no text."),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("method", "bad"),
    [
        *(("prompts/list", each) for each in BAD_PROMPTS),
        *(("resources/list", each) for each in BAD_RESOURCES),
    ],
)
async def test_a_bad_entry_is_left_out_and_logged_once(method: str, bad: Any) -> None:
    diaries = Diaries(DAYS, also=[bad])
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        with capture_logs() as logs:
            for _ in range(2):
                (page,) = await pages(Wire(portal), method)
                assert len(page) == 3
        (told,) = [each for each in logs if each["event"] == "listed_left_out"]
        assert told["plugin"] == "diaries"


@pytest.mark.parametrize("bad", [object(), ListedResource(5, "five", "No text.")])  # type: ignore[arg-type]
async def test_a_list_of_something_else_is_a_failure(bad: Any) -> None:
    async with open_test_portal(Diaries(DAYS, also=[bad]), tiers=OPEN) as portal:
        assert await pages(Wire(portal), "resources/list") == [["diaries://about/0"]]
        assert "its list cannot be made" in str((await portal.health())["notices"])


async def test_a_list_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "ENTRIES_PER_PAGE", 2)
    diaries = Diaries({"monday": None, "sunday": None, "tuesday": None})
    whole = diaries._listed

    async def again(caller: Any, after: str | None, limit: int) -> list[str]:
        return await whole(caller, None, limit)

    diaries._listed = again  # type: ignore[method-assign]
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        found = await asyncio.wait_for(pages(Wire(portal), "prompts/list"), 60)
    assert found == [["greet", "day-monday"], []]
