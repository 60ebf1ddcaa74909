"""The whole plugin over real services: what a caller finds after each change to the notes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from auth import ANONYMOUS, Caller, Tier
from gateway.config.portal_keys import Services as ServicesConfig
from gateway.contract import Offer, Tool
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.plugin import open_knowledge, porch_plugin
from plugins.knowledge.retrieval.index import Index

DEADLINE = 60.0
MEMBER = Caller(person="token:test", tier=Tier.MEMBERS)
COUNT = 120


@asynccontextmanager
async def opened(library: Any, *, wait_ready: bool = True) -> AsyncGenerator[Offer]:
    """The plugin over ``library``, without a model, on services in a directory beside it."""
    data = library.notes.parent / "data"
    async with open_services(ServicesConfig(embedding="none"), data) as services:
        shares = services.for_plugin("knowledge")
        host = make_host(shares, "knowledge", "Town", wait_ready=wait_ready)
        config = KnowledgeConfig.model_validate({"sources": [{"directory": library.notes}]})
        async with open_knowledge(config, host) as offer:
            yield offer


async def found(offer: Offer, query: str, caller: Caller = ANONYMOUS) -> list[str]:
    [tool] = [tool for tool in offer.tools if tool.name == "search_knowledge"]
    assert tool.args is not None
    result = await tool.run(tool.args(query=query), caller)
    return [f"{one.content_type}/{one.id}" for one in result.results]


async def until_found(offer: Offer, query: str, keys: list[str]) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            if await found(offer, query) == keys:
                return
            await asyncio.sleep(0.02)


def fill(library: Any) -> None:
    for number in range(COUNT):
        library.note(f"notes/n{number}.md", body=f"The word zyx{number}x stands here.")


async def test_an_edit_is_searchable_and_a_withdrawn_note_is_not(library: Any) -> None:
    library.note("tags/dao.md", body="An organisation called marmalade.")
    async with opened(library, wait_ready=False) as offer:
        await until_found(offer, "marmalade", ["tag/dao"])
        library.note("tags/dao.md", body="An organisation called blancmange.")
        await until_found(offer, "blancmange", ["tag/dao"])
        assert await found(offer, "marmalade") == []
        library.note("tags/dao.md", body="An organisation called blancmange.", publish="false")
        await until_found(offer, "blancmange", [])


async def until_noted(search: Tool, text: str, *, said: bool) -> None:
    assert search.args is not None
    async with asyncio.timeout(DEADLINE):
        while True:
            found = await search.run(search.args(query="zyx1x"), ANONYMOUS)
            if (text in (found.note or "")) == said:
                return
            await asyncio.sleep(0.02)


async def test_answers_say_while_only_a_part_is_indexed(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(library)
    rest, replace = asyncio.Event(), Index.replace
    batches: list[int] = []

    async def halting(index: Index, documents: Sequence[Document], found: Any) -> None:
        if batches:
            await rest.wait()
        batches.append(len(documents))
        await replace(index, documents, found)

    monkeypatch.setattr(Index, "replace", halting)
    async with opened(library, wait_ready=False) as offer:
        search, define = (
            next(tool for tool in offer.tools if tool.name == name)
            for name in ("search_knowledge", "define_term")
        )
        await until_noted(search, "32 of 120 documents so far", said=True)
        assert define.args is not None
        said = (await define.run(define.args(term="anything"), ANONYMOUS)).message
        assert "32 of 120 documents so far" in said
        rest.set()
        await until_found(offer, f"zyx{COUNT - 1}x", [f"file/n{COUNT - 1}"])
        await until_noted(search, "so far", said=False)


async def test_a_note_of_a_higher_tier_is_found_by_those_who_may(library: Any) -> None:
    library.note("notes/secret.md", body="The word marmalade.", tier="members")
    async with opened(library) as offer:
        assert await found(offer, "marmalade") == []
        assert await found(offer, "marmalade", MEMBER) == ["file/secret"]


async def test_killed_while_indexing_the_next_start_serves_everything_once(library: Any) -> None:
    fill(library)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        Path(__file__),
        library.notes.parent,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    content = library.notes.parent / "data/objects/knowledge/content/file"
    async with asyncio.timeout(DEADLINE):
        while not (content.is_dir() and any(content.iterdir())):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    async with opened(library) as offer:
        for number in range(COUNT):
            assert await found(offer, f"zyx{number}x") == [f"file/n{number}"]
        health = await offer.health()
        assert (health.state, health.facts["documents"]) == ("ok", COUNT)


async def test_a_second_start_is_ready_at_once(library: Any) -> None:
    fill(library)
    async with opened(library):
        pass
    stored = library.notes.parent / "data/objects"
    before = {path: path.stat().st_mtime_ns for path in stored.rglob("*")}
    async with opened(library) as offer:
        assert await found(offer, "zyx7x") == ["file/n7"]
    assert {path: path.stat().st_mtime_ns for path in stored.rglob("*")} == before


def test_the_declaration_does_nothing_yet() -> None:
    plugin = porch_plugin()
    assert (plugin.name, plugin.config, len(plugin.commands)) == ("knowledge", KnowledgeConfig, 4)


async def _index_until_killed(root: Path) -> None:
    from tests.plugins.knowledge.conftest import Library

    async with opened(Library(root)):
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(_index_until_killed(Path(sys.argv[1])))
