"""A pass of the upkeep that kills itself, with SIGKILL, before its n-th statement.

Usage: crash.py DATA N DAYS
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from tests.plugins.knowledge.memory.conftest import Clock, opened
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder


async def main(data: Path, moment: int, days: int) -> None:
    """Keep memory in order, and die."""
    left = moment

    def count(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    clock = Clock()
    clock.time += timedelta(days=days)
    async with opened("sqlite", data, clock, WordEmbedder()) as world:
        event.listen(Engine, "before_cursor_execute", count)
        event.listen(Engine, "commit", count)
        await world.memory.upkeep.once()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
