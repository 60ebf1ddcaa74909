"""Memory's end: every step of it is taken, whatever has failed before."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.knowledge.memory.query.usage import Usage
from plugins.knowledge.memory.streams.hub import Hub
from plugins.knowledge.memory.upkeep.upkeep import Upkeep
from tests.plugins.knowledge.memory.conftest import Clock, opened


async def test_uses_that_cannot_be_written_keep_nothing_else_from_its_end(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, close = list[str](), Hub.close

    async def flush(_: Usage) -> None:
        raise OSError("the database is locked")

    async def promote(_: Upkeep) -> None:
        steps.append("promoted")

    async def closed(hub: Hub) -> None:
        await close(hub)
        steps.append("closed")

    monkeypatch.setattr(Usage, "flush", flush)
    monkeypatch.setattr(Upkeep, "promote_working", promote)
    monkeypatch.setattr(Hub, "close", closed)
    with pytest.raises(OSError, match="locked"):
        async with opened(address, tmp_path, Clock()):
            pass
    assert steps == ["promoted", "closed"]
