"""A push reaches the served notes through a whole portal: webhook, durable job, search."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.repositories import Retry
from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.sync import build
from tests.job_queue import taking_no_jobs
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.plugins.skills_repo.waiting import until
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import NOTHING, History

SECRET = "the-webhooks-secret"


@pytest.fixture
def github() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
def history(github: GithubContents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    monkeypatch.setenv("KNOWLEDGE_HOOK", SECRET)
    monkeypatch.setattr(build, "DEFAULT_RETRY", Retry(retries=1, first_s=0.0, timeout_s=10.0))
    begun = History.begun(tmp_path / "kb")
    github.repos[NAME] = Repo(begun.directory, history=begun)
    return begun


@asynccontextmanager
async def opened(github: GithubContents, data: Path, **more: Any) -> AsyncGenerator[TestPortal]:
    section = {
        "sources": [{"github": NAME}],
        "github": {"api_url": github.url, "webhook_secret": "env:KNOWLEDGE_HOOK"},
        "memory": {"enabled": False},
    }
    config = {"plugins": {"knowledge": section | more}}
    async with open_test_portal(
        plugin, config=config, data_dir=data, wait_ready=False, schedules="schedule" in more
    ) as portal:
        yield portal


async def push(portal: TestPortal, delivery: str, body: Any, secret: str = SECRET) -> Any:
    raw = json.dumps(body).encode()
    headers = {
        "x-github-event": "push",
        "x-github-delivery": delivery,
        "x-hub-signature-256": "sha256="
        + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest(),
    }
    return await portal.hook("knowledge", "github", raw, headers)


def finds(portal: TestPortal, query: str, *ids: str) -> Callable[[], Awaitable[bool]]:
    async def found() -> bool:
        answer = (await portal.call("search_knowledge", {"query": query})).structured
        return [one["id"] for one in answer["results"]] == list(ids)

    return found


async def told(portal: TestPortal) -> dict[str, Any]:
    how: dict[str, Any] = (await portal.health())["plugins"]["knowledge"]
    return how


def says_it_serves(portal: TestPortal, commit: str) -> Callable[[], Awaitable[bool]]:
    """Whether health names a commit: a moment after its notes are found, once all is written."""

    async def check() -> bool:
        return bool((await told(portal))["facts"]["commits"] == {f"{NAME}@main": commit})

    return check


async def test_a_push_that_could_not_be_queued_is_taken_when_it_is_sent_again(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    first = history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        told = history.push(first, history.commit({"tags/new.md": note("A blancmange.")}), NAME)
        with taking_no_jobs():
            assert (await push(portal, "1", told)).status_code == 500
        assert len((await push(portal, "1", told)).json()["jobs"]) == 1
        assert (await push(portal, "1", told)).json()["jobs"] == []
        await until(finds(portal, "blancmange", "new"))


async def test_a_push_is_searchable_and_what_it_deletes_is_not(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    first = history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        second = history.commit({"tags/old.md": None, "tags/new.md": note("A blancmange.")})
        answer = await push(portal, "1", history.push(first, second, NAME))
        assert answer.status_code == 200, answer.text
        assert len(answer.json()["jobs"]) == 1
        await until(finds(portal, "blancmange", "new"))
        await until(finds(portal, "marmalade"))
        again = await push(portal, "1", history.push(first, second, NAME))
        assert "before" in again.json()["reason"]
        forged = await push(portal, "2", history.push(first, second, NAME), secret="wrong")
        assert forged.status_code == 403
        other = history.push(first, second, NAME, branch="other")
        assert (await push(portal, "3", other)).json()["jobs"] == []


LIES: dict[str, dict[str, Any]] = {
    "it lists no commits, as one of more than GitHub lists": {"commits": []},
    "it names other files": {
        "commits": [
            {
                "id": "0" * 40,
                "timestamp": "2030-01-01T00:00:00Z",
                "added": ["tags/none.md", "../../etc/passwd", "/etc/passwd", "tags/old.md"],
                "modified": ["README.md"],
                "removed": ["tags/new.md", "tags/other.md"],
            }
        ]
    },
    "it names a commit that is not there": {"after": "5f8b6d0f0e6c4c1f8a0d3b7e9a2c4d6e8f0a1b2c"},
    "it calls itself forced": {"forced": True, "before": "0" * 40},
}


@pytest.mark.parametrize("lie", LIES)
async def test_whatever_a_payload_says_what_the_branch_holds_is_served(
    github: GithubContents, history: History, tmp_path: Path, lie: str
) -> None:
    first = history.commit({"tags/old.md": note("The word marmalade."), "tags/other.md": note()})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        second = history.commit({"tags/old.md": None, "tags/new.md": note("A blancmange.")})
        told_of = history.push(first, second, NAME) | LIES[lie]
        answer = await push(portal, "1", told_of)
        assert len(answer.json()["jobs"]) == 1
        await until(finds(portal, "blancmange", "new"))
        await until(finds(portal, "marmalade"))
        assert (await told(portal))["facts"]["documents"] == 2
        await until(says_it_serves(portal, second))


async def test_a_force_push_takes_back_what_it_took_away(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    first = history.commit({"tags/old.md": note("The word marmalade.")})
    second = history.commit({"tags/new.md": note("A blancmange.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "blancmange", "new"))
        history.git("reset", "-q", "--hard", first)
        third = history.commit({"tags/newest.md": note("A trifle.")})
        history.forget()
        body = history.push(first, third, NAME) | {"before": second, "forced": True}
        await push(portal, "1", body)
        await until(finds(portal, "trifle", "newest"))
        await until(finds(portal, "blancmange"))


async def test_a_deleted_branch_is_told_and_everything_is_served_on(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    first = history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
        history.git("branch", "-m", "main", "other")
        await push(portal, "1", history.push(first, NOTHING, NAME))

        async def degraded() -> bool:
            return bool((await told(portal))["state"] == "degraded")

        await until(degraded)
        assert "the branch is gone" in (await told(portal))["detail"]
        assert await finds(portal, "marmalade", "old")()


async def test_what_no_push_told_of_is_found_by_the_schedule(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    history.commit({"tags/old.md": note("The word marmalade.")})
    every_second = "* * * * * *"
    async with opened(github, tmp_path / "data", schedule=every_second) as portal:
        await until(finds(portal, "marmalade", "old"))
        github.failing = 503
        history.commit({"tags/old.md": note("A blancmange.")})

        async def behind() -> bool:
            return bool((await told(portal))["state"] == "degraded")

        await until(behind)
        assert await finds(portal, "marmalade", "old")()
        github.answers()
        await until(finds(portal, "blancmange", "old"))


async def test_a_restart_without_github_serves_what_there_was(
    github: GithubContents, history: History, tmp_path: Path
) -> None:
    history.commit({"tags/old.md": note("The word marmalade.")})
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
    github.failing = 503
    async with opened(github, tmp_path / "data") as portal:
        await until(finds(portal, "marmalade", "old"))
