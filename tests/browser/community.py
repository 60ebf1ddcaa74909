"""A portal of a small community in which every page has something to show."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_account import Account as Key

from gateway.testing import TestPortal, open_test_portal
from tests.browser.community_notes import AGENT, CODE, NOTES, PLANS, SKILL
from tests.gateway.assistant.garden import CHAT, models
from tests.gateway.surfaces.pages.browser import Browser
from tests.servers.github_history import History
from tests.servers.openai_compatible import OpenAICompatible, Reply
from tests.servers.streaming import over_network

ANSWER = (
    "Members decide by **consent**: a proposal holds once nobody objects to it.\n\n"
    "1. Somebody proposes.\n2. Everybody is heard.\n3. Objections are answered."
)
"""What the assistant says."""
STAGES = [
    {
        "name": "Listen",
        "prompts": [
            {"name": "Ask who is affected", "content": "Ask *everybody* whom it touches."},
            {"name": "Write down objections", "content": "One line each, in their words."},
        ],
    },
    {
        "name": "Decide",
        "with_review": True,
        "prompts": [{"name": "Ask for consent", "content": "Does anybody object?"}],
    },
]


@dataclass
class Community:
    """The portal on a port, and a member of it who is an admin.

    Attributes:
        portal: the portal.
        base: its address.
        cookies: of a browser in which the member is signed in.
        key: of the member's wallet.
        pages: the address of each page with something on it, by the path of its route.
    """

    portal: TestPortal
    base: str
    cookies: list[Any]
    key: Any
    pages: Mapping[str, str]


@asynccontextmanager
async def open_community(place: Path, server: OpenAICompatible) -> AsyncGenerator[Community]:
    """Open it.

    Args:
        place: a folder for what it reads.
        server: answers as the assistant's model.
    """
    key = Key.create()
    who = {"any_of": [{"address": key.address}]}
    asks = {"tier": "members", "approve": {"by": "admins", "quorum": 2}}
    items = {"knowledge": "open", "skills_repo": "open", "codegraph": "open", "workflows": "open"}
    tiers = {
        "access": {"members": {"any_of": ["signed_in"]}, "admins": who},
        "items": {**items, "workflows/publish": asks},
    }
    options: dict[str, Any] = {"config": _config(place, server), "tiers": tiers, "plans": PLANS}
    async with open_test_portal(**options) as portal, over_network(portal) as served:
        base = f"http://{served.address}"
        await portal.running.assistant.ready()
        browser = Browser(portal.app, base)
        await browser.sign_in(key)
        people = portal.running.authentication.stores.people
        person = await anext(aiter(people.everyone()))
        await portal.sign_in("ana", *person.accounts)
        jar = browser.client.cookies.jar
        cookies = [{"name": each.name, "value": each.value, "url": base} for each in jar]
        pages = await _filled(portal, server)
        yield Community(portal, base, cookies, key, {**pages, **_admins(person.id)})
        await browser.aclose()


def _config(place: Path, server: OpenAICompatible) -> dict[str, Any]:
    notes, code, skills = place / "handbook", place / "orchard", place / "skills"
    agents = place / "agents"
    history = History.begun(notes)
    older = {path: text.replace("consent", "agreement") for path, text in NOTES.items()}
    history.commit({path: text.encode() for path, text in older.items()}, message="Write it down")
    history.commit({path: text.encode() for path, text in NOTES.items()}, message="Say consent")
    for folder, files in ((code, CODE), (skills, SKILL), (agents, AGENT)):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    source = {"name": "handbook", "directory": str(notes), "tier": "open", "drafts": True}
    crew = {"name": "crew", "kind": "agents", "directory": str(agents), "tier": "open"}
    house = {"name": "house", "kind": "skills", "directory": str(skills), "tier": "open"}
    return {
        "name": "Orchard",
        "services": {"models": models(server.url)},
        "plugins": {
            "knowledge": {"sources": [source]},
            "codegraph": {"repositories": [{"name": "orchard", "path": str(code), "tier": "open"}]},
            "skills_repo": {"sources": [house, crew]},
            "workflows": {"starter": True},
        },
    }


async def _filled(portal: TestPortal, server: OpenAICompatible) -> dict[str, str]:
    workflows = await _workflows(portal)
    memory = await _memory(portal)
    return {
        "/": "/",
        "/search": "/search?query=consent",
        "/signin": "/signin",
        "/account": "/account",
        "/account/activity": "/account/activity",
        **workflows,
        **memory,
        **await _approvals(portal),
        **await _draft(portal),
        **await _chat(portal, server),
        **_knowledge(),
        **_code(),
        "/skills_repo/search": "/skills_repo/search?query=prune",
        "/skills_repo/skills": "/skills_repo/skills",
        "/skills_repo/agents": "/skills_repo/agents",
        "/skills_repo/agent": "/skills_repo/agent?name=gardener",
        "/skills_repo/skill": "/skills_repo/skill?name=prune",
        "/skills_repo/skill-file": "/skills_repo/skill-file?skill=prune&file=references/when.md",
        "/usage/month": "/usage/month",
    }


def _admins(person: str) -> dict[str, str]:
    paths = ("", "/access", "/tiers", "/people", "/health", "/usage", "/models", "/audit")
    return {
        **{f"/admin{each}": f"/admin{each}" for each in paths},
        "/admin/explain": "/admin/explain?as=public&item=get_document",
        "/admin/people/{person}": f"/admin/people/{person}",
    }


def _knowledge() -> dict[str, str]:
    document = "contentType=practice&id=consent"
    return {
        "/knowledge/search": "/knowledge/search?query=who+decides",
        "/knowledge/documents": "/knowledge/documents",
        "/knowledge/document": f"/knowledge/document?{document}",
        "/knowledge/history": f"/knowledge/history?{document}",
        "/knowledge/related": f"/knowledge/related?{document}",
        "/knowledge/map": "/knowledge/map",
        "/knowledge/lexicon": "/knowledge/lexicon?keyword=consent",
        "/knowledge/groups": "/knowledge/groups",
        "/knowledge/releases": "/knowledge/releases",
    }


def _code() -> dict[str, str]:
    name = "name=water"
    return {
        "/codegraph/search": "/codegraph/search?query=water",
        "/codegraph/function": f"/codegraph/function?{name}",
        "/codegraph/callers": f"/codegraph/callers?{name}",
        "/codegraph/callees": "/codegraph/callees?name=tend",
        "/codegraph/graph": f"/codegraph/graph?{name}&direction=both",
        "/codegraph/impact": f"/codegraph/impact?{name}",
        "/codegraph/health": "/codegraph/health",
        "/codegraph/routes": "/codegraph/routes",
        "/codegraph/activity": "/codegraph/activity",
        "/codegraph/blueprint": "/codegraph/blueprint",
        "/codegraph/context": f"/codegraph/context?{name}",
        "/codegraph/purpose": "/codegraph/purpose?type=UTILITY",
        "/codegraph/repository": "/codegraph/repository",
        "/codegraph/workspace": "/codegraph/workspace",
    }


async def _done(portal: TestPortal, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await portal.call(tool, arguments, tier="ana")
    assert not result.is_error, result.text
    told: dict[str, Any] = result.structured
    return told


async def _workflows(portal: TestPortal) -> dict[str, str]:
    words = {"description": "For what touches everybody.", "tags": ["meetings"], "stages": STAGES}
    made = await _done(portal, "add_workflow", name="Decide by consent", **words)
    id = made["id"]
    edit = {"workflow_id": id, "version": made["version"], "name": "Decide together"}
    await _done(portal, "edit_workflow", **edit)
    begun = await _done(portal, "select_workflow", workflow_id=id, start_run=True)
    run = begun["run"]["runId"]
    await _done(portal, "get_next_step", run_id=run)
    link = await _done(portal, "create_workflow_link", workflow_id=id)
    folder = await _done(portal, "create_folder", name="Meetings")
    held = [{"id": id, "type": "WORKFLOW"}]
    await _done(portal, "edit_folder", folder_key=folder["id"], version=1, add=held)
    old = await _done(portal, "add_workflow", name="An older one", stages=STAGES)
    gone = {"workflow_id": old["id"], "version": old["version"], "is_active": False}
    await _done(portal, "edit_workflow", **gone)
    card = await _done(portal, "add_skill", name="Plain words", content="Say it *shortly*.")
    at, new = "/workflows", "name=Plant+a+tree&stages.0.name=Dig&stages.0.prompts.0.name=A+hole"
    return {
        f"{at}/workflows": f"{at}/workflows",
        f"{at}/workflow": f"{at}/workflow?workflow_id={id}&include_content=true&changed_since=1",
        f"{at}/preview": f"{at}/preview?workflow_id={id}&version=2&name=Decide+well",
        f"{at}/new": f"{at}/new?{new}&stages.0.prompts.0.content=Deep.",
        f"{at}/versions": f"{at}/versions?id={id}",
        f"{at}/links": f"{at}/links?workflow_id={id}",
        f"{at}/shared": f"{at}/shared?link={link['address'].rpartition('=')[2]}",
        f"{at}/run": f"{at}/run?run_id={run}",
        f"{at}/runs": f"{at}/runs",
        f"{at}/bin": f"{at}/bin",
        f"{at}/folders": f"{at}/folders?folder_key={folder['id']}",
        f"{at}/placing": f"{at}/placing?id={id}&type=WORKFLOW",
        f"{at}/skill-card": f"{at}/skill-card?skill_id={card['id']}",
    }


async def _memory(portal: TestPortal) -> dict[str, str]:
    kept = await _done(portal, "remember", content="The gate code changes in May.")
    for_all = {"content": "The gate opens at nine.", "policy": "organization"}
    asked = await _done(portal, "remember", **for_all)
    return {
        "/knowledge/memory": "/knowledge/memory",
        "/knowledge/recall": "/knowledge/recall?query=gate",
        "/knowledge/entry": f"/knowledge/entry?id={kept['id']}",
        "/knowledge/entry-history": f"/knowledge/entry-history?id={kept['id']}",
        "/knowledge/review": "/knowledge/review",
        "/approvals/{plugin}/{id}": f"/approvals/knowledge/{asked['approval']}",
    }


async def _approvals(portal: TestPortal) -> dict[str, str]:
    mine = await _done(portal, "get_available_workflows", scope="mine")
    flow = mine["workflows"][0]
    wanted = {"type": "WORKFLOW", "id": flow["id"], "version": flow["version"]}
    told = await portal.call("publish", wanted, tier="ana")
    found = re.search(r"/approvals/([\w-]+)", told.text)
    assert found is not None, told.text
    return {"/approvals": "/approvals", "/approvals/{id}": f"/approvals/{found[1]}"}


async def _draft(portal: TestPortal) -> dict[str, str]:
    page = {"title": "Compost", "contentType": "practice", "body": "Turn it *once* a week.\n"}
    shown = await _done(portal, "preview_draft", **page)
    id = (shown.get("draft") or shown)["id"]
    return {
        "/knowledge/drafts": "/knowledge/drafts",
        "/knowledge/draft": f"/knowledge/draft?draft={id}",
    }


async def _chat(portal: TestPortal, server: OpenAICompatible) -> dict[str, str]:
    server.then(Reply(text=ANSWER))
    asked = await portal.http("ana").post(CHAT, json={"message": "How do we decide?"})
    assert asked.is_success, asked.text
    (chat,) = (await portal.http("ana").get(CHAT)).json()["conversations"]
    return {"/chat": "/chat", "/chat/{id}": f"/chat/{chat['id']}"}
