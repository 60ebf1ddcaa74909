"""An admin takes workflows in from files, and writes them out, while the portal runs."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.journeys.balancer import Member
from tests.journeys.community import Community, running
from tests.journeys.member import plain_client, said

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
ERA = "2026-07-28"
MANY = 60
WORKFLOW = """\
name: Plant tree {number}
description: From choosing the place to watering it.
stages:
  - name: Begin
    items:
      - prompt: choose-the-place
"""
STAGES = [{"name": "Spring", "prompts": [{"name": "Dig", "content": "Dig a bed."}]}]
WAIT = 9.0
"""Seconds within which an import lets a member write; SQLite itself gives up after ten."""


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Community]:
    """A portal as a newcomer has it, that searches by words."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "content", tmp_path / "content")
    with (tmp_path / "config" / "portal.yaml").open("a") as config:
        config.write("\nservices: {embedding: none}\nlimits: {calls: none}\n")
    with running(tmp_path) as portal:
        yield portal


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A playbook with many workflows."""
    book = tmp_path / "book"
    (book / "workflows").mkdir(parents=True)
    (book / "prompts").mkdir()
    tell(book, "Choose a sunny place.")
    for number in range(MANY):
        text = WORKFLOW.format(number=number)
        (book / "workflows" / f"plant-tree-{number}.yaml").write_text(text)
    return book


@pytest.fixture
async def client(portal: Community) -> AsyncGenerator[Client]:
    """A client of somebody who has signed in."""
    with Member(portal, portal.url) as member:
        member.sign_in()
        token = member.api_token()
    async with plain_client(f"{portal.url}/mcp", token, ERA) as client:
        yield client


def tell(book: Path, text: str) -> None:
    (book / "prompts" / "choose-the-place.md").write_text(f"{text}\n")


async def test_an_import_beside_the_portal_is_found_followed_and_written_out(
    portal: Community, client: Client, book: Path, tmp_path: Path
) -> None:
    assert (await first_step(client)).startswith("Workflow not found")
    assert await portal.porch("workflows", "import", str(book)) == f"{MANY + 1} added.\n"
    found = await ask(client, "get_available_workflows", task="plant tree 7", limit=1)
    assert found["workflows"][0]["key"] == "plant-tree-7"
    assert await first_step(client) == "Choose a sunny place."
    tell(book, "Choose a place with shade.")
    assert await portal.porch("workflows", "import", str(book)) == (
        f"1 updated, {MANY} unchanged.\n"
    )
    assert await first_step(client) == "Choose a place with shade."
    await portal.porch("workflows", "export", str(tmp_path / "out"))
    written = (tmp_path / "out" / "prompts" / "choose-the-place.md").read_text()
    assert "Choose a place with shade." in written


async def test_members_write_while_an_import_runs(
    portal: Community, client: Client, book: Path
) -> None:
    importing = asyncio.create_task(portal.porch("workflows", "import", str(book)))
    longest, made = 0.0, 0
    while not importing.done():
        begun = time.monotonic()
        await ask(client, "add_workflow", name=f"Bed {made}", stages=STAGES)
        longest, made = max(longest, time.monotonic() - begun), made + 1
    assert await importing == f"{MANY + 1} added.\n"
    assert made > 1
    assert longest < WAIT
    mine = await ask(client, "get_available_workflows", scope="mine", limit=50)
    assert len(mine["workflows"]) == min(made, 50)
    found = await ask(client, "get_available_workflows", task="plant tree 7", limit=1)
    assert found["workflows"][0]["key"] == "plant-tree-7"


async def first_step(client: Client) -> str:
    """The content of a first step, or why there is none."""
    arguments = {"workflow_id": "plant-tree-7", "step_index": 0}
    result = await client.call_tool("get_next_step", arguments)
    if result.is_error:
        return said(result)
    return str(json.loads(said(result))["content"]).strip()


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool answers."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    return result.structured_content
