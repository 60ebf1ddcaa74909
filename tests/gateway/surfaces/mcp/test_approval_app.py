"""The card of a call that waits, for clients that show MCP Apps, and for no others."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gateway.catalog.apps import APPROVAL_APP
from gateway.surfaces.views.apps import APPS, DRAWING_META_KEY
from tests.gateway.approvals.portal import PAYMENT, Treasury, open_treasury

HIDING = {"to": 'ann\u202enotna"><b>', "amount": 30, "note": "</template><script>1</script>"}


@pytest.fixture
async def treasury() -> AsyncGenerator[Treasury]:
    async with open_treasury() as opened:
        yield opened


def card(result: dict[str, Any]) -> str:
    return str(result["_meta"][DRAWING_META_KEY]["html"])


async def test_tools_that_wait_have_the_card_as_their_app_unless_a_view_shows_them(
    treasury: Treasury,
) -> None:
    client = treasury.client(**APPS)
    tools = {each["name"]: each for each in await client.list("tools")}
    apps = {name: each.get("_meta", {}).get("ui") for name, each in tools.items()}
    waits = {"resourceUri": APPROVAL_APP.name}
    assert apps["pay"] == apps["settle"] == apps["confirm"] == waits
    assert apps["audit"] == {"resourceUri": "ui://vault/audit"}
    assert apps["through"] is None
    listed = {each["uri"] for each in await client.list("resources")}
    assert APPROVAL_APP.name in listed
    (read,) = (await client.request("resources/read", {"uri": APPROVAL_APP.name}))["contents"]
    assert read["mimeType"] == "text/html;profile=mcp-app"
    assert read["_meta"]["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}


async def test_the_card_lays_out_the_call_escapes_it_and_offers_no_way_to_approve(
    treasury: Treasury,
) -> None:
    client = treasury.client(**APPS)
    waiting = await client.call("pay", HIDING)
    assert waiting["isError"]
    html = card(waiting)
    assert "[U+202E]" in html
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<form" not in html
    assert "data-write" not in html
    assert 'data-tool="pay"' in html
    (request,) = await treasury.portal.running.approvals.store.open()
    assert f"/approvals/{request.id}" in html
    # What the app can do is to call again, and that runs nothing.
    assert (await client.call("pay", HIDING))["isError"]
    assert treasury.paid == 0
    await treasury.say("bob", request.id)
    ran = await client.call("pay", HIDING)
    assert (ran["structuredContent"]["amount"], treasury.paid) == (30, 1)


async def test_a_refusal_is_drawn_with_what_was_said_to_it(treasury: Treasury) -> None:
    client = treasury.client(**APPS)
    await client.call("pay", PAYMENT)
    (request,) = await treasury.portal.running.approvals.store.open()
    await treasury.say("bob", request.id, yes=False, note="Not this month.")
    html = card(await client.call("pay", PAYMENT))
    assert "It was refused" in html
    assert "Not this month." in html
    assert "data-tool" not in html


async def test_a_secret_is_in_no_card(treasury: Treasury) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    waiting = await treasury.client(**APPS).call("pay", {**PAYMENT, "note": token})
    assert token not in str(waiting)
    assert "data-tool" not in card(waiting)


async def test_a_client_without_apps_sees_nothing_of_it(treasury: Treasury) -> None:
    client = treasury.client()
    assert not [each for each in await client.list("tools") if "ui" in each.get("_meta", {})]
    uris = {each["uri"] for each in await client.list("resources")}
    assert not {each for each in uris if each.startswith("ui://")}
    waiting = await client.call("pay", PAYMENT)
    assert DRAWING_META_KEY not in waiting["_meta"]
