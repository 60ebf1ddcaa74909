"""Which tools come first: the pinned ones, and those of the audit log."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, date, datetime, timedelta

import pytest

from gateway.config.tools import Favourites as Settings
from gateway.discovery.cost import Costs
from gateway.discovery.favourites import Favourites
from gateway.observability.audit import AuditLog
from gateway.observability.audit_record import AuditRecord
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.discovery import workshop
from tests.gateway.discovery.over import NoDatabase

CONFIG = {"tools": {"budget": 900, "favourites": {"pinned": ["break_down"], "used": 2}}}


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(workshop.MODULE, tiers=workshop.TIERS, config=CONFIG) as opened:
        yield opened


def noon(days_ago: int = 0) -> datetime:
    """Midday of a day; asked for in the test, as the run may have begun the day before."""
    return datetime.now(UTC).replace(hour=12, minute=0) - timedelta(days=days_ago)


def _record(at: datetime, item: str, outcome: str = "ok") -> AuditRecord:
    return AuditRecord(at, "r", None, "open", item, "tool", "mcp", outcome, 1.0, 1)


async def _used(portal: TestPortal, *records: tuple[datetime, str, int]) -> None:
    log = AuditLog(portal.running.services.shared_database, None)
    async with log.running():
        for at, item, times in records:
            for _ in range(times):
                log.write(_record(at, item))


async def _shown(portal: TestPortal) -> list[str]:
    caller = await portal.running.authentication.authenticator.caller([], "/mcp")
    shown = await portal.running.discovery.shown(caller, None, "search")
    return [entry["name"] for entry in shown[2:]]


async def test_what_was_used_on_whole_days_comes_after_what_is_pinned(portal: TestPortal) -> None:
    await _used(
        portal,
        (noon(1), "workshop/weigh_lamp", 2),
        (noon(1), "workshop/repair_clock", 9),
        (noon(1), "workshop/paint_table", 3),
        (noon(1), "workshop/paint_chair", 1),
        (noon(), "workshop/paint_radio", 20),
        (noon(9), "workshop/paint_kettle", 20),
        (noon(1), "workshop/prompt:paint_boiler", 20),
    )
    assert await _shown(portal) == ["break_down", "paint_table", "weigh_lamp"]


async def test_a_pinned_name_that_no_tool_has_is_told_to_the_admin() -> None:
    config = {"tools": {"favourites": {"pinned": ["weigh_lamb"]}}}
    async with open_test_portal(workshop.MODULE, tiers=workshop.TIERS, config=config) as portal:
        (notice,) = [each for each in (await portal.health())["notices"] if "weigh_lamb" in each]
        assert "did you mean weigh_lamp?" in notice


async def test_favourites_are_read_once_a_day(portal: TestPortal) -> None:
    day = noon().date()
    found = Favourites(Settings(), portal.running.services.shared_database, today=lambda: day)
    await found.refresh()
    await _used(portal, (noon(1), "workshop/weigh_lamp", 1), (noon(), "workshop/paint_radio", 3))
    await found.refresh()
    items = portal.running.catalog.listed("tool", await _anyone(portal))
    assert found.among(items, Costs(), 10_000) == []
    day = day + timedelta(days=1)
    await found.refresh()
    assert [item.name for item in found.among(items, Costs(), 10_000)] == [
        "paint_radio",
        "weigh_lamp",
    ]


async def test_without_the_database_the_pinned_ones_are_there(portal: TestPortal) -> None:
    settings = Settings(pinned=("weigh_lamp",))
    found = Favourites(settings, NoDatabase(), today=date.today)  # type: ignore[arg-type]
    await found.refresh()
    items = portal.running.catalog.listed("tool", await _anyone(portal))
    assert [item.name for item in found.among(items, Costs(), 0)] == ["weigh_lamp"]


async def _anyone(portal: TestPortal):
    return await portal.running.authentication.authenticator.caller([], "/mcp")
