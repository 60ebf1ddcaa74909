"""One index in a process of its own, to be killed: its arguments are ADDRESS DATA ROOT.

Whatever has changed, it makes a new layer, as where much has.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from gateway.services.database.service import open_database
from plugins.codegraph.indexer import incremental
from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.store.store import GraphStore
from tests.plugins.codegraph.indexer.bench import Bench


async def main(address: str, data: Path, root: Path) -> None:
    """Index once, and tell each step."""
    incremental.MAX_READ = 0
    service = open_database(address, data)
    store = GraphStore(service.for_owner("codegraph"))
    indexer = Indexer(store, data / "indexing", workers=WorkerPool(most=1))
    await indexer.index(Bench(store, indexer, root).source, told)
    sys.stdout.write("served\n")
    sys.stdout.flush()
    await indexer.close()
    await service.close()


def told(done: int, total: int, message: str) -> None:
    """Write a step, so that whoever kills this process knows how far it is."""
    sys.stdout.write(f"{message}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
