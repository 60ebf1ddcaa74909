"""A playbook of 10,000 workflows in a database, and those who serve it.

``python -m benchmarks.playbook portal PLACE PORT`` serves it with Porch; ``constant PLACE PORT`` is
a bare server of the official SDK that sends the answers put in that place.

The workflows are named after tldr pages. The model reads some of them; the vectors of the others
are mixtures of theirs, since embedding all would take longer than everything that is measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auth.stores import utc_now
from auth.tiers import Tier
from benchmarks.members import wallet
from benchmarks.peers import hosted, serve_peer, serve_portal
from gateway.assembly import open_portal
from gateway.config.portal import load_portal

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract import Database, Embedder, Host
    from gateway.contract.services import Matrix, Vector

WORKFLOWS = 10_000
EMBEDDED = 200
"""Workflows whose text the model reads."""
PROMPTS = 100
"""Mini-prompts that the workflows use, two each."""
TOOLS = ("get_available_workflows", "select_workflow", "add_workflow")
_BULK = 2_000
_TIERS = """\
default: open
access: {public: {any_of: [signed_in]}}
items: {workflows/add_*: public, workflows/publish: public}
"""


def configure(place: Path, database: str, embedding: str) -> None:
    """Write the configuration of a portal that serves a playbook.

    Args:
        place: the portal's directory.
        database: the address of its database.
        embedding: ``embedded``, or ``none`` for search by words.
    """
    config = place / "config"
    config.mkdir(parents=True)
    (config / "tiers.yaml").write_text(_TIERS)
    services = {"database": database, "embedding": embedding}
    # JSON is YAML.
    (config / "portal.yaml").write_text(
        json.dumps({"services": services, "plugins": {"workflows": {"starter": False}}})
    )


async def filled(place: Path, sets: Path) -> str:
    """Put the workflows into the database of a portal that does not run, in bulk.

    Args:
        place: the portal's directory.
        sets: the directory of data sets.

    Returns:
        An API token of somebody who has signed in.
    """
    portal = load_portal(place / "config")
    async with open_portal(portal, place / "data", modules=[remembering()]) as running:
        services = running.services
        if services.embedder is None:
            raise RuntimeError("The embedded model is missing: " + " ".join(services.notices))
        found = pages(sets)
        texts = [_text(number, *page) for number, page in enumerate(found)]
        vectors = mixed(await services.embedder.passages(texts[:EMBEDDED]), len(found))
        async with services.for_plugin("workflows").database.begin() as connection:
            for table, rows in _rows(found, texts, vectors, services.embedder.model).items():
                await _inserted(connection, table, rows)
        who = running.authentication
        person = await who.accounts.sign_in(wallet(1))
        expires = utc_now() + timedelta(days=1)
        _, token = await who.api_tokens.create(
            person.id, "benchmark", ceiling=Tier.PUBLIC, expires=expires
        )
        return token


def pages(sets: Path) -> list[tuple[str, str]]:
    """Names and descriptions of workflows, after real pages."""
    file = sets / "scale-tldr" / "pages.jsonl"
    texts = [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()]
    found = []
    for number in islice(count(), WORKFLOWS):
        title, _, rest = texts[number % len(texts)].partition("\n")
        about = " ".join(line[2:] for line in rest.splitlines() if line.startswith("> "))
        name = title.removeprefix("# ").strip()[:80]
        found.append((f"Work with {name} {number}", about[:300] or name))
    return found


def _text(number: int, name: str, description: str) -> str:
    """What search reads of a workflow."""
    from plugins.workflows.inputs import StageDraft, WorkflowDraft
    from plugins.workflows.store.item_texts import workflow_text

    stages = (StageDraft(name="Work"),)
    return workflow_text(
        WorkflowDraft(name=name, description=description, tags=(_tag(number),), stages=stages)
    )


def _tag(number: int) -> str:
    return f"topic-{number % 40}"


def mixed(real: Matrix, wanted: int) -> Matrix:
    """As many vectors as are wanted: the real ones first, then mixtures of two of them."""
    import numpy as np

    chance = np.random.default_rng(1)
    missing = wanted - len(real)
    one, other = chance.integers(0, len(real), (2, missing))
    noise = chance.normal(0, 0.02, (missing, real.shape[1]))
    made = real[one] + chance.uniform(0, 1, (missing, 1)) * real[other] + noise
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return np.concatenate([real, made]).astype("<f4")


def _rows(
    pages: Sequence[tuple[str, str]], texts: Sequence[str], vectors: Matrix, model: str
) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, in an order in which they can be inserted."""
    now = utc_now()
    common = {"owner": "portal", "visibility": "PUBLIC", "version": 1}
    common |= {"created": now, "updated": now, "author": "Benchmark"}
    ids = [f"workflow{number:012d}" for number in range(len(pages))]
    prompts = [f"prompt{number:014d}" for number in range(PROMPTS)]
    return {
        "mini_prompts": [
            {"id": id, "key": id, "name": id, "content": f"Do {id}." * 20, **common}
            | {"stand_alone": True}
            for id in prompts
        ],
        "workflows": [
            {"id": id, "key": id, "name": name, "description": description, **common}
            | {"complexity": "SML"[number % 3], "include_multi_agent_chat": False, "extra": {}}
            for number, (id, (name, description)) in enumerate(zip(ids, pages, strict=True))
        ],
        "stages": [
            {"id": f"s-{id}", "workflow": id, "position": 0, "name": "Work", "with_review": False}
            | {"extra": {}}
            for id in ids
        ],
        "stage_mini_prompts": [
            {"stage": f"s-{id}", "position": position, "extra": {}}
            | {"mini_prompt": prompts[(number + position) % PROMPTS]}
            for number, id in enumerate(ids)
            for position in range(2)
        ],
        "workflow_tags": [{"workflow": id, "tag": _tag(number)} for number, id in enumerate(ids)],
        "workflow_embeddings": [
            {"workflow": id, "text": text, "model": model, "vector": vector.tobytes()}
            | {"stamp": number}
            for number, (id, text, vector) in enumerate(zip(ids, texts, vectors, strict=True), 1)
        ],
        "counters": [{"name": "stamp", "value": len(ids)}],
    }


