"""Views as MCP Apps, for clients that show them; all others see no change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.cli.mcp_client import McpClient, RequestRefused
from gateway.surfaces.views.apps import APPS, DRAWING_META_KEY, EXTENSION, shows_apps
from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from tests.gateway.surfaces.views import painted

URI = "ui://painted/thing"


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with open_test_portal(painted) as opened:
        yield opened


def showing(portal: TestPortal, tier: str = "open") -> McpClient:
    """A client that shows Apps."""
    return McpClient(portal.http(tier), capabilities=APPS)


async def test_a_tool_leads_to_its_app_which_asks_nobody_else_for_anything(
    portal: TestPortal,
) -> None:
    client = showing(portal)
    tools = {each["name"]: each for each in await client.list("tools")}
    assert tools["show_thing"]["_meta"]["ui"] == {"resourceUri": URI}
    (listed,) = [each for each in await client.list("resources") if each["uri"] == URI]
    (read,) = (await client.request("resources/read", {"uri": URI}))["contents"]
    for each in (listed, read):
        assert each["mimeType"] == "text/html;profile=mcp-app"
        assert each["_meta"]["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}
    assert "http://" not in read["text"].replace("http://www.w3.org", "")
    assert "https://" not in read["text"]
    assert "ui/initialize" in read["text"]


async def test_an_answer_brings_its_drawing(portal: TestPortal) -> None:
    result = await showing(portal).call("show_thing", {"name": "chair", "tags": ["wood"]})
    drawn = result["_meta"][DRAWING_META_KEY]
    assert "<h1>chair</h1>" in drawn["html"]
    assert "<script" not in drawn["html"]
    assert drawn["address"] == "http://localhost/painted/thing?name=chair&tags=wood"
    assert result["structuredContent"]["name"] == "chair"


async def test_a_client_without_apps_is_answered_as_if_there_were_no_views(
    portal: TestPortal,
) -> None:
    plain = portal.mcp("open")
    with_apps = showing(portal)
    asked = {"name": "chair"}
    one, other = await plain.call("show_thing", asked), await with_apps.call("show_thing", asked)
    assert one["content"] == other["content"]
    assert DRAWING_META_KEY not in one.get("_meta", {})
    tools = {each["name"]: each for each in await plain.list("tools")}
    assert "ui" not in tools["show_thing"].get("_meta", {})
    assert not [each for each in await plain.list("resources") if each["uri"].startswith("ui:")]


async def test_the_app_of_a_closed_tool_is_closed_too(portal: TestPortal) -> None:
    client = showing(portal)
    uris = {each["uri"] for each in await client.list("resources")}
    assert "ui://painted/secret" not in uris
    with pytest.raises(RequestRefused, match="members"):
        await client.request("resources/read", {"uri": "ui://painted/secret"})
    assert "ui://painted/secret" in {
        each["uri"] for each in await showing(portal, "members").list("resources")
    }


async def test_a_failure_has_no_drawing(portal: TestPortal) -> None:
    result = await showing(portal).call("show_thing", {"name": "none"})
    assert result["isError"]
    assert DRAWING_META_KEY not in result.get("_meta", {})


@pytest.mark.parametrize(
    ("capabilities", "shown"),
    [
        (APPS, True),
        ({"experimental": APPS["extensions"]}, True),
        ({"extensions": {EXTENSION: {}}}, True),
        ({"extensions": {EXTENSION: {"mimeTypes": ["text/plain"]}}}, False),
        ({"extensions": {EXTENSION: None}}, False),
        ({"extensions": []}, False),
        ({}, False),
    ],
)
def test_who_shows_apps_says_so(capabilities: dict[str, Any], shown: bool) -> None:
    assert shows_apps(capabilities) is shown


async def test_a_secret_in_an_argument_is_not_drawn(portal: TestPortal) -> None:
    token = "ghp_" + "a1B2" * 9
    result = await showing(portal).call("show_thing", {"name": f"my {token}"})
    assert token not in str(result)
    page = await portal.http("open").get("/painted/thing", params={"name": f"my {token}"})
    assert page.status_code == 200
    assert token not in page.text


async def test_an_answer_whose_picture_fails_is_there_without_it(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: Any, view: Any, arguments: Any, value: Any) -> str:
        raise RuntimeError(f"no paint for {value.name}")

    monkeypatch.setattr("gateway.surfaces.views.drawing.Drawing.draw", fail)
    result = await showing(portal).call("show_thing", {"name": "chair"})
    assert not result.get("isError")
    assert result["structuredContent"]["name"] == "chair"
    assert DRAWING_META_KEY not in result.get("_meta", {})
    said = capsys.readouterr()
    assert "chair" not in said.out + said.err
