"""Holds a repository in a process of its own, until it is killed: ADDRESS DATA HOLDERS REPO."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from gateway.services.database.service import open_database
from plugins.codegraph.repositories.leases import Leases
from tests.plugins.codegraph.repositories.parts import Clock

HOLDER = "somebody who is killed"


async def main(address: str, data: Path, holders: Path, repo: str) -> None:
    """Hold it, say so, and wait for ever."""
    database = open_database(address, data).for_owner("codegraph")
    async with Leases(database, Clock(), holders).held(repo, HOLDER):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
