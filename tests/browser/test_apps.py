"""Every app in the reference host of MCP Apps: it draws its tool's answer, for everybody."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from gateway.catalog.views import declared_view
from gateway.cli.mcp_client import McpClient
from gateway.surfaces.views.apps import APPS
from gateway.testing import TestPortal, open_test_portal
from tests.browser.app_host import show_app
from tests.browser.reading import opened, violations
from tests.gateway.approvals.portal import open_treasury

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

FILES = {
    "notes/commons.md": "---\ntitle: The commons\npublish: true\n---\n"
    "# Sharing\n\nSee [water](water.md).\n",
    "notes/water.md": "---\ntitle: Water\npublish: true\n---\nWho may use the well.\n",
    "skills/watering/SKILL.md": "---\nname: watering\ndescription: Water plants.\n---\nSlowly.\n",
    "skills/watering/when.md": "At dawn.\n",
    "agents/gardener.md": "---\nname: gardener\ndescription: Looks after plants.\n---\nBe kind.\n",
    "town/town.py": "def well():\n    return 1\n\n\ndef drink():\n    return well()\n",
}
DOCUMENT = {"contentType": "file", "id": "commons"}
BROUGHT = {"get_call_graph", "get_function"}
"""Tools whose picture or code the views of others show."""
CALLS: Mapping[str, Mapping[str, Any]] = {
    "search_knowledge": {"query": "sharing"},
    "search_lexicon": {"keyword": "tier"},
    "get_document": DOCUMENT,
    "get_document_history": DOCUMENT,
    "related_documents": DOCUMENT,
    "search_skills": {"query": "water"},
    "get_skill": {"name": "watering"},
    "get_skill_file": {"skill": "watering", "file": "when.md"},
    "get_agent": {"name": "gardener"},
    "search_code": {"query": "well"},
    "get_function": {"name": "well"},
    "get_callers": {"name": "well"},
    "get_callees": {"name": "drink"},
    "get_call_graph": {"name": "well"},
    "analyze_impact": {"name": "well"},
    "get_business_context": {"name": "well"},
    "search_by_purpose": {"query": "water"},
}
"""What each app's tool is called with; nothing for one that needs nothing."""


STAGE = {"name": "Only", "prompts": [{"name": "Do it", "content": "Slowly."}]}


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncIterator[TestPortal]:
    """A portal with something of everything."""
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    config = {
        "plugins": {
            "knowledge": {"sources": [{"directory": str(tmp_path / "notes"), "tier": "open"}]},
            "skills_repo": {
                "sources": [
                    {"name": kind, "kind": kind, "directory": str(tmp_path / kind), "tier": "open"}
                    for kind in ("skills", "agents")
                ]
            },
            "codegraph": {"repositories": [{"name": "town", "path": str(tmp_path / "town")}]},
        }
    }
    tiers = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with open_test_portal(config=config, tiers=tiers) as opened:
        yield opened


async def own(client: McpClient) -> dict[str, Mapping[str, Any]]:
    """Calls about what a person has made or found before."""
    kept = await client.call("remember", {"content": "The gate code changes in May."})
    entry = {"id": kept["structuredContent"]["id"]}
    found = await client.call("get_available_workflows", {})
    workflow = {"workflow_id": found["structuredContent"]["workflows"][0]["id"]}
    begun = await client.call("select_workflow", {**workflow, "start_run": True})
    run = begun["structuredContent"]["run"]["runId"]
    added = {"name": "Mine", "stages": [STAGE]}
    written = await client.call("add_workflow", added)
    mine = {"workflow_id": written["structuredContent"]["id"]}
    link = await client.call("create_workflow_link", mine)
    return {
        "query_memory": {"query": "gate"},
        "get_memory": entry,
        "memory_history": entry,
        "get_workflow": workflow,
        "preview_workflow": added,
        "list_workflow_links": mine,
        "open_workflow_link": {"link": link["structuredContent"]["address"]},
        "get_run": {"run_id": run},
        "get_versions": {"id": written["structuredContent"]["id"]},
        "preview_edit": {**mine, "version": 1, "name": "Another"},
    }


async def test_every_app_draws_its_answer_for_everybody(
    browser: Browser, portal: TestPortal
) -> None:
    await portal.sign_in("ana")
    client = McpClient(portal.http("ana"), capabilities=APPS)
    calls = {**CALLS, **await own(client)}
    problems: list[str] = []
    for item in portal.running.catalog.views.items:
        tool = declared_view(item).tool
        if tool == "get_selected_skill":  # it answers with what a run has before it
            continue
        async with opened(browser) as (_, page):
            app, called = await show_app(page, client, tool, calls.get(tool, {}))
            # What the answer shows, and not the text that a client without apps has.
            await expect(app.locator("#main.view"), tool).to_be_visible()
            await expect(app.locator("h1, h2").first, tool).to_be_visible()
            problems += [f"{tool}: {each}" for each in await violations(page.frames[1])]
            assert set(called) <= BROUGHT
    assert problems == []


async def test_the_card_of_a_call_that_waits_leads_to_its_page_and_approves_nothing(
    browser: Browser,
) -> None:
    async with open_treasury() as treasury, opened(browser) as (_, page):
        client = treasury.client(**APPS)
        wanted = {"to": "the <b>mason</b>\u202e", "amount": 30}
        app, called = await show_app(page, client, "pay", wanted)
        await expect(app.get_by_role("heading", name="It waits for a yes")).to_be_visible()
        await expect(app.get_by_text("the <b>mason</b>")).to_be_visible()
        assert await violations(page.frames[1]) == []
        assert await app.get_by_role("button").count() == 0
        (request,) = await treasury.portal.running.approvals.store.open()
        await app.get_by_role("link", name="Open its page").click()
        await page.wait_for_function("window.opened.length === 1")
        (led,) = await page.evaluate("window.opened")
        assert led.endswith(f"/approvals/{request.id}")
        again = app.get_by_role("link", name="It is approved: call it again")
        await again.click()
        await expect(app.locator("main")).not_to_have_attribute("aria-busy", "true")
        assert (called, treasury.paid) == (["pay"], 0)
        await treasury.say("bob", request.id)
        await again.click()
        await expect(app.get_by_text('"amount":30')).to_be_visible()
        assert (called, treasury.paid) == (["pay", "pay"], 1)