async def _inserted(
    connection: AsyncConnection, table: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    from sqlalchemy import insert

    from plugins.workflows.store import tables

    for first in range(0, len(rows), _BULK):
        await connection.execute(
            insert(tables.metadata.tables[f"playbook_{table}"]), rows[first : first + _BULK]
        )


async def bare(database: Database, rounds: int) -> tuple[list[float], list[float]]:
    """How long the database alone takes: milliseconds of so many reads and writes of one row.

    Args:
        database: that of a portal that does not run, with a playbook in it.
        rounds: how many of each.

    Returns:
        Of a ``SELECT`` by primary key, each on a connection of the pool, as the tools read; and
        of an ``INSERT`` in a transaction of its own.
    """
    from time import perf_counter

    from sqlalchemy import insert, select

    from plugins.workflows.store.tables import notes, workflows

    reads, writes = [], []
    for number in range(rounds):
        begun = perf_counter()
        async with database.read() as connection:
            wanted = workflows.c.id == f"workflow{number:012d}"
            (await connection.execute(select(workflows.c.version).where(wanted))).one()
        read = perf_counter()
        async with database.begin() as connection:
            await connection.execute(insert(notes).values(name=f"bench-{number}", value=""))
        reads.append((read - begun) * 1000)
        writes.append((perf_counter() - read) * 1000)
    return reads, writes


class Remembered:
    """A model that embeds each question once, so that a search is timed without it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: dict[str, Vector] = {}
        self.model, self.dimensions = embedder.model, embedder.dimensions

    async def passages(self, texts: Sequence[str]) -> Matrix:
        return await self._embedder.passages(texts)

    async def query(self, text: str) -> Vector:
        if text not in self._asked:
            self._asked[text] = await self._embedder.query(text)
        return self._asked[text]


def remembering() -> Any:
    """The plugin's module, but that its model remembers the questions that it has embedded."""
    from gateway.contract import Plugin, hookimpl
    from plugins.workflows import plugin

    real = plugin.porch_plugin()

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Any]:
        embedder = host.embedder and Remembered(host.embedder)
        async with real.open(config, replace(host, embedder=embedder)) as offer:
            yield offer

    class Module:
        @staticmethod
        @hookimpl
        def porch_plugin() -> Plugin:
            return replace(real, open=opened)

    return Module()


def constant(place: Path) -> Any:
    """A bare server that answers each tool with what lies in a place: results, by the tools' names.

    Args:
        place: holds ``TOOL.json`` for some of :data:`TOOLS`.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server

    results = {
        file.stem: types.CallToolResult.model_validate(json.loads(file.read_bytes()))
        for file in place.glob("*.json")
    }

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return results[params.name]

    return hosted(Server("constant", on_call_tool=call_tool), as_json=True)


def main() -> None:
    """Serve what the command line says."""
    what, place, port = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    if what == "constant":
        serve_peer(constant(place), port)
    else:
        serve_portal(place, port, remembering())


if __name__ == "__main__":
    main()
