"""A call through ``call_tool`` passes what a call of the tool itself does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

from gateway.observability.audit_record import AuditRecord
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.discovery import workshop
from tests.gateway.surfaces.mcp.conftest import LEGACY, MODERN, Wire

LIMITS = {"calls": "none", "tools": {"weigh_radio": "2 in 60s"}}


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    config = {"limits": LIMITS, "tools": {"budget": 0}}
    async with open_test_portal(workshop.MODULE, tiers=workshop.TIERS, config=config) as opened:
        yield opened


@pytest.fixture
def recorded(portal: TestPortal, monkeypatch: pytest.MonkeyPatch) -> list[AuditRecord]:
    records: list[AuditRecord] = []
    monkeypatch.setattr(portal.running.audit, "write", records.append)
    return records


async def through(
    wire: Wire, name: str, arguments: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    asked = {"name": name, "arguments": dict(arguments or {})}
    params = {"name": "call_tool", "arguments": asked, **more}
    return await wire.modern("tools/call", params).reply()


async def test_the_records_name_the_tool_itself(
    portal: TestPortal, recorded: list[AuditRecord]
) -> None:
    wire = Wire(portal)
    await through(wire, "paint_chair")
    await through(wire, "break_down")
    await through(wire, "repair_clock")
    await through(wire, "repair_safe")
    await wire.call("find_tools", query="paint").reply()
    assert [(each.item, each.outcome) for each in recorded] == [
        ("workshop/paint_chair", "ok"),
        ("workshop/break_down", "broken"),
        ("workshop/repair_clock", "not_allowed"),
        ("repair_safe", "not_found"),
        ("porch/find_tools", "ok"),
    ]


async def test_the_limit_of_a_tool_counts_its_calls_by_either_way(portal: TestPortal) -> None:
    wire = Wire(portal)
    await through(wire, "weigh_radio")
    await wire.call("weigh_radio").reply()
    refused = (await through(wire, "weigh_radio"))["result"]
    assert refused["isError"]
    assert "You have called weigh_radio 2 times" in refused["content"][0]["text"]


async def test_a_tool_above_the_tier_refuses_or_challenges_as_it_does_itself() -> None:
    config = {"tools": {"budget": 0}, "sign_in": {"challenge": "http"}}
    async with open_test_portal(workshop.MODULE, tiers=workshop.TIERS, config=config) as portal:
        asked = {"name": "call_tool", "arguments": {"name": "repair_clock"}}
        inner = Wire(portal).modern("tools/call", asked)
        itself = Wire(portal).call("repair_clock")
        await inner.start(), await itself.start()
        assert inner.status == itself.status == 401
        assert inner.headers["www-authenticate"] == itself.headers["www-authenticate"]


async def test_a_call_in_two_rounds_goes_on_through_the_same_door(portal: TestPortal) -> None:
    wire = Wire(portal)
    first = (await through(wire, "two_rounds", {"topic": "glue"}))["result"]
    assert first["resultType"] == "input_required"
    state = first["requestState"]
    second = await through(wire, "two_rounds", {"topic": "glue"}, requestState=state)
    assert second["result"]["content"][0]["text"] == "second round of glue"
    other = await through(wire, "two_rounds", {"topic": "paint"}, requestState=state)
    assert "error" in other


async def test_parameter_headers_are_of_what_the_client_calls(portal: TestPortal) -> None:
    wire = Wire(portal)
    inner = await through(wire, "paint_chair", {"note": "blue"})
    assert inner["result"]["content"][0]["text"] == "paint chair blue"
    bare = await wire.call("paint_chair", note="blue").reply()
    assert "header" in bare["error"]["message"]


async def test_a_session_keeps_to_the_mode_that_it_began_with(portal: TestPortal) -> None:
    wire = await Wire(portal).begin()
    listed = (await wire.legacy("tools/list").reply())["result"]["tools"]
    assert [each["name"] for each in listed] == ["find_tools", "call_tool"]


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_arguments_lose_their_secrets_on_the_way_to_the_tool(
    portal: TestPortal, era: str
) -> None:
    wire = Wire(portal) if era == MODERN else await Wire(portal).begin()
    secret = "ghp_" + "aB3" * 12
    asked = {"name": "order_parts", "arguments": {"part": secret}}
    params = {"name": "call_tool", "arguments": asked}
    sent = wire.modern if era == MODERN else wire.legacy
    answer = await sent("tools/call", params).reply()
    assert secret not in str(answer)
    assert "REDACTED" in answer["result"]["content"][0]["text"]


async def test_the_metrics_name_the_search_and_the_tool_that_is_called(portal: TestPortal) -> None:
    wire = Wire(portal)
    await wire.call("find_tools", query="paint").reply()
    await through(wire, "paint_lamp")
    metrics = (await portal.get("/metrics")).text
    assert 'item="find_tools"' in metrics
    assert 'item="paint_lamp"' in metrics
    assert 'item="call_tool"' not in metrics
