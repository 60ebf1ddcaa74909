"""A portal that takes a batch and kills itself, with SIGKILL, before its n-th statement after that.

Usage: crash.py DATA N ENTRIES
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from auth import Account
from gateway.testing import open_test_portal
from plugins.knowledge import plugin

ANA = Account.of_key("0x" + "a1" * 20, "Ana")
TIERS = {"items": {"knowledge": "public"}}
BATCH = "/openspec/v1/knowledge/batch"


async def main(data: Path, moment: int, entries: int) -> None:
    """Take the batch, and die."""
    left = moment

    def count(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_test_portal(plugin, data_dir=data, tiers=TIERS) as portal:
        await portal.sign_in("ana", ANA)
        many = [{"entry": {"content": f"Seed {n} of beans."}} for n in range(entries)]
        sent = {"operation": "create", "entries": many}
        answer = await portal.http("ana").post(BATCH, json=sent)
        sys.stdout.write(f"{answer.json()['results_url']}\n")
        sys.stdout.flush()
        event.listen(Engine, "before_cursor_execute", count)
        event.listen(Engine, "commit", count)
        await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
