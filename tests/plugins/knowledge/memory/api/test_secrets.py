"""What is remembered over REST, in batches and over MCP is kept without its secrets."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from tests.gateway.scrubbing.fakes import made
from tests.plugins.knowledge.memory.api.test_batches import ended, send
from tests.plugins.knowledge.memory.api.test_streams import NO_LIMIT

TOKEN = made("ghp_{alnum:36}", Random(51))
TIERS = {"items": {"knowledge": "public"}}


def entry(number: int) -> dict[str, Any]:
    metadata = {"tags": [f"tag-{TOKEN}"]}
    return {"content": f"Bed {number} is watered with {TOKEN}.", "metadata": metadata}


async def remembered(portal: TestPortal, prefix: str) -> list[str]:
    """What each way to remember answers."""
    http = portal.http("members")
    done = await http.post(f"{prefix}/create", json={"entry": entry(1)})
    assert done.status_code == 200, done.text
    id = done.json()["entry"]["id"]
    change = {"entry": {"content": f"Now {TOKEN}."}}
    changed = await http.put(f"{prefix}/{id}", json=change)
    assert changed.status_code == 200, changed.text
    many = [{"entry": entry(number)} for number in range(2, 5)]
    sent = await send(portal, prefix, {"operation": "create", "entries": many})
    report = await ended(portal, sent.results_url)
    assert report.results.succeeded == 3
    said = await portal.mcp("members").call("remember", {"content": f"Over MCP: {TOKEN}"})
    listed = await http.get(f"{prefix}/entries")
    return [done.text, changed.text, report.model_dump_json(), json.dumps(said), listed.text]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_no_way_to_remember_keeps_a_secret(tmp_path: Path, prefix: str) -> None:
    data = tmp_path / "data"
    async with open_test_portal(plugin, tiers=TIERS, data_dir=data) as portal:
        for text in await remembered(portal, prefix):
            assert TOKEN not in text
    texts = [file.read_bytes() for file in data.rglob("*") if file.is_file()]
    assert any(b"[REDACTED]" in text for text in texts)
    assert not [text for text in texts if TOKEN.encode() in text]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_stream_tells_nothing_that_was_kept_before_secrets_were_taken_out(
    tmp_path: Path, prefix: str
) -> None:
    data, off = tmp_path / "data", {**NO_LIMIT, "scrubbing": {"enabled": False}}
    async with open_test_portal(plugin, tiers=TIERS, data_dir=data, config=off) as portal:
        kept = {"content": f"Bed 2 is watered with {TOKEN}.", "access_policy": "public"}
        done = await portal.http("members").post(f"{prefix}/create", json={"entry": kept})
        assert TOKEN in done.text
    question = quote(json.dumps({"query": "Bed watered"}))
    path = f"{prefix}/stream?type=query&query={question}"
    async with open_test_portal(plugin, tiers=TIERS, data_dir=data, config=NO_LIMIT) as portal:
        async with asyncio.timeout(60):
            told = ""
            while "Bed 2" not in told:  # a search that is slow to begin leaves a layer out
                told = (await portal.http("members").get(path)).text
    assert "Bed 2 is watered with [REDACTED: GitHub" in told
    assert TOKEN not in told
