"""What code is for in a running portal: after the first index by a job, then with each change."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.repositories import calm
from plugins.codegraph.tools.judgements import BEHIND
from tests.plugins.codegraph.justification.shops import SHOP


async def purpose(portal: TestPortal, name: str, wanted: str) -> dict[str, Any]:
    """The context of a function, as soon as it has a purpose."""
    async with asyncio.timeout(90):
        while True:
            found = await portal.call("get_business_context", {"name": name})
            if not found.is_error and found.structured["justification"]["purpose"] == wanted:
                return dict(found.structured)
            await asyncio.sleep(0.1)


async def test_a_job_says_it_after_an_index_and_a_change_is_said_within_seconds(
    tmp_path: Path,
) -> None:
    tree = tmp_path / "shop"
    for path, text in SHOP.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text)
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(tree)}]}}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as portal:
        await purpose(portal, "connect", "Open the database.")
        blueprint = await portal.call("get_blueprint")
        assert "orders" in {each["name"] for each in blueprint.structured["verticals"]}
        changed = SHOP["shop/database.py"].replace(b"Open the database.", b"Begin all work.")
        (tree / "shop/database.py").write_bytes(changed)
        told = await purpose(portal, "connect", "Begin all work.")
        assert told["justification"]["purposeAt"] == "shop/database.py:7"


async def test_a_change_is_said_at_once_while_the_rules_over_the_whole_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calm, "REST", 10**6)
    tree = tmp_path / "shop"
    for path, text in SHOP.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text)
    file, text = tree / "shop/database.py", SHOP["shop/database.py"]
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(tree)}]}}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as portal:
        await purpose(portal, "connect", "Open the database.")
        for said in ("Begin all work.", "End all work.", "Rest."):
            file.write_bytes(text.replace(b"Open the database.", said.encode()))
            found = await purpose(portal, "connect", said)
        assert BEHIND in found["meta"]["note"]
