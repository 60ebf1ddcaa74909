"""A statement adds up, and is of the caller's own calls alone, whoever else calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.config.money import exact, nanos_of
from gateway.testing import TestPortal, open_test_portal
from tests.examples import examples
from tests.gateway.budgets.calls import end, made, start
from tests.gateway.budgets.test_gate import PLANS, person, planned
from tests.journeys import garden

NAMES = ("ann", "bo", "cy", "dee")
EVIL = "<script>alert(1)</script>"

one_call = st.tuples(
    st.sampled_from(NAMES),
    st.integers(1, 10**6),
    st.sampled_from(("small", "large", EVIL)),
    st.sampled_from(("garden", None, "well")),
    st.sampled_from(("explain", "name")),
)


async def call(portal: TestPortal, name: str, cost: int, **other: Any) -> None:
    """Have a model called for somebody, and its row written."""
    caller = await person(portal, name)
    budgets = portal.running.budgets
    begun = start(datetime.now(UTC), caller.person, **other)
    await budgets.gate.before_call(caller, begun)
    await made(portal.running.services.shared_database, begun, cost)
    await budgets.gate.after_call(begun, end(cost))


@settings(
    max_examples=examples(40, ordinary=6),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(one_call, max_size=10))
def test_a_statement_is_of_ones_own_calls_alone_and_adds_up(calls: list[Any]) -> None:
    import asyncio

    asyncio.run(_stated(calls))


async def _stated(calls: list[Any]) -> None:
    async with planned(PLANS.replace("3 in 600s", "none")) as portal:
        for name in NAMES:
            await person(portal, name)
        for name, cost, model, source, operation in calls:
            await call(portal, name, cost, model=model, source=source, operation=operation)
        team = sum(cost for name, cost, *_ in calls if name in ("bo", "cy"))
        for name in NAMES:
            answer = await portal.call("get_usage", tier=name)
            assert not answer.is_error
            found: Any = answer.structured
            own = [each for each in calls if each[0] == name]
            mine = sum(cost for _, cost, *_ in own)
            assert found["calls"] == len(own)
            assert found["yours_usd"] == exact(mine)
            spent = team if name in ("bo", "cy") else mine
            assert found["spent_usd"] == exact(spent)
            assert found.get("team") == ("garden" if name in ("bo", "cy") else None)
            for kind, place in (("by_model", 2), ("by_source", 3), ("by_operation", 4)):
                lines = {each["name"]: each for each in found[kind]}
                assert set(lines) == {each[place] or "" for each in own}
                assert sum(each["calls"] for each in lines.values()) == len(own)
                for value, line in lines.items():
                    part = sum(each[1] for each in own if (each[place] or "") == value)
                    assert line["cost_usd"] == exact(part)
            days = [each["name"] for each in found["by_day"]]
            assert days == sorted(days)


@pytest.mark.parametrize(
    ("spent", "state", "percent"),
    [("0.44", "fine", 88), ("0.45", "low", 90), ("7", "reached", 100)],
)
async def test_a_statement_says_how_it_stands(spent: str, state: str, percent: int) -> None:
    async with planned() as portal:
        await call(portal, "dee", nanos_of(spent))
        found: Any = (await portal.call("get_usage", tier="dee")).structured
        assert (found["state"], found["percent"]) == (state, percent)
        assert found["limit"] == "$0.50"
        assert bool(found["note"]) is (state != "fine")


async def test_a_month_that_is_none_is_refused_and_another_one_is_empty() -> None:
    async with planned() as portal:
        await call(portal, "dee", 5)
        found: Any = (await portal.call("get_usage", {"month": "2020-02"}, tier="dee")).structured
        assert (found["calls"], found["spent_usd"], found["note"]) == (0, "0", "")
        assert found["resets"].startswith("2020-03-01")
        answer = await portal.call("get_usage", {"month": "2020-13"}, tier="dee")
        assert answer.is_error
        assert "must be a month such as 2026-11" in answer.text


async def test_a_hidden_plan_is_told_of_to_whoever_has_it_alone() -> None:
    plans = PLANS.replace("pro: {title: Pro,", "pro: {title: Pro, hidden: true,")
    async with planned(plans) as portal:
        for name, knows in (("ann", True), ("dee", False)):
            await person(portal, name)
            answer = await portal.call("get_usage", tier=name)
            found: Any = answer.structured
            assert ("pro" in {each["name"] for each in found["plans"]}) is knows
            assert ("Pro" in answer.text) is knows


async def test_nobody_signed_out_is_shown_usage_whatever_tiers_yaml_says() -> None:
    async with planned() as portal:
        assert "get_usage" not in await portal.tools("open")
        page = await portal.http("open").get("/usage/month", headers={"accept": "text/html"})
        assert page.status_code in (303, 401, 403)


async def test_usage_leads_to_the_page_of_the_month() -> None:
    async with planned() as portal:
        page = await portal.http("open").get(
            "/usage?month=2026-11", headers={"accept": "text/html"}
        )
        assert page.status_code == 303
        assert page.headers["location"].endswith("/usage/month?month=2026-11")
        admins = await portal.http("open").get("/admin/usage", headers={"accept": "text/html"})
        assert "/usage/month" not in admins.headers.get("location", "")


async def test_without_models_and_plans_there_is_no_page_of_usage() -> None:
    async with open_test_portal(garden) as portal:
        page = await portal.http("open").get("/usage", headers={"accept": "text/html"})
        assert page.status_code == 404
