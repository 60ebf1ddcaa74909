"""The same story on every store: what is synced and remembered is found, kept, changed and gone."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.repositories import Retry
from gateway.services.vectors.qdrant import QdrantVectors
from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.memory.store.vectors import stored_name
from plugins.knowledge.memory.upkeep import vector_succession
from plugins.knowledge.retrieval import index
from plugins.knowledge.sync import build, sync_loop
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.plugins.skills_repo.waiting import until
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
API = "/openspec/v1/knowledge"
RAW = ["raw/artifacts/patterns/cell.md", "raw/tags/old.md"]
NOTES = {
    "artifacts/patterns/cell.md": note("A cell decides alone.", title="Cells"),
    "tags/old.md": note("The word marmalade.", title="Old"),
    "tags/draft.md": note("Not for anyone yet.", title="Draft", publish=False),
}


@pytest.fixture(
    params=["embedded", "postgres, s3 and redis", "pgvector", "qdrant client", "qdrant server"]
)
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Mapping[str, str]:
    """The section ``services`` of each kind of portal."""
    if request.param == "postgres, s3 and redis":
        names = {"database": "postgres", "objects": "s3_bucket", "cache": "redis_url"}
        return {name: request.getfixturevalue(fixture) for name, fixture in names.items()}
    if request.param == "pgvector":
        return {"vectors": request.getfixturevalue("pgvector_url")}
    if request.param == "qdrant client":
        monkeypatch.setattr(QdrantVectors, "connect", lambda *_: on_disk(tmp_path / "qdrant"))
        return {"vectors": "http://qdrant.example"}
    if request.param == "qdrant server":
        if url := os.environ.get("QDRANT_URL"):
            return {"vectors": url}
        pytest.skip("QDRANT_URL names no Qdrant server to test against")
    return {}


def on_disk(directory: Path) -> QdrantVectors:
    """Qdrant's own client with its own engine, which needs no server."""
    from qdrant_client import AsyncQdrantClient

    return QdrantVectors(AsyncQdrantClient(path=str(directory)))


