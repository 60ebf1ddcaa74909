"""What people write through tools is kept without its secrets, as every argument is."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from gateway.testing import open_test_portal
from plugins.workflows import plugin
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(61))
ITEM = {"type": "MINI_PROMPT", "name": f"Step {TOKEN}", "content": f"Use {TOKEN}."}
STAGE = {"name": "One", "items": [ITEM]}
WRITTEN: list[tuple[str, dict[str, Any]]] = [
    ("add_workflow", {"name": "A", "description": TOKEN, "stages": [STAGE]}),
    ("add_skill", {"name": "B", "description": f"With {TOKEN}", "content": f"Take {TOKEN}."}),
]


async def test_no_tool_keeps_a_secret(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_test_portal(plugin, tiers={}, data_dir=data) as portal:
        await portal.sign_in("ana")
        for tool, arguments in WRITTEN:
            done = await portal.mcp("ana").call(tool, arguments)
            assert not done.get("isError"), done
            assert TOKEN not in str(done)
    texts = [file.read_bytes() for file in data.rglob("*") if file.is_file()]
    assert any(b"Use [REDACTED]." in text for text in texts)
    assert any(b"Take [REDACTED]." in text for text in texts)
    assert not [text for text in texts if TOKEN.encode() in text]
