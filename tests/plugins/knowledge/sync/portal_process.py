"""Portals that follow a branch, each in a process of its own, to be ended at any moment.

As a program, with a data directory and the address of a GitHub as its arguments, it takes a line of
JSON for each process: ``{"push": a delivery, "leave": whether it ends once all is served}``. The
process says ``open`` and ``served``; one that leaves says then what it serves and where that
differs from its source.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.contract import Tier
from gateway.repositories import Retry
from gateway.services import Services
from gateway.testing import open_test_portal
from plugins.knowledge import opening, plugin
from plugins.knowledge.notes.documents import STATED_BY_SYNC
from plugins.knowledge.sync import build, follower, handle
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder
from tests.plugins.knowledge.sync.branch import NAME
from tests.plugins.knowledge.sync.test_pushes import SECRET, push

SINGLE = 6
"""Notes that are fetched one by one; more come as one tarball, as they do beyond fifty."""


async def portal(data: Path, url: str, order: dict[str, Any], say: Any) -> None:
    """Open a portal, deliver the push to it, and say when all of it is served."""
    found: list[handle.KnowledgeHandle] = []
    opened = handle.open_handle

    def noted(*args: Any) -> Any:
        return _Noted(opened(*args), found)

    setattr(opening, "open_handle", noted)  # noqa: B010  (its type is another)
    section = {
        "sources": [{"github": NAME}],
        "github": {"api_url": url, "webhook_secret": "env:KNOWLEDGE_HOOK"},
        "memory": {"enabled": False},
        "schedule": "* * * * * *",
    }
    config = {"plugins": {"knowledge": section}}
    async with open_test_portal(
        plugin, config=config, data_dir=data, wait_ready=False, schedules=True
    ) as served:
        say("open")
        await push(served, os.urandom(8).hex(), order["push"])
        [one] = found
        while not await _is_served(one, order["push"]["after"]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        say("served")
        if not order["leave"]:
            await asyncio.Event().wait()
        # What an earlier job fetched of a commit that was overtaken goes at the next look.
        while await _has_leftovers(one):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        say(json.dumps(await _told(one)))


async def _is_served(one: handle.KnowledgeHandle, commit: str) -> bool:
    follower = one.followers[0]
    done = follower.source.listing.commit == commit and not follower.is_busy
    return done and one.sync.status.ready and not one.sync.status.error and not follower.error


async def _has_leftovers(one: handle.KnowledgeHandle) -> bool:
    differences = (await one.repair.verify()).differences
    return any(each.kind == "fetched" for each in differences)


async def _told(one: handle.KnowledgeHandle) -> dict[str, Any]:
    """The documents, the points, and every difference."""
    store = one.knowledge.store
    keys = [entry.key for entry in store.entries(Tier.MEMBERS)]
    documents = [each for each in await store.documents(keys, Tier.MEMBERS) if each]
    written = set(STATED_BY_SYNC)
    stock = await one.knowledge.index.stock()
    return {
        "documents": {
            each.key: each.model_dump(mode="json", exclude=written) for each in documents
        },
        "points": {id: mark for points in stock.points.values() for id, mark in points.items()},
        "vectors": {key: sorted(texts) for key, texts in (stock.kept or {}).items()},
        "differences": [str(each) for each in (await one.repair.verify()).differences],
    }


class _Noted:
    """The parts of a knowledge base, noted as the plugin opens it."""

    def __init__(self, opened: Any, found: list[handle.KnowledgeHandle]) -> None:
        self._opened = opened
        self._found = found

    async def __aenter__(self) -> handle.KnowledgeHandle:
        self._found.append(await self._opened.__aenter__())
        return self._found[-1]

    async def __aexit__(self, *error: object) -> Any:
        return await self._opened.__aexit__(*error)


def _needed(url: str) -> list[str]:
    """The modules that a portal imports late, so that each process has them from the beginning."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        with contextlib.suppress(Exception), tempfile.TemporaryDirectory() as data:
            nothing = {"push": {"after": "none"}, "leave": False}
            asyncio.run(asyncio.wait_for(portal(Path(data), url, nothing, lambda line: None), 3))
        with os.fdopen(writing, "w") as told:
            told.write("\n".join(sys.modules))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        modules = told.read().split("\n")
    os.wait()
    return [module for module in modules if module not in sys.modules]


def main() -> None:
    """Begin processes until the input ends."""
    data, url = Path(sys.argv[1]), sys.argv[2]
    os.environ["KNOWLEDGE_HOOK"] = SECRET
    follower.MAX_SINGLE_FETCHES = SINGLE
    build.DEFAULT_RETRY = Retry(retries=1, first_s=0.0, timeout_s=10.0)
    shares = Services.for_plugin
    Services.for_plugin = lambda self, name: replace(  # type: ignore[method-assign]
        shares(self, name), embedder=WordEmbedder()
    )
    answers = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)

    def say(line: str) -> None:
        answers.write(line + "\n")
        answers.flush()

    for module in _needed(url):
        with contextlib.suppress(Exception):  # some can only be imported by others
            importlib.import_module(module)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            asyncio.run(portal(data, url, json.loads(line), say))
            os._exit(0)
        say(str(child))
        _, status = os.waitpid(child, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
