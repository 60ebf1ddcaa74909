"""Publishes, takes and returns work until it is killed: ``python -m … DIRECTORY DATABASE COUNT``.

What is accepted is a row of a table without any constraint: what is doubled is seen there.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sqlalchemy import text

from gateway.contract import WorkAnswer
from gateway.testing import open_test_portal
from tests.gateway.work.clerk import Clerk

GOOD = {"verdict": "good", "quote": "well"}


class Keeper(Clerk):
    """A clerk that keeps what it accepts in the portal's database."""

    async def accept(self, answer: WorkAnswer) -> None:
        assert self.host is not None
        async with self.host.database.begin() as connection:
            if await answer.once(connection):
                kept = text("INSERT INTO clerk_kept (key) VALUES (:key)")
                await connection.execute(kept, {"key": answer.key})
        await asyncio.sleep(0.02)  # a longer time between what it wrote and the job's next step


async def main(directory: Path, database: str, count: int) -> None:
    clerk = Keeper(lease_seconds=1.0)
    config = {"services": {"database": database}}
    async with open_test_portal(clerk.module(), config=config, data_dir=directory) as portal:
        assert clerk.host is not None
        async with clerk.host.database.begin() as connection:
            await connection.execute(text("CREATE TABLE IF NOT EXISTS clerk_kept (key TEXT)"))
        while True:
            for number in range(count):
                await clerk.publish(f"{number}")
                taken = await portal.call("take_work", {"max_items": 3})
                for item in taken.structured["items"]:
                    answer = {"id": item["id"], "answer": GOOD, "model": "a model"}
                    await portal.call("return_work", answer)
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
