"""Workflows as resources, through a whole portal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import RequestRefused, TestPortal
from tests.plugins.workflows.playing import ANYONE, done, opened, stage

TEMPLATE = "playbook://workflows/{id}"


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("alice", "bob", starter=True) as portal:
        yield portal


async def add(portal: TestPortal, who: str = "alice", **more: Any) -> dict[str, Any]:
    given = {"name": "Code review", "stages": [stage("Read", "Judge")], **more}
    return await done(portal, who, "add_workflow", **given)


def uri(made: dict[str, Any]) -> str:
    return TEMPLATE.replace("{id}", made["id"])


async def test_every_visible_workflow_is_listed_and_no_other(portal: TestPortal) -> None:
    before = set(await portal.resources(ANYONE))
    assert TEMPLATE in before
    assert len(before) > 1, "the starter workflows"
    private = await add(portal, description="Mine.")
    public = await add(portal, "bob", visibility="PUBLIC")
    assert set(await portal.resources(ANYONE)) - before == {uri(public)}
    listed = await portal.resources("alice")
    assert set(listed) - before == {uri(public), uri(private)}
    assert listed[uri(private)] == {
        "uri": uri(private),
        "name": "code-review",
        "title": "Code review",
        "description": "Mine.",
        "mimeType": "text/markdown",
    }


async def test_a_workflow_is_a_page_that_a_person_can_read(portal: TestPortal) -> None:
    files = [{"name": "list.md", "text": "x"}]
    card = {"name": "Reviewing", "content": "Look twice.", "attachments": files}
    skill = await done(portal, "alice", "add_skill", **card, visibility="PUBLIC")
    first = stage("Read", name="First", description="To begin.", with_review=True)
    second = stage("Tell", name="Second", skills=[skill["id"]], with_review=True)
    made = await add(
        portal,
        description="For pull requests.",
        complexity="M",
        tags=["review"],
        visibility="PUBLIC",
        stages=[first, second],
    )
    page = await portal.read(uri(made), tier=ANYONE)
    assert page.startswith(
        "# Code review\n\nFor pull requests.\n\n"
        "*by alice · complexity M · tags: review · 5 steps · version 1*\n\n"
        "## First\n\nTo begin.\n\n### Step 0: Read\n\nDo Read.\n\n### Step 1: "
    )
    assert "## Second\n\n### Step 2: Tell\n\nDo Tell.\n\n### Step 3: Reviewing" in page
    assert "Look twice.\n\nFiles: list.md" in page
    assert page.rstrip().endswith("As in step 1."), "the Memory Board's text is there once"


async def test_a_private_one_is_its_owner_s_page_alone(portal: TestPortal) -> None:
    made = await add(portal)
    assert "alice" not in (await portal.read(uri(made), tier="alice")).splitlines()[2]
    for who in ("bob", ANYONE):
        with pytest.raises(RequestRefused, match="Access denied: workflow is private"):
            await portal.read(uri(made), tier=who)
    with pytest.raises(RequestRefused, match="Workflow not found"):
        await portal.read(TEMPLATE.replace("{id}", "nowhere"), tier="alice")


async def test_all_pages_of_the_list_have_each_once() -> None:
    async with opened("alice") as portal:
        made = {uri(await add(portal, name=f"Same {n % 2}", stages=[])) for n in range(120)}
        listed = await portal.mcp("alice").list("resources")
        assert len(listed) == len({each["uri"] for each in listed})
        assert {each["uri"] for each in listed} == made
