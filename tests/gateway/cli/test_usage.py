"""``porch usage`` shows what models cost, and grants credits."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.budgets.months import month_of
from gateway.cli.options import EXIT
from gateway.config.money import nanos_of
from gateway.observability.audit import MIGRATIONS
from gateway.observability.audit_reader import AuditReader
from gateway.services.database.service import open_database
from tests.gateway.budgets.calls import made, start
from tests.gateway.cli.conftest import Run

PLANS = """
plans:
  free: {title: Free, budget: 0.50}
  none: {title: Bare, budget: none, credits: false}
  team: {title: Teams, budget: 4.00, per_seat: true}
assign: [{plan: team, team: garden, seats: 3, to: {email: "*@example.org"}}]
default: free
portal: none
"""


@pytest.fixture
def spent(place: Path) -> None:
    """A portal in which models were called."""
    (place / "config" / "plans.yaml").write_text(PLANS)

    async def write() -> None:
        service = open_database("sqlite", place / "data")
        database = service.for_owner("gateway")
        await database.migrate(MIGRATIONS)
        for person, cost in (("person:ann", "0.20"), ("person:\u202eb", "1"), (None, "0.01")):
            await made(database, start(datetime.now(UTC), person), nanos_of(cost))
        await service.close()

    asyncio.run(write())


@pytest.mark.usefixtures("spent")
def test_what_models_cost_is_shown_the_dearest_first(porch: Run) -> None:
    lines = porch("usage").output.splitlines()
    assert [line.split()[-5] for line in lines[1:]] == ["$1.00", "$0.20", "$0.01", "$1.21"]
    assert "\u202e" not in porch("usage").output
    found = json.loads(porch("usage", "--by", "model", "--json").output)
    assert found["total"]["cost_usd"] == "1.21"
    assert [each["name"] for each in found["lines"]] == ["small"]
    only = json.loads(porch("usage", "--person", "person:ann", "--json").output)
    assert only["total"]["calls"] == 1
    assert porch("usage", "--month", "2020-01").output == "No model was called.\n"


@pytest.mark.usefixtures("spent")
def test_every_call_is_exported(porch: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(porch("usage", "--export", "csv").output)))
    assert sorted(int(each["cost_nano_usd"]) for each in rows) == [
        nanos_of("0.01"),
        nanos_of("0.20"),
        nanos_of("1"),
    ]


def test_a_month_that_is_none_is_refused(porch: Run) -> None:
    result = porch("usage", "--month", "13")
    assert result.exit_code == EXIT.USAGE
    assert "must be a month" in result.output


@pytest.mark.usefixtures("spent")
def test_a_credit_is_granted_shown_and_recorded(porch: Run, place: Path) -> None:
    granted = porch("usage", "grant", "team:garden", "20.50", "--note", "invoice 17")
    assert granted.exit_code == EXIT.DONE, granted.output
    month = month_of(datetime.now(UTC))
    said = f"team:garden has $20.50 more in {month}: $0.00 of $32.50 are spent."
    assert granted.output.splitlines()[-1] == said
    found = json.loads(porch("usage", "budgets", "--json").output)
    team = next(each for each in found["accounts"] if each["account"] == "team:garden")
    assert (team["limit_usd"], team["credits_usd"]) == ("32.5", "20.5")
    assert "team:garden" in porch("usage", "budgets").output

    async def recorded() -> list[str]:
        service = open_database("sqlite", place / "data")
        records = await AuditReader(service.for_owner("gateway")).newest({}, 50)
        await service.close()
        return [each.item for each in records if each.kind == "grant"]

    assert asyncio.run(recorded()) == ["usage/credit:team:garden"]


@pytest.mark.usefixtures("spent")
@pytest.mark.parametrize(
    ("who", "amount", "said"),
    [
        ("team:nobody", "5", "Nobody known here is team:nobody"),
        ("github:nobody", "5", "Nobody known here is github:nobody"),
        ("team:garden", "-5", "must be an amount in US dollars"),
        ("team:garden", "0", "more than nothing"),
        ("team:garden", "1e9", "must be an amount in US dollars"),
        ("portal", "5", "has no limit"),
    ],
)
def test_what_cannot_be_granted_is_refused(porch: Run, who: str, amount: str, said: str) -> None:
    result = porch("usage", "grant", "--", who, amount)
    assert result.exit_code == EXIT.PROBLEM
    assert said in result.output


def test_without_plans_nothing_is_granted(porch: Run) -> None:
    result = porch("usage", "grant", "anonymous", "5")
    assert result.exit_code == EXIT.PROBLEM
    assert "nothing is limited" in result.output
