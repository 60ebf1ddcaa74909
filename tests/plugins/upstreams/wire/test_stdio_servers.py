"""Real servers are spoken with over their stdio: the SDK's, and those of npm."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from plugins.upstreams.wire import (
    Era,
    WireError,
)
from tests.plugins.upstreams.wire.peers import Heard, call, text_of
from tests.plugins.upstreams.wire.spawned import NODE, NODE_SERVERS, ROOT, SDK, spawned


@pytest.mark.parametrize("era", [None, "modern", "legacy"])
async def test_a_child_made_with_the_sdk_is_spoken_with(era: Era | None):
    lines: list[str] = []
    heard = Heard()
    async with spawned(
        *SDK, env={"PYTHONPATH": str(ROOT)}, said=lines.append, era=era, told=heard.tell
    ) as connection:
        assert connection.transport_name == "stdio"
        assert connection.era == (era or "modern")
        assert text_of(await connection.request(*call("count"), back=heard)) == "counted"
        assert [done for done, _, _ in heard.progresses] == [1, 2, 3]
        texts = [str(number) for number in range(30)]
        results = await asyncio.gather(
            *(connection.request(*call("echo", text=text)) for text in texts)
        )
        assert [text_of(each) for each in results] == texts
        await connection.request(*call("change"))
        await heard.until_told("notifications/tools/list_changed")
        if connection.era == "legacy":
            assert text_of(await connection.request(*call("ask"), back=heard)) == "accept Ada"
    assert "starting" in lines
    assert isinstance(await connection.ended(), WireError)


async def test_the_reference_servers_of_npm_are_spoken_with(tmp_path: Path):
    (tmp_path / "note.txt").write_text("Water the tomatoes.")
    files = NODE_SERVERS / "server-filesystem/dist/index.js"
    async with spawned(NODE, files, tmp_path) as connection:
        assert connection.era == "legacy"
        name, params = call("read_text_file", path=str(tmp_path / "note.txt"))
        assert text_of(await connection.request(name, params)) == "Water the tomatoes."
    memory = NODE_SERVERS / "server-memory/dist/index.js"
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    async with spawned(NODE, memory, env=env) as connection:
        entity = {"name": "Ada", "entityType": "person", "observations": ["gardens"]}
        await connection.request(*call("create_entities", entities=[entity]))
        result = await connection.request(*call("read_graph"))
        assert result["structuredContent"]["entities"] == [entity]


async def test_the_everything_server_of_npm_asks_and_tells():
    everything = NODE_SERVERS / "server-everything/dist/index.js"
    heard = Heard({"roots": []})
    async with spawned(NODE, everything, told=heard.tell) as connection:
        result = await connection.request(*call("echo", message="hi"))
        assert text_of(result) == "Echo: hi"
        long = call("trigger-long-running-operation", duration=0.2, steps=2)
        await connection.request(*long, back=heard)
        assert [done for done, _, _ in heard.progresses] == [1, 2]
        listed = await connection.request("tools/list", {})
        assert {"echo", "get-sum"} <= {tool["name"] for tool in listed["tools"]}
