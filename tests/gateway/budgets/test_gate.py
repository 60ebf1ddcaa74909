"""What every call of a model passes: who pays, what is left, and what is said at the limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from auth import ANONYMOUS, Account, Caller, Tier
from gateway.budgets.budgets import Budgets
from gateway.budgets.months import end_of, month_of
from gateway.config.money import NANOS_PER_DOLLAR, nanos_of
from gateway.contract.models import ModelFailed
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.budgets.calls import end, made, start
from tests.gateway.services.jobs.test_service import reached
from tests.journeys import garden

PLANS = """
plans:
  free: {title: Free, budget: 0.50, credits: false, roles: [simple], without: ["*/review*"]}
  pro: {title: Pro, budget: 5.00, model_calls: 3 in 600s}
  team: {title: Teams, budget: 4.00, per_seat: true, minimum_seats: 3}
  soft: {title: Soft, budget: 0.10, limit: soft}
assign:
- {plan: pro, to: {github: ann}}
- {plan: team, team: garden, seats: 3, to: {any_of: [{github: bo}, {github: cy}]}}
- {plan: soft, to: {email: "*@example.org"}}
default: free
"""


@asynccontextmanager
async def planned(plans: str = PLANS) -> AsyncIterator[TestPortal]:
    async with open_test_portal(garden, plans=plans) as portal:
        yield portal


async def person(portal: TestPortal, name: str, email: str | None = None) -> Caller:
    account = Account(f"github:{name}", "github", name, email, {"login": name})
    found = await portal.sign_in(name, account)
    return Caller(found.id, Tier.PUBLIC)


async def spend(budgets: Budgets, caller: Caller | None, cost: int, **other: Any) -> None:
    """Have a model called, as the service of models does."""
    call = start(datetime.now(UTC), caller.person if caller else None, **other)
    await budgets.gate.before_call(caller, call)
    await budgets.gate.after_call(call, end(cost))


async def refused(budgets: Budgets, caller: Caller | None, **other: Any) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        await spend(budgets, caller, 1, **other)
    return failed.value


async def test_at_the_limit_it_is_said_what_to_do_and_when_it_is_new() -> None:
    async with planned() as portal:
        budgets, caller = portal.running.budgets, await person(portal, "dee")
        await spend(budgets, caller, nanos_of("0.50"))
        failed = await refused(budgets, caller)
        now = datetime.now(UTC)
        resets = end_of(month_of(now))
        assert failed.code == "budget_reached"
        assert failed.message.startswith("Monthly model budget reached: $0.50 of $0.50 are spent")
        assert f"new on {resets.day} {resets:%B %Y} (UTC)" in failed.message
        assert "Ask an admin for another plan" in failed.message
        assert failed.details["resets"] == resets.isoformat()
        assert failed.details["budget_usd"] == failed.details["spent_usd"] == "0.5"
        assert abs((resets - now).total_seconds() - failed.details["retry_after_s"]) < 60
        assert not (await portal.call("look", {"name": "north"}, tier="members")).is_error


async def test_each_person_has_a_budget_and_a_team_has_one_together() -> None:
    async with planned() as portal:
        budgets = portal.running.budgets
        dee, ed, bo, cy = [await person(portal, name) for name in ("dee", "ed", "bo", "cy")]
        await spend(budgets, dee, nanos_of("0.50"))
        await spend(budgets, ed, nanos_of("0.10"))
        await spend(budgets, bo, nanos_of("11.99"))
        await spend(budgets, cy, nanos_of("0.01"))
        failed = await refused(budgets, bo)
        assert "$12.00 of $12.00 of the team garden" in failed.message
        assert (await refused(budgets, cy)).code == "budget_reached"
        await spend(budgets, ed, 1)


async def test_who_is_signed_out_has_one_budget_with_all_others_and_the_portal_none() -> None:
    async with planned() as portal:
        budgets = portal.running.budgets
        await spend(budgets, ANONYMOUS, nanos_of("0.50"))
        assert (await refused(budgets, ANONYMOUS)).details["plan"] == "free"
        await spend(budgets, None, nanos_of("1000"), role="complex")


async def test_a_plan_leaves_out_roles_and_operations() -> None:
    async with planned() as portal:
        budgets, dee = portal.running.budgets, await person(portal, "dee")
        for other in ({"role": "complex"}, {"operation": "review_pull_request"}):
            failed = await refused(budgets, dee, **other)
            assert failed.code == "no_model"
            assert "Your plan, Free, does not include" in failed.message
        await spend(budgets, await person(portal, "ann"), 1, role="complex")


async def test_a_plan_bounds_how_often_a_person_has_models_called() -> None:
    async with planned() as portal:
        budgets, ann = portal.running.budgets, await person(portal, "ann")
        for _ in range(3):
            await spend(budgets, ann, 1)
        failed = await refused(budgets, ann)
        assert failed.code == "budget_reached"
        assert "3 times within 600 s" in failed.message
        assert 0 < failed.details["retry_after_s"] <= 600


async def test_a_soft_limit_refuses_nobody() -> None:
    async with planned() as portal:
        budgets, eve = portal.running.budgets, await person(portal, "eve", "eve@example.org")
        for _ in range(3):
            await spend(budgets, eve, nanos_of("0.10"))


async def test_what_calls_that_run_will_cost_is_held_and_said_to_be() -> None:
    async with planned() as portal:
        budgets, dee = portal.running.budgets, await person(portal, "dee")
        await spend(budgets, dee, nanos_of("0.20"))
        calls = [start(datetime.now(UTC), dee.person) for _ in range(2)]
        for call in calls:
            await budgets.gate.before_call(dee, call)
        failed = await refused(budgets, dee)
        assert "held for 2 calls that run" in failed.message
        assert failed.details["retry_after_s"] == 5
        for call in calls:
            await budgets.gate.after_call(call, end(0))
        await spend(budgets, dee, 1)


async def test_of_fifty_at_once_one_passes_the_limit_once_their_cost_is_known() -> None:
    async with planned() as portal:
        budgets, dee = portal.running.budgets, await person(portal, "dee")
        cost, spent = nanos_of("0.03"), nanos_of("0.41")
        await spend(budgets, dee, spent - cost)
        await spend(budgets, dee, cost)
        ends = await asyncio.gather(
            *(spend(budgets, dee, cost) for _ in range(50)), return_exceptions=True
        )
        account = await budgets.accounts.of(dee)
        assert account is not None
        found = await budgets.gate.figures(account, datetime.now(UTC))
        limit = NANOS_PER_DOLLAR // 2
        assert limit <= found.spent < limit + cost
        assert found.spent == spent + cost * sum(each is None for each in ends)


async def test_a_call_whose_cost_nobody_knows_costs_nothing() -> None:
    async with planned() as portal:
        budgets, dee = portal.running.budgets, await person(portal, "dee")
        call = start(datetime.now(UTC), dee.person)
        await budgets.gate.before_call(dee, call)
        await budgets.gate.after_call(call, end(None, "timeout"))
        account = await budgets.accounts.of(dee)
        assert account is not None
        found = await budgets.gate.figures(account, datetime.now(UTC))
        assert (found.spent, found.running) == (0, 0)


async def test_without_plans_nothing_is_limited_or_written() -> None:
    async with open_test_portal(garden) as portal:
        budgets = portal.running.budgets
        await spend(budgets, ANONYMOUS, nanos_of("1000"))
        assert "get_usage" not in await portal.tools()
        assert "ledger" not in budgets.__dict__


async def test_a_saved_file_is_in_force_and_a_broken_one_is_not() -> None:
    async with planned() as portal:
        budgets, dee = portal.running.budgets, await person(portal, "dee")
        await spend(budgets, dee, nanos_of("0.50"))
        file = portal.config_dir / "plans.yaml"
        file.write_text("plans: [")
        budgets.file._reload()
        assert (await refused(budgets, dee)).details["plan"] == "free"
        assert any("plans.yaml:1" in each for each in budgets.notices())
        file.write_text(PLANS.replace("0.50", "0.60"))
        budgets.file._reload()
        await spend(budgets, dee, nanos_of("0.10"))
        await refused(budgets, dee)


async def test_credits_let_calls_go_on_and_the_night_finds_nothing_wrong() -> None:
    async with planned() as portal:
        budgets, ann = portal.running.budgets, await person(portal, "ann")
        account = await budgets.accounts.of(ann)
        assert account is not None
        await spend(budgets, ann, nanos_of("5"))
        await refused(budgets, ann)
        await budgets.credits.grant(account.id, nanos_of("1"), datetime.now(UTC), "operator")
        await spend(budgets, ann, nanos_of("0.30"))
        jobs = portal.running.services.jobs.for_owner("usage")
        id = await jobs.enqueue("reconcile", {})
        status = await reached(jobs, id, "done")
        assert status.result == {"corrected": []}


async def test_who_leaves_takes_their_account_along() -> None:
    async with planned() as portal:
        budgets, dee = portal.running.budgets, await person(portal, "dee")
        assert dee.person is not None
        database = portal.running.services.shared_database
        call = start(datetime.now(UTC), dee.person)
        await budgets.gate.before_call(dee, call)
        await made(database, call, 7)
        await budgets.gate.after_call(call, end(7))
        files = [each async for each in budgets.erasure.export(dee.person)]
        assert b"codegraph,garden,explain" in files[0].data
        assert await budgets.erasure.people() == {dee.person}
        await budgets.erasure.erase(dee.person)
        await budgets.erasure.erase(dee.person)
        assert await budgets.erasure.people() == set()
