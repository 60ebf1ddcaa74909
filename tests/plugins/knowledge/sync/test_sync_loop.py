"""What is served follows the files, and health tells how it goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
import structlog

from gateway.contract import Change, Health, Host
from gateway.services.cache.memory import MemoryCache
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.sync import sync_loop
from plugins.knowledge.sync.sources import DirectorySource
from plugins.knowledge.sync.sync_loop import SyncLoop
from tests.plugins.knowledge.sync.later import let_a_day_pass

DEADLINE = 60.0


class Kept:
    """A library with its keeper, and what it told the clients."""

    def __init__(self, library: Any, *, wait_ready: bool = False) -> None:
        self.library = library
        self.changes: list[Change] = []
        host = SimpleNamespace(
            plugin="knowledge",
            log=structlog.get_logger(),
            changed=self.changes.append,
            cache=MemoryCache(),
            embedder=None,
            wait_ready=wait_ready,
        )
        source = DirectorySource(SourceConfig(directory=library.notes), {}, 10**6)
        self.host = host
        self.sync_loop = SyncLoop(
            cast(Host, host), library.store, library.syncing, [source], "town"
        )

    async def health(self) -> Health:
        return await self.sync_loop.health()


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            if await true():
                return
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(library: Any) -> AsyncGenerator[Kept]:
    kept = Kept(library)
    async with kept.sync_loop.running():

        async def ready() -> bool:
            return (await kept.health()).state == "ok"

        await until(ready)
        yield kept


async def serves(library: Any, *keys: str) -> None:
    async def as_wanted() -> bool:
        return bool(library.keys == list(keys))

    await until(as_wanted)


async def test_every_kind_of_change_is_followed(library: Any) -> None:
    library.note("tags/dao.md")
    async with running(library) as kept:
        assert library.keys == ["tag/dao"]
        library.note("tags/new/deep/hat.md")
        await serves(library, "tag/dao", "tag/hat")
        library.note("tags/dao.md", publish="false")
        await serves(library, "tag/hat")
        (library.notes / "tags").rename(library.notes / "links")
        await serves(library, "link/hat")
        library.delete("links/new/deep/hat.md")
        await serves(library)
    assert {change.uri for change in kept.changes} == {
        "mcp://town/data/groups",
        "mcp://town/data/releases",
        "mcp://town/documents/tag/dao",
        "mcp://town/documents/tag/hat",
        "mcp://town/documents/link/hat",
    }


async def test_an_edit_is_followed(library: Any) -> None:
    library.note("tags/dao.md", title="Old")
    async with running(library):
        library.note("tags/dao.md", title="New")

        async def is_new() -> bool:
            return bool((await library.document("tag/dao")).title == "New")

        await until(is_new)
        await library.agrees()


async def test_what_expires_is_served_no_more_though_no_file_changes(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_loop, "POLL_INTERVAL_S", 0.1)
    soon = datetime.now(UTC) + timedelta(hours=1)
    library.note("notes/a.md", expiryDate=soon.isoformat())
    async with running(library):
        await serves(library, "file/a")
        let_a_day_pass(monkeypatch)
        await serves(library)


async def test_a_directory_that_comes_late_is_served(library: Any) -> None:
    library.note("tags/dao.md")
    away = library.notes.rename(library.notes.parent / "away")
    kept = Kept(library)
    async with kept.sync_loop.running():

        async def failed() -> bool:
            return (await kept.health()).state == "failed"

        await until(failed)
        assert (await kept.health()).detail == (
            f"The notes cannot be listed ({library.notes}: No such file or directory). The "
            "portal's admin makes the directory readable, or names another under "
            "plugins.knowledge.sources in portal.yaml."
        )
        away.rename(library.notes)
        await serves(library, "tag/dao")
        await until(lambda: _is(kept, "ok"))


async def _is(kept: Kept, state: str) -> bool:
    return (await kept.health()).state == state


async def test_a_source_that_goes_away_leaves_its_documents_and_degrades(library: Any) -> None:
    library.note("tags/dao.md")
    async with running(library) as kept:
        library.notes.rename(library.notes.parent / "away")
        await until(lambda: _is(kept, "degraded"))
        detail = (await kept.health()).detail
        assert "1 documents of the last sync are served" in detail
        assert ".." not in detail
        assert library.keys == ["tag/dao"]


async def test_one_shot_calls_find_everything_ready(library: Any) -> None:
    library.note("tags/dao.md")
    kept = Kept(library, wait_ready=True)
    assert (await kept.health()).state == "starting"
    async with kept.sync_loop.running():
        assert library.keys == ["tag/dao"]
        assert (await kept.health()).facts["documents"] == 1


async def test_a_portal_whose_index_of_before_answers_is_ready_meanwhile(library: Any) -> None:
    library.note("tags/dao.md")
    kept = Kept(library, wait_ready=True)
    async with kept.sync_loop.running():
        assert (await kept.health()).state == "ok"
    library.syncing.status.ready = False
    assert (await kept.health()).state == "starting"
    library.syncing.index.has_stand_in = True
    health = await kept.health()
    assert (health.state, health.detail) == (
        "ok",
        "Until all are in, the index of the model before answers.",
    )
    assert await kept.sync_loop.sync_once()
    assert (await kept.health()).detail == ""


async def test_notes_that_cannot_be_served_degrade_and_are_named(library: Any) -> None:
    library.note("tags/dao.md")
    library.write("tags/bad.md", "---\npublish: true\na: [\n---\n")
    kept = Kept(library, wait_ready=True)
    async with kept.sync_loop.running():
        health = await kept.health()
    assert health.state == "degraded"
    assert "porch knowledge check" in health.detail
    assert health.facts["problems"][0].startswith("tags/bad.md:")
    assert "tags/bad.md:" in health.detail


async def test_two_files_with_one_id_are_both_named(library: Any) -> None:
    library.note("tags/a/dao.md")
    library.note("tags/b/dao.md")
    kept = Kept(library, wait_ready=True)
    async with kept.sync_loop.running():
        health = await kept.health()
    assert health.state == "degraded"
    assert "tags/a/dao.md" in health.detail
    assert "tags/b/dao.md" in health.detail


async def test_notes_that_are_not_published_degrade_nothing(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("notes/" + "x" * 236 + ".md", publish=None)
    kept = Kept(library, wait_ready=True)
    async with kept.sync_loop.running():
        health = await kept.health()
    assert (health.state, health.facts["errors"], health.facts["unpublished"]) == ("ok", 0, 1)


async def test_the_admin_is_told_of_documents_that_the_model_cannot_read(library: Any) -> None:
    library.note("notes/a.md", title="\u4f11\u6687\u306e\u7533\u8acb")
    library.note("notes/b.md", title="Leave")
    kept = Kept(library, wait_ready=True)
    async with kept.sync_loop.running():
        assert "advice" not in (await kept.health()).facts
        kept.host.embedder = SimpleNamespace(model="minilm-l6-v2-int8-0")
        health = await kept.health()
        assert (health.state, health.detail) == ("ok", health.facts["advice"])
        told = "documents are in languages that the embedding model cannot read"
        assert health.detail.startswith(f"1 of 2 {told}")
        assert "make multilingual" in health.detail
        library.note("notes/c.md", "Die Tonne ist im Hof, und der Saal ist im Haus.")
        await kept.sync_loop.sync_once()
        assert (await kept.health()).detail.startswith(f"2 of 3 {told}")
        library.delete("notes/a.md")
        library.delete("notes/c.md")
        await kept.sync_loop.sync_once()
        assert "advice" not in (await kept.health()).facts


async def test_an_empty_portal_says_what_a_note_needs(library: Any) -> None:
    library.note("tags/dao.md", publish=None)
    kept = Kept(library, wait_ready=True)
    async with kept.sync_loop.running():
        health = await kept.health()
    assert (health.state, "publish: true" in health.detail) == ("ok", True)
    assert "0 of 1 notes are published" in health.detail
    assert "publish: all" in health.detail


@pytest.mark.parametrize("count", [3, 40])
async def test_the_first_index_is_logged_only_where_it_takes_a_while(
    library: Any, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(count):
        library.note(f"notes/{number}.md")
    async with Kept(library, wait_ready=True).sync_loop.running():
        pass
    assert ("indexing" in capsys.readouterr().out) == (count > 10)
