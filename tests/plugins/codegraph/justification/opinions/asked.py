"""The shop in a portal whose models follow rules: what they are asked, and what they answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.justification.opinions.runs import Run, Runs
from plugins.codegraph.offer import now
from tests.plugins.codegraph.justification.shops import SHOP
from tests.servers.openai_compatible import OpenAICompatible, Reply

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
PRICE = {"input": 1, "output": 2}


def written(tree: Path, files: Mapping[str, bytes] = SHOP) -> Path:
    """A working tree of a few files."""
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(text)
    return tree


def context_of(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a request asks about; None where it asks about something else."""
    for message in body["messages"]:
        text = message.get("content")
        if message["role"] == "user" and isinstance(text, str) and text.startswith("{"):
            found = json.loads(text.partition("\n\nThe code contradicts")[0])
            return dict(found) if "knownFeatures" in found else None
    return None


def honest(entity: Mapping[str, Any]) -> dict[str, Any]:
    """An answer that nothing contradicts."""
    return {
        "entity": entity["entity"],
        "type": "VERTICAL",
        "featureArea": "Ordering",
        "purpose": f"{entity['name']} as a model sees it.",
        "businessValue": "Customers get what they have ordered.",
        "confidence": 0.95,
    }


def answering(server: OpenAICompatible, answer: Answer = honest) -> OpenAICompatible:
    """Have a server answer about code."""

    def rule(body: Mapping[str, Any]) -> Reply | None:
        context = context_of(body)
        if context is None:
            return None
        return Reply({"entities": [dict(answer(each)) for each in context["entities"]]})

    return server.rule(rule)


def questions(server: OpenAICompatible) -> list[list[str]]:
    """The names that were asked about, question by question."""
    contexts = [context_of(each.body) for each in server.asked]
    return [[str(each["name"]) for each in one["entities"]] for one in contexts if one]


def config(tree: Path, server: OpenAICompatible | None, **rules: bool) -> dict[str, Any]:
    """The configuration of a portal with the tree, and the server as its models."""
    section = {"repositories": [{"path": str(tree)}], "justification": rules}
    found: dict[str, Any] = {"plugins": {"codegraph": section}}
    if server is not None:
        prices = {"small": PRICE, "large": PRICE}
        provider = {"kind": "compatible", "url": server.url, "prices": prices}
        roles = {"simple": "test/small", "complex": "test/large"}
        found["services"] = {"models": {"providers": {"test": provider}, **roles}}
    return found


@asynccontextmanager
async def asked_shop(
    tree: Path, server: OpenAICompatible | None, **rules: bool
) -> AsyncIterator[tuple[TestPortal, Runs]]:
    """A portal over the tree, justified from facts."""
    made = config(tree, server, **rules)
    async with open_test_portal(plugin, config=made, wait_ready=False) as portal:
        await context(portal, "connect", lambda found: bool(found))
        host = portal.running.plugins.host("codegraph")
        yield portal, Runs(host.database, now)


async def context(
    portal: TestPortal, name: str, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """What is said of a function, as soon as it is as wanted."""
    async with asyncio.timeout(90):
        while True:
            found = await portal.call("get_business_context", {"name": name})
            if not found.is_error and wanted(dict(found.structured)):
                return dict(found.structured)
            await asyncio.sleep(0.1)


async def begun(portal: TestPortal, runs: Runs, *, everything: bool = False) -> str:
    """Begin a run; gives the repository's id."""
    host = portal.running.plugins.host("codegraph")
    from sqlalchemy import select

    from plugins.codegraph.store.tables import repositories

    async with host.database.read() as connection:
        found = (await connection.execute(select(repositories.c.org, repositories.c.id))).one()
    await runs.request(found.org, found.id, everything=everything)
    return str(found.id)


async def until(runs: Runs, repo: str, state: str) -> Run:
    """The run, as soon as it is in a state."""
    async with asyncio.timeout(120):
        while True:
            found = await runs.of(repo)
            if found is not None and found.state == state:
                return found
            await asyncio.sleep(0.1)
