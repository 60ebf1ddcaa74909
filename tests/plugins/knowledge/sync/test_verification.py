"""Whatever is done to store and index, a verification names it, and a repair mends it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gateway.contract import Caller, Condition, Host, Objects, Tier
from gateway.plugin_host import make_host
from gateway.repositories import Retry
from gateway.services import open_services
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.notes.ids import MANIFEST_KEY
from plugins.knowledge.sync.handle import KnowledgeHandle, open_handle
from plugins.knowledge.sync.manifest_log import ManifestLog
from tests.gateway.scrubbing.fakes import made
from tests.plugins.knowledge.retrieval.conftest import SETTINGS, WordEmbedder
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

TOKEN = made("ghp_{alnum:36}", Random(22))
PAGES = {"documents": True, "publish": ["*.html"]}
QUICK = Retry(retries=0, timeout_s=10.0)
NOTES: dict[str, bytes | None] = {
    "tags/dao.md": note("# One\n\nA long text about the word.\n\n# Two\n\nAnother.", title="DAO"),
    "tags/hat.md": note("Hats."),
    "tags/100%.md": note("A path that a key has to escape."),
    "tags/draft.md": note("Not yet.", draft="true"),
}


@dataclasses.dataclass
class World:
    """A synced knowledge base and everything that it lies in."""

    standing: KnowledgeHandle
    host: Host
    notes: Path | None
    history: History | None
    github: GithubContents

    @property
    def objects(self) -> Objects:
        return self.host.objects

    async def verified(self, *, repair: bool = False) -> Any:
        return await self.standing.repair.verify(repair=repair)

    async def found(self) -> list[str]:
        return [str(one) for one in (await self.verified()).differences]

    def change(self, path: str, data: bytes | None) -> None:
        """Change a note at its source."""
        if self.history is not None:
            self.history.commit({path: data})
        elif self.notes is not None and data is not None:
            (self.notes / path).write_bytes(data)
        elif self.notes is not None:
            (self.notes / path).unlink()


@pytest.fixture(scope="module")
def github_server() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@asynccontextmanager
async def opened(
    config: dict[str, Any], data: Path
) -> AsyncGenerator[tuple[KnowledgeHandle, Host]]:
    async with open_services(SETTINGS, data) as services:
        shares = replace(services.for_plugin("knowledge"), embedder=WordEmbedder())
        host = make_host(shares, "knowledge", "Test", wait_ready=True)
        async with open_handle(KnowledgeConfig.model_validate(config), host, QUICK) as found:
            yield found, host


@pytest.fixture(params=["directory", "github"])
async def world(
    request: pytest.FixtureRequest, github_server: GithubContents, tmp_path: Path
) -> AsyncGenerator[World]:
    github_server.answers()
    if request.param == "directory":
        history, notes = None, tmp_path / "notes"
        for path, data in NOTES.items():
            (notes / path).parent.mkdir(parents=True, exist_ok=True)
            (notes / path).write_bytes(data or b"")
        config: dict[str, Any] = {"sources": [{"directory": notes, **PAGES}]}
    else:
        history, notes = History.begun(tmp_path / "kb"), None
        github_server.repos[NAME] = Repo(history.directory, history=history)
        history.commit(NOTES)
        config = {"sources": [{"github": NAME, **PAGES}], "github": {"api_url": github_server.url}}
    async with opened(config, tmp_path / "data") as (found, host):
        assert await found.sync_loop.sync_all() == []
        yield World(found, host, notes, history, github_server)


async def test_what_was_just_synced_is_the_same_everywhere(world: World) -> None:
    done = await world.verified()
    assert (done.documents, done.differences) == (3, [])


async def gone(world: World) -> None:
    await world.objects.delete("content/tag/dao.json")


async def altered(world: World) -> None:
    data = json.loads(await world.objects.get("content/tag/dao.json") or b"")
    await world.objects.put(
        "content/tag/dao.json", json.dumps(data | {"content": "Forged."}).encode()
    )


async def raised(world: World) -> None:
    data = json.loads(await world.objects.get("content/tag/dao.json") or b"")
    await world.objects.put("content/tag/dao.json", json.dumps(data | {"tier": "members"}).encode())


async def cut(world: World) -> None:
    await world.objects.put("content/tag/dao.json", b'{"id": "da')


async def foreign(world: World) -> None:
    data = await world.objects.get("content/tag/hat.json")
    await world.objects.put("content/tag/stray.json", data or b"")


async def raw_gone(world: World) -> None:
    await world.objects.delete("raw/tags/dao.md")


async def raw_altered(world: World) -> None:
    await world.objects.put("raw/tags/dao.md", note("Forged.", title="DAO"))


async def raw_kept(world: World) -> None:
    await world.objects.put("raw/tags/draft.md", NOTES["tags/draft.md"] or b"")


async def points_gone(world: World) -> None:
    await world.standing.knowledge.index.collection.delete(
        [Condition("key", any_of=("tag/dao",)), Condition("ordinal", at_least=1)]
    )


async def points_stale(world: World) -> None:
    dao = await world.standing.knowledge.store.document("tag/dao", Tier.MEMBERS)
    assert dao is not None
    metadata = dao.metadata.model_copy(update={"title": "Another"})
    await _indexed(world, dao.model_copy(update={"metadata": metadata}))


async def points_left(world: World) -> None:
    hat = await world.standing.knowledge.store.document("tag/hat", Tier.MEMBERS)
    assert hat is not None
    await _indexed(world, hat.model_copy(update={"id": "ghost"}))


async def manifest_gone(world: World) -> None:
    await world.objects.delete(MANIFEST_KEY)


async def manifest_cut(world: World) -> None:
    await world.objects.put(MANIFEST_KEY, b"{")


async def manifest_of_another(world: World) -> None:
    manifest = await ManifestLog(world.objects).read()
    assert manifest is not None
    await ManifestLog(world.objects).write(manifest.model_copy(update={"index": "another"}))
    world.standing.sync.own.unlink()


async def leftovers(world: World) -> None:
    await world.objects.put("fetched/0123/abcd.md", b"Fetched.")


async def listing_of_nothing(world: World) -> None:
    await world.objects.put("sources/0123.json", b"{}")


async def _indexed(world: World, document: Any) -> None:
    await world.standing.knowledge.index.replace([document])
    await world.standing.knowledge.index.finish()


async def test_what_agents_remember_is_no_difference_and_stays(world: World) -> None:
    """Its vectors are kept in the same table, and a repair must not take them."""
    async with Memory.opened(world.host, world.standing.knowledge, Roles()) as memory:
        ana = Caller("person:ana", Tier.MEMBERS)
        asked = {"entry": {"content": "Hats hang in the hall."}}
        entry = (await memory.entries.create(CreateRequest.model_validate(asked), ana)).entry
        assert await world.found() == []
        await world.verified(repair=True)
        record = await memory.reader.entry(entry.id, ana)
        assert memory.entries.vectors is not None
        assert list(await memory.entries.vectors.kept.of([record])) == [entry.id]


Damage = Callable[[World], Awaitable[None]]


@pytest.mark.parametrize(
    ("damage", "lines"),
    [
        (gone, ["document tag/dao (tags/dao.md): missing"]),
        (altered, ["document tag/dao (tags/dao.md): altered"]),
        (raised, ["document tag/dao (tags/dao.md): altered"]),
        (cut, ["document tag/dao (tags/dao.md): damaged"]),
        (foreign, ["document tag/stray: nothing is served from it"]),
        (raw_gone, ["original tag/dao (tags/dao.md): missing"]),
        (raw_altered, ["original tag/dao (tags/dao.md): altered"]),
        (raw_kept, ["original tags/draft.md: its note is not served"]),
        (points_gone, ["index tag/dao (tags/dao.md): 1 of 2 points missing"]),
        (
            points_stale,
            [
                "index tag/dao (tags/dao.md): 2 of 2 points of an older or altered text",
                "index tag/dao (tags/dao.md): kept vectors: 2 missing, 2 too many",
            ],
        ),
        (
            points_left,
            [
                "index tag/ghost: 2 kept vectors of no document that is served",
                "index tag/ghost: 2 points of no document that is served",
            ],
        ),
        (manifest_gone, ["manifest: lost or damaged; every note is read again"]),
        (manifest_cut, ["manifest: lost or damaged; every note is read again"]),
        (
            manifest_of_another,
            ["manifest: speaks of another index; every document is indexed again"],
        ),
        (leftovers, ["fetched fetched/0123/abcd.md: left over from a sync that was broken off"]),
        (
            listing_of_nothing,
            ["listing sources/0123.json: no source that is configured has it"],
        ),
    ],
)
async def test_each_damage_is_named_in_a_line_and_mended(
    world: World, damage: Damage, lines: list[str]
) -> None:
    before = await kept(world)
    await damage(world)
    assert await world.found() == lines
    done = await world.verified(repair=True)
    assert done.differences == []
    assert [str(one) for one in done.mended] == lines
    assert await kept(world) == before
    assert await world.found() == []


async def kept(world: World) -> set[str]:
    """The keys of all objects, without what has changed since the manifest was written whole."""
    keys = {info.key async for info in world.objects.list()}
    return {key for key in keys if not key.startswith("metadata/manifest/")}


@pytest.mark.parametrize("world", ["github"], indirect=True)
async def test_what_is_fetched_for_another_process_is_left_over_an_hour_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = world.standing.followers[0].source
    key = f"{source.fetched_prefix}{'5' * 40}.md"
    await world.objects.put(key, b"Fetched.")
    assert await world.found() == []
    await world.verified(repair=True)
    assert await world.objects.get(key) is not None
    monkeypatch.setattr("plugins.knowledge.sync.github.FETCHED_KEPT", timedelta(0))
    assert await world.found() == [f"fetched {key}: left over from a sync that was broken off"]
    await world.verified(repair=True)
    assert await world.objects.get(key) is None


async def test_all_of_it_at_once_is_mended_too(world: World) -> None:
    for damage in (gone, foreign, raw_kept, points_left, leftovers, listing_of_nothing):
        await damage(world)
    assert len(await world.found()) == 7
    done = await world.verified(repair=True)
    assert (len(done.mended), done.differences) == (7, [])


async def test_a_document_whose_note_is_broken_by_now_is_made_of_its_original(
    world: World,
) -> None:
    world.change("tags/dao.md", b"---\na: [\n---\n")
    await world.standing.sync_loop.sync_all()
    await altered(world)
    assert await world.found() == ["document tag/dao (tags/dao.md): altered"]
    done = await world.verified(repair=True)
    assert done.differences == []
    dao = await world.standing.knowledge.store.document("tag/dao", Tier.MEMBERS)
    assert dao is not None
    assert dao.content.startswith("# One")


async def test_what_the_source_says_by_now_is_told_and_served(world: World) -> None:
    world.change("tags/dao.md", note("New.", title="DAO"))
    world.change("tags/hat.md", None)
    lines = await world.found()
    if world.history is not None:
        [line] = lines
        assert line.startswith(f"source {NAME}@main: the branch is at ")
    else:
        assert lines == [
            "source tags/dao.md: changed since it was synced",
            "source tag/hat (tags/hat.md): no longer there, and not synced yet",
        ]
    done = await world.verified(repair=True)
    assert (done.documents, done.differences) == (2, [])


@pytest.mark.parametrize("world", ["github"], indirect=True)
async def test_without_its_source_what_is_here_is_compared_and_mended_all_the_same(
    world: World,
) -> None:
    world.github.failing = 503
    await altered(world)
    away, line = await world.found()
    assert away.startswith(f"source {NAME}@main: cannot be compared: GitHub answers with 503")
    assert line == "document tag/dao (tags/dao.md): altered"
    done = await world.verified(repair=True)
    assert [str(one) for one in done.mended] == [line]
    assert len(done.differences) == 1


async def test_what_secrets_were_taken_out_of_is_compared_without_them(world: World) -> None:
    world.change("tags/keys.md", note(f"The token is {TOKEN}.", title=f"Key {TOKEN}"))
    assert await world.standing.sync_loop.sync_all() == []
    assert await world.found() == []
    raw = await world.objects.get("raw/tags/keys.md") or b""
    assert TOKEN.encode() not in raw
    before = await ManifestLog(world.objects).stamp()
    assert await world.standing.sync_loop.sync_all() == []
    assert await ManifestLog(world.objects).stamp() == before  # a sync of the same changes nothing

    await world.objects.put("raw/tags/keys.md", raw + b"\nForged.")
    assert await world.found() != []
    mended = await world.verified(repair=True)
    assert mended.differences == []
    assert await world.objects.get("raw/tags/keys.md") == raw


async def test_a_note_that_is_no_yaml_with_its_mark_is_served_all_the_same(world: World) -> None:
    world.change("tags/keys.md", note("Hats.", title=f"Key {TOKEN} of ours", description=TOKEN))
    assert await world.standing.sync_loop.sync_all() == []
    kept = await world.objects.get("content/tag/keys.json") or b""
    assert json.loads(kept)["metadata"]["title"] == "Key REDACTED of ours"
    assert json.loads(kept)["metadata"]["description"] == "REDACTED"


async def test_a_document_of_another_form_is_compared_by_what_was_made_of_it(world: World) -> None:
    world.change("tags/page.html", b"<h1>Hats</h1><p>Worn by many.</p>")
    assert await world.standing.sync_loop.sync_all() == []
    assert await world.found() == []
    raw = await world.objects.get("raw/tags/page.html")
    await world.objects.put("raw/tags/page.html", b"# Forged")
    assert await world.found() != []
    assert (await world.verified(repair=True)).differences == []
    assert await world.objects.get("raw/tags/page.html") == raw