@pytest.fixture
def github() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
def history(github: GithubContents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    monkeypatch.setattr(build, "DEFAULT_RETRY", Retry(retries=1, first_s=0.0, timeout_s=10.0))
    begun = History.begun(tmp_path / "kb")
    github.repos[NAME] = Repo(begun.directory, history=begun)
    begun.commit(NOTES)
    return begun


@asynccontextmanager
async def opened(
    github: GithubContents, stores: Mapping[str, str], data: Path
) -> AsyncGenerator[TestPortal]:
    """The portal with the shipped model, which asks GitHub every second what is new."""
    knowledge = {
        "sources": [{"github": NAME}],
        "github": {"api_url": github.url},
        "schedule": "* * * * * *",
    }
    services = {"embedding": "embedded", **stores}
    config = {"services": services, "plugins": {"knowledge": knowledge}}
    tiers = {"items": {"knowledge": "public"}}
    async with open_test_portal(
        plugin, config=config, tiers=tiers, data_dir=data, wait_ready=False, schedules=True
    ) as portal:
        yield portal


async def objects(portal: TestPortal, prefix: str) -> list[str]:
    """The keys of what the plugin keeps."""
    kept = portal.running.services.for_plugin("knowledge").objects
    return sorted([each.key async for each in kept.list(prefix)])


def served(portal: TestPortal, raw: list[str]) -> Callable[[], Awaitable[bool]]:
    """Whether these originals are kept and no others, and what was fetched was taken in."""

    async def done() -> bool:
        return await objects(portal, "raw/") == raw and not await objects(portal, "fetched/")

    return done


async def found(portal: TestPortal, query: str) -> list[str]:
    """The ids of the notes that a search finds."""
    answer = (await portal.call("search_knowledge", {"query": query})).structured
    return [one["id"] for one in answer["results"]]


async def remembered(portal: TestPortal, query: str, tier: str = "ana", **more: Any) -> list[str]:
    """What memory answers, of entries that are no notes."""
    asked = {"query": query, **more}
    answer = await portal.http(tier).post(f"{API}/query", json=asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["metadata"]["layers_failed"] == {}
    entries = [each["entry"] for each in answer.json()["results"]]
    return [each["content"] for each in entries if not each["id"].startswith("note:")]


async def test_what_is_kept_is_found_survives_a_restart_and_goes_when_it_is_taken_back(
    github: GithubContents, history: History, stores: Mapping[str, str], tmp_path: Path
) -> None:
    async with opened(github, stores, tmp_path / "data") as portal:
        await until(served(portal, RAW))
        assert (await found(portal, "marmalade"))[0] == "old"
        assert (await found(portal, "who makes decisions in a small group"))[0] == "cell"
        assert len(await objects(portal, "sources/")) == 2  # the list, and what changed since
        await portal.sign_in("ana")
        await portal.sign_in("ben")
        made = await portal.call("remember", {"content": "Beans climb poles."}, tier="ana")
        assert not made.is_error, made.text
        kept = made.structured["id"]
        change = {"entry": {"content": "Beans climb strings.", "version": 1}}
        changed = await portal.http("ana").put(f"{API}/{kept}", json=change)
        assert changed.json()["status"] == "updated", changed.text
        assert await remembered(portal, "what do beans grow on") == ["Beans climb strings."]
        assert await remembered(portal, "what do beans grow on", "ben") == []
        token = portal.http("ana").headers["authorization"]
    github.failing = 503
    async with opened(github, stores, tmp_path / "data") as portal:
        await until(served(portal, RAW))
        assert (await found(portal, "marmalade"))[0] == "old"
        portal.http("ana").headers["authorization"] = token
        assert await remembered(portal, "strings", mode="keyword") == ["Beans climb strings."]
        assert await remembered(portal, "bean plants", mode="semantic") == ["Beans climb strings."]
        told = (await portal.http("ana").get(f"{API}/{kept}/metadata")).json()
        assert [each["version"] for each in told["version_history"]] == [2, 1]
        github.answers()
        history.commit({"tags/old.md": note("The word marmalade.", title="Old", publish=False)})
        await until(served(portal, RAW[:1]))
        assert "old" not in await found(portal, "marmalade")
        assert await objects(portal, "content/tag/") == []
        gone = await portal.http("ana").delete(f"{API}/{kept}?hard_delete=true")
        assert gone.json()["deleted"] is True
        assert await remembered(portal, "beans strings") == []


async def test_vectors_that_are_gone_are_made_anew(
    github: GithubContents,
    history: History,
    stores: Mapping[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sync_loop, "POLL_INTERVAL_S", 0.2)
    monkeypatch.setattr(vector_succession, "RETRY_INTERVAL_S", 0.2)
    async with opened(github, stores, tmp_path / "data") as portal:
        await until(served(portal, RAW))
        await portal.sign_in("ana")
        made = await portal.call("remember", {"content": "Beans climb poles."}, tier="ana")
        assert not made.is_error, made.text
        shares = portal.running.services.for_plugin("knowledge")
        assert shares.embedder is not None
        vectors, model = shares.vectors, shares.embedder.model
        await vectors.drop(index.collection_name(model))
        await vectors.drop(stored_name("memory", model))

        async def all_is_found() -> bool:
            answer = await portal.call("search_knowledge", {"query": "who makes decisions"})
            assert not answer.is_error, answer.text
            hits = [one["id"] for one in answer.structured["results"]]
            asked = {"query": "what do beans grow on", "mode": "semantic"}
            told = await portal.http("ana").post(f"{API}/query", json=asked)
            assert told.status_code == 200, told.text
            entries = [each["entry"]["content"] for each in told.json()["results"]]
            return hits[:1] == ["cell"] and "Beans climb poles." in entries

        await until(all_is_found)
