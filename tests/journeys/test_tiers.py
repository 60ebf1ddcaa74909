"""Whole requests at each tier: what is listed, what runs, what is refused and how."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auth import Tier
from gateway.testing import RequestRefused, TestPortal, open_test_portal
from tests.examples import examples
from tests.journeys import garden

TIERS = {
    "default": "members",
    "items": {
        "garden": "open",
        "garden/water": "public",
        "garden/linger": "members",
        "garden/stumble": {"tier": "members", "hidden": True},
        "garden/prompt:*": "public",
        "garden/resource:garden://beds/{name}": "members",
    },
}
LISTED = {
    "open": ["look"],
    "public": ["look", "water", "harvest"],
    "members": ["look", "water", "harvest", "stumble", "linger"],
}


def portal(**options: Any) -> Any:
    return open_test_portal(garden, **{"tiers": TIERS, **options})


@pytest.mark.parametrize("tier", list(LISTED))
async def test_lists_show_what_the_caller_may_use(tier: str) -> None:
    async with portal() as opened:
        assert list(await opened.tools(tier)) == LISTED[tier]
        assert bool(await opened.prompts(tier)) == (tier != "open")
        beds = "garden://beds/{name}" in await opened.resources(tier)
        assert beds == (tier == "members")


async def test_a_call_above_the_tier_says_what_it_takes_and_how_to_get_it() -> None:
    async with portal(config={"name": "Our portal"}) as opened:
        for tier, how in (
            ("open", "Sign in at http://127.0.0.1:8321/signin"),
            ("public", "Ask an admin of Our portal for a token of members access."),
        ):
            refused = await opened.call("linger", tier=tier)
            assert refused.is_error
            assert refused.text.startswith(f"Requires members access. Current: {tier}. {how}")


async def test_prompts_resources_and_routes_are_refused_alike() -> None:
    async with portal() as opened:
        with pytest.raises(RequestRefused, match=r"Requires public access. Current: open."):
            await opened.prompt("plan-season", {"season": "spring"}, tier="open")
        with pytest.raises(RequestRefused, match=r"Requires members access. Current: public."):
            await opened.read("garden://beds/north", tier="public")
        with pytest.raises(RequestRefused, match=r"Requires public access. Current: open."):
            await opened.complete("plan-season", "season", "s", tier="open")


async def test_a_hidden_item_is_as_unknown_as_one_that_is_not_there() -> None:
    async with portal() as opened:
        messages = []
        for name in ("stumble", "never_was"):
            with pytest.raises(RequestRefused) as refused:
                await opened.call(name, tier="public")
            messages.append(str(refused.value).replace(name, "NAME"))
        assert messages[0] == messages[1] == "Unknown tool: NAME"
        assert "stumble" in await opened.tools("members")


async def test_no_yaml_goes_below_a_floor() -> None:
    async with portal(tiers={"items": {"garden/harvest": "open"}}) as opened:
        assert "harvest" not in await opened.tools("open")
        refused = await opened.call("harvest", tier="open")
        assert refused.text.startswith("Requires public access. Current: open.")
        assert (await opened.call("harvest", tier="public")).text == "Harvested."


async def test_the_caller_reaches_the_tool() -> None:
    async with portal() as opened:
        result = await opened.call("water", {"name": "north"}, tier="public")
    assert result.text == "north watered at the tier public"


async def test_a_route_carries_its_tool_s_tier() -> None:
    async with portal(tiers={"items": {"garden/look": "members"}}) as opened:
        unknown = await opened.get("/api/v1/garden/beds/north", tier="open")
        refused = await opened.get("/api/v1/garden/beds/north", tier="public")
        allowed = await opened.get("/api/v1/garden/beds/north", tier="members")
    assert unknown.status_code == 401
    assert refused.status_code == 403
    said = refused.json()["error"]["message"]
    assert said.startswith("Requires members access. Current: public.")
    assert allowed.json() == {"name": "north", "plants": ["beans"]}
    assert "private" in allowed.headers["cache-control"]


async def test_one_plugin_alone_has_its_own_endpoint() -> None:
    async with portal() as opened:
        listed = await opened.mcp("open", "garden").list("tools")
        assert [each["name"] for each in listed] == ["look"]
        with pytest.raises(RequestRefused, match="There is no plugin"):
            await opened.mcp("open", "nowhere").list("tools")


async def test_every_call_leaves_a_record_without_values() -> None:
    async with portal() as opened:
        await opened.call("look", {"name": "north"}, tier="public")
        await opened.call("linger", tier="open")
        records = await _records(opened, 2)
    assert [(each.item, each.tier, each.outcome) for each in records] == [
        ("garden/linger", "open", "not_allowed"),
        ("garden/look", "public", "ok"),
    ]
    assert "north" not in str(records)


async def _records(opened: TestPortal, count: int) -> Any:
    async with asyncio.timeout(60):
        while True:
            records = await opened.running.audit.read()
            if len(records) == count:
                return records
            await asyncio.sleep(0.05)


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(st.sampled_from(LISTED["members"]), st.sampled_from(list(Tier))))
def test_list_and_call_never_disagree(items: dict[str, Tier]) -> None:
    keys = {f"garden/{name}": str(tier) for name, tier in items.items()}

    async def check() -> None:
        async with portal(tiers={"default": "public", "items": keys}) as opened:
            for tier in Tier:
                listed = await opened.tools(tier)
                for name in LISTED["members"]:
                    result = await opened.call(name, {"not an argument": 1}, tier=tier)
                    assert result.text.startswith("Requires") == (name not in listed)

    asyncio.run(check())
