"""Runs one indexer and compares its results, in a separate process, since that takes long.

``python -m plugins.codegraph.scip.process`` reads an :class:`Order` and writes a :class:`Result`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import msgspec

from gateway.toolkit.child_process import PIPE, spawn
from plugins.codegraph.model import Edge, Entity, Strategy
from plugins.codegraph.scip.runner import INDEXERS, TIMEOUT_S, run
from plugins.codegraph.scip.union import united
from plugins.codegraph.store.codes import EDGE_KINDS
from plugins.codegraph.store.compression import inflated
from plugins.codegraph.store.rows import EdgeRow, merged_edges


class Order(msgspec.Struct, array_like=True):
    """What to run, and its input.

    Attributes:
        indexer: its name.
        entities: of the files that it reads, in row order.
        edges: the linker's, as source, kind and target.
        texts: the files that it reads, deflated, by path.
        manifests: the manifests, by path.
        limit: the most seconds that it may run.
    """

    indexer: str
    entities: list[Entity]
    edges: list[tuple[int, int, int]]
    texts: dict[str, bytes]
    manifests: dict[str, bytes]
    limit: float = TIMEOUT_S


class Result(msgspec.Struct, array_like=True):
    """The result of an order.

    Attributes:
        problem: why it failed, or "".
        edges: the edges to add.
        both, differ, missed: see ``union.Agreement``.
    """

    problem: str = ""
    edges: list[EdgeRow] = []
    both: int = 0
    differ: int = 0
    missed: int = 0


async def ordered(order: Order) -> Result:
    """Carry out an order, in a separate process.

    Args:
        order: what to run.
    """
    data = await asyncio.to_thread(msgspec.msgpack.encode, order)
    process = await spawn(
        *(sys.executable, "-m", "plugins.codegraph.scip.process"),
        stdin=PIPE,
        stdout=PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        start_new_session=True,  # Ctrl-C goes to the portal alone
    )
    try:
        await process.give(data)  # it reads all of it before it writes
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()  # it ends the indexer first
            await asyncio.shield(process.wait())
    if process.returncode:
        return Result(f"{order.indexer}: comparing it ended with code {process.returncode}")
    return await asyncio.to_thread(msgspec.msgpack.decode, said, type=Result)


async def _done(order: Order) -> Result:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    indexer = next(each for each in INDEXERS if each.name == order.indexer)
    files = {path: inflated(text) for path, text in order.texts.items()}
    outcome = await run(indexer, {**order.manifests, **files}, limit=order.limit)
    if outcome.problem:
        return Result(outcome.problem)
    ours = [
        Edge(EDGE_KINDS[kind], source, target, "", 0, Strategy.SYNTAX)
        for source, kind, target in order.edges
    ]
    found = united(order.entities, ours, outcome.documents, files)
    agreed = found.agreement
    rows = merged_edges(found.edges)
    return Result("", rows, agreed.both, agreed.differ, agreed.missed)


def main() -> None:
    """Carry out the order from standard input."""
    order = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Order)
    sys.stdout.buffer.write(msgspec.msgpack.encode(asyncio.run(_done(order))))


if __name__ == "__main__":
    main()
