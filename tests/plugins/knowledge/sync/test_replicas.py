"""Two portals on one PostgreSQL, one folder or bucket and one Redis, each with its own index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Caller, Change, Host, JobRun, Offer, Tier
from gateway.plugin_host import make_host
from gateway.repositories import Retry
from gateway.services import open_services
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.jobs import SYNC
from plugins.knowledge.plugin import open_knowledge
from plugins.knowledge.sync import build, sync_loop
from plugins.knowledge.sync.github import FETCHED
from plugins.knowledge.sync.transfer import Transfer
from tests.plugins.knowledge.retrieval.conftest import SETTINGS
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.plugins.skills_repo.waiting import until
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History


class AtOnce:
    """A job that runs here and now; its steps are recorded nowhere."""

    id = "job"

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        return await function(*args)

    async def ask(self, requests: Any, *, seconds: float = 0) -> Any:
        raise NotImplementedError

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        return


class Held(AtOnce):
    """One that waits before it serves what it has fetched.

    Attributes:
        fetched: set once it has.
        go: lets it go on.
    """

    def __init__(self) -> None:
        self.fetched, self.go = asyncio.Event(), asyncio.Event()

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        if name == "serve":
            self.fetched.set()
            await self.go.wait()
        return await function(*args)


class Replica:
    """A portal's knowledge plugin, opened as ``porch serve`` opens it."""

    def __init__(self, offer: Offer, host: Host, changes: list[Change]) -> None:
        self.offer = offer
        self.host = host
        self.changes = changes

    async def sync(self, run: JobRun | None = None) -> Any:
        """Run the job that a push queues."""
        [job] = [job for job in self.offer.jobs if job.name == SYNC]
        return await job.run(run or AtOnce(), {"source": f"{NAME}@main"})

    async def synced(self, commit: str) -> None:
        """Run it until the commit is served; it is superseded by a sync that is under way."""
        async with asyncio.timeout(60):
            while (report := await self.sync()).get("commit") != commit:
                assert report.get("superseded"), report

    async def titles(self, query: str) -> set[str]:
        """What a search finds."""
        [route] = [each for each in self.offer.routes if each.path == "/search"]
        params = route.params.model_validate({"q": query})
        found: Any = await route.run(params, Caller(person="ana", tier=Tier.MEMBERS))
        return {one.title for one in found.results}

    async def health(self) -> Any:
        assert self.offer.health is not None
        return await self.offer.health()


@asynccontextmanager
async def opened(
    config: dict[str, Any], data: Path, *, alone: bool = False, **services: Any
) -> AsyncGenerator[Replica]:
    """Open one; ``alone``, it does nothing by itself."""
    settings = type(SETTINGS)(**(vars(SETTINGS) | services))
    changes: list[Change] = []
    async with open_services(settings, data) as held:
        share = held.for_plugin("knowledge")
        host = make_host(share, "knowledge", "Test", changes.append, wait_ready=alone)
        async with open_knowledge(KnowledgeConfig.model_validate(config), host) as offer:
            yield Replica(offer, host, changes)


async def told_of(replica: Replica, key: str) -> bool:
    """Whether its clients have heard that a document has changed."""
    return any(key in (change.uri or "") for change in replica.changes)


