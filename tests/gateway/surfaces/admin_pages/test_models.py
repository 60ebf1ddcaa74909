"""What models cost, whom: for admins alone, and harmless whatever names say."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from auth import Caller, Tier
from gateway.budgets.months import month_of
from gateway.config.money import nanos_of
from gateway.testing import open_test_portal
from tests.gateway.budgets.calls import end, made, start
from tests.gateway.surfaces.admin_pages.conftest import EVIL, TIERS, Looked
from tests.journeys import garden

PLANS = """
plans:
  free: {title: Free, budget: 0.50}
  team: {title: Teams, budget: 4.00, per_seat: true}
assign: [{plan: team, team: garden, seats: 3, to: {email: "*@example.org"}}]
default: free
"""


@pytest.fixture
async def looked() -> AsyncIterator[Looked]:
    async with open_test_portal(garden, tiers=TIERS, plans=PLANS) as portal:
        found = Looked(portal)
        budgets, database = portal.running.budgets, portal.running.services.shared_database
        for number, (name, email) in enumerate(((EVIL, None), ("bo", "bo@example.org")), 1):
            person = await found.person(name, number, email)
            for model, source in (("=cmd()", EVIL), ("small", "garden")):
                call = start(datetime.now(UTC), person.id, model=model, source=source)
                await budgets.gate.before_call(Caller(person.id, Tier.PUBLIC), call)
                await made(database, call, nanos_of("0.20"))
                await budgets.gate.after_call(call, end(nanos_of("0.20")))
        now = datetime.now(UTC)
        await budgets.credits.grant("team:garden", nanos_of("1"), now, "operator", EVIL)
        yield found
        for each in found.opened:
            await each.aclose()


async def test_an_admin_sees_everybody_the_pools_and_what_was_granted(looked: Looked) -> None:
    browser = await looked.admin()
    page = (await browser.get("/admin/models")).text
    assert "4 calls for $0.80" in page
    assert "team:garden" in page
    assert "$13.00" in page  # three seats of $4, and what was granted
    assert page.count("/admin/people/person%3A") >= 2
    for by in ("day", "model", "source", "operation", "plugin", "nonsense"):
        assert (await browser.get(f"/admin/models?by={by}")).status_code == 200


async def test_names_are_harmless(looked: Looked) -> None:
    browser = await looked.admin()
    for path in ("/admin/models", "/admin/models?by=source", "/admin/models?by=model"):
        page = await browser.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
        assert "\u202e" not in page.text


async def test_the_export_has_every_call_and_runs_in_no_spreadsheet(looked: Looked) -> None:
    browser = await looked.admin()
    month = month_of(datetime.now(UTC))
    answer = await browser.get(f"/admin/models.csv?month={month}")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 4
    assert sum(int(each["cost_nano_usd"]) for each in rows) == nanos_of("0.80")
    assert {each["account"] for each in rows if each["account"].startswith("team")} == {
        "team:garden"
    }
    assert {each["model"] for each in rows} == {"'=cmd()", "small"}
    assert len((await browser.get("/admin/models.csv?month=2020-01")).text.splitlines()) == 1


async def test_a_month_that_is_none_is_refused(looked: Looked) -> None:
    browser = await looked.admin()
    for path in ("/admin/models?month=13", "/admin/models.csv?month=%3Cscript%3E"):
        page = await browser.get(path)
        assert page.status_code == 400
        assert "<script>13" not in page.text


async def test_it_is_for_admins_alone(looked: Looked) -> None:
    browser = looked.browser()
    for path in ("/admin/models", "/admin/models.csv"):
        assert (await browser.get(path)).status_code in (303, 403)
        answer = await looked.portal.http("members").get(path, headers={"accept": "text/html"})
        assert answer.status_code in (303, 403)
        assert "team:garden" not in answer.text