@pytest.fixture
def github() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
def history(github: GithubContents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    monkeypatch.setattr(build, "DEFAULT_RETRY", Retry(retries=0, timeout_s=10.0))
    begun = History.begun(tmp_path / "kb")
    github.repos[NAME] = Repo(begun.directory, history=begun)
    return begun


@pytest.fixture(params=["folder", "bucket"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "objects")
    return str(request.getfixturevalue("s3_bucket"))


@pytest.mark.parametrize("told", [True, False])
async def test_a_push_that_one_takes_in_is_served_by_the_other(
    github: GithubContents,
    history: History,
    tmp_path: Path,
    postgres: str,
    redis_url: str,
    objects: str,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By what they tell each other; or, where the cache is each one's own, by looking."""
    monkeypatch.setattr(sync_loop, "POLL_INTERVAL_S", 3600.0 if told else 0.2)
    config = {
        "sources": [{"github": NAME}],
        "github": {"api_url": github.url},
        "memory": {"enabled": False},
    }
    cache = redis_url if told else "memory"
    shared: dict[str, Any] = {"database": postgres, "objects": objects, "cache": cache}
    history.commit({"tags/old.md": note("The word marmalade.", title="Old")})
    async with (
        opened(config, tmp_path / "first", **shared) as first,
        opened(config, tmp_path / "second", **shared) as second,
    ):
        for each in (first, second):

            async def is_served(each: Replica = each) -> bool:
                return await each.titles("marmalade") == {"Old"}

            await until(is_served)
        commit = history.commit(
            {"tags/old.md": None, "tags/new.md": note("The word blancmange.", title="New")}
        )
        github.requests.clear()
        await first.synced(commit)
        asked = len(github.requests)

        async def follows() -> bool:
            return await second.titles("blancmange") == {"New"} and not await second.titles(
                "marmalade"
            )

        await until(follows)
        assert len(github.requests) == asked, "the second one asks GitHub nothing"

        async def is_well() -> bool:
            health = await second.health()
            return (health.state, health.facts["commits"]) == ("ok", {f"{NAME}@main": commit})

        await until(is_well)
        await until(lambda: told_of(second, "tag/new"))
        again = history.commit({"tags/new.md": note("The word blancmange.", title="Newest")})
        await second.synced(again)

        async def is_newest() -> bool:
            return await first.titles("blancmange") == {"Newest"}

        await until(is_newest)


@pytest.fixture
def shared(postgres: str, objects: str) -> dict[str, Any]:
    """The services of two replicas that hear of each other by looking alone."""
    return {"database": postgres, "objects": objects, "cache": "memory"}


@pytest.fixture
def config(github: GithubContents) -> dict[str, Any]:
    return {
        "sources": [{"github": NAME}],
        "github": {"api_url": github.url},
        "memory": {"enabled": False},
    }


async def test_a_replica_that_ends_an_older_commit_leaves_what_another_has_fetched_of_a_newer(
    history: History, tmp_path: Path, shared: dict[str, Any], config: dict[str, Any]
) -> None:
    older = history.commit({"tags/old.md": note("The word marmalade.", title="Old")})
    async with (
        opened(config, tmp_path / "first", alone=True, **shared) as first,
        opened(config, tmp_path / "second", alone=True, **shared) as second,
    ):
        for each in (first, second):
            await each.synced(older)
        at_older, at_newer = Held(), Held()
        with_older = asyncio.create_task(second.sync(at_older))
        await at_older.fetched.wait()
        newer = history.commit({"tags/new.md": note("The word blancmange.", title="New")})
        with_newer = asyncio.create_task(first.sync(at_newer))
        await at_newer.fetched.wait()
        at_older.go.set()
        await with_older
        at_newer.go.set()
        assert (await with_newer).get("commit") == newer
        assert await first.titles("blancmange") == {"New"}


async def test_what_is_gone_before_it_is_taken_in_is_fetched_again(
    history: History, tmp_path: Path, shared: dict[str, Any], config: dict[str, Any]
) -> None:
    older = history.commit({"tags/old.md": note("The word marmalade.", title="Old")})
    async with opened(config, tmp_path / "first", alone=True, **shared) as first:
        await first.synced(older)
        held = Held()
        newer = history.commit({"tags/new.md": note("The word blancmange.", title="New")})
        syncing = asyncio.create_task(first.sync(held))
        await held.fetched.wait()
        async for info in first.host.objects.list(FETCHED):
            if info.key.endswith(".md"):
                await first.host.objects.delete(info.key)
        held.go.set()
        assert (await syncing).get("commit") == newer
        assert await first.titles("blancmange") == {"New"}


async def test_a_replica_that_is_overtaken_while_it_writes_goes_on_to_what_the_other_has_fetched(
    history: History,
    tmp_path: Path,
    shared: dict[str, Any],
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its manifest is the last that is written, though of an older commit."""
    carry_out, newer = Transfer.carry_out, ""

    async def overtaken(self: Transfer, *args: Any) -> None:
        nonlocal newer
        if not newer:
            newer = history.commit({"tags/new.md": note("The word blancmange.", title="New")})
            await first.synced(newer)
        await carry_out(self, *args)

    history.commit({"tags/old.md": note("The word marmalade.", title="Old")})
    async with (
        opened(config, tmp_path / "first", alone=True, **shared) as first,
        opened(config, tmp_path / "second", alone=True, **shared) as second,
    ):
        history.commit({"tags/old.md": note("The word marmalade.", title="Older")})
        monkeypatch.setattr(Transfer, "carry_out", overtaken)
        await second.sync()
        for query, title in (("marmalade", "Older"), ("blancmange", "New")):
            assert await second.titles(query) == {title}
    async with opened(config, tmp_path / "third", alone=True, **shared) as third:
        assert await third.titles("blancmange") == {"New"}
