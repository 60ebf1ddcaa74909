"""A push is in the graph at once; what is forged, replayed or of another branch changes nothing."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from tests.job_queue import taking_no_jobs
from tests.plugins.codegraph.branches.garden import pushed
from tests.plugins.codegraph.checkouts import committed, run_git
from tests.servers.git_host import GitHost

SECRET = "the-pushes-are-signed"
NAME = "plants/garden"


class Pushes:
    """A portal that has indexed a repository of the host, and the checkout that is pushed.

    Args:
        portal: the portal.
        tree: the checkout.
    """

    def __init__(self, portal: TestPortal, tree: Path) -> None:
        self.portal = portal
        self.tree = tree
        self.number = 0

    def write(self, name: str) -> str:
        """Push a function of this name; returns its commit."""
        return self.pushed({f"{name}.py": f"def {name}():\n    pass\n"})

    def pushed(self, files: dict[str, str]) -> str:
        commit = committed(self.tree, files)
        run_git(self.tree, "push", "-q", "--force", "origin", "main")
        return commit

    async def deliver(
        self,
        after: str,
        *,
        ref: str = "refs/heads/main",
        repository: str = NAME,
        event: str = "push",
        secret: str = SECRET,
        delivery: str = "",
    ) -> httpx2.Response:
        """Tell the portal of a push."""
        told = {"ref": ref, "after": after, "repository": {"full_name": repository}}
        return await self.send(event, told, secret=secret, delivery=delivery)

    async def send(
        self, event: str, told: dict[str, Any], *, secret: str = SECRET, delivery: str = ""
    ) -> httpx2.Response:
        """Tell the portal of an event."""
        self.number += 1
        body = json.dumps(told).encode()
        digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "x-github-event": event,
            "x-github-delivery": delivery or f"delivery-{self.number}",
            "x-hub-signature-256": f"sha256={digest}",
        }
        return await self.portal.hook("codegraph", "github", body, headers)

    async def knows(self, name: str) -> bool:
        """Whether a function is in the graph."""
        return not (await self.portal.call("get_function", {"name": name})).is_error

    async def reached(self, name: str, seconds: float = 60) -> None:
        """Wait until a function is in the graph."""
        async with asyncio.timeout(seconds):
            while True:
                if await self.knows(name):
                    return
                await asyncio.sleep(0.05)

    async def index_says(self, begin: str) -> str:
        """Wait until the answers say something of the index that begins so; "" for nothing."""
        async with asyncio.timeout(20):
            while True:
                stats = (await self.portal.call("get_project_stats", {})).structured
                said = stats["meta"].get("index") or ""
                if said.startswith(begin) and bool(said) == bool(begin):
                    return str(said)
                await asyncio.sleep(0.05)


@pytest.fixture
async def pushes(
    host: GitHost, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pushes]:
    monkeypatch.setenv("CODEGRAPH_HOOK", SECRET)
    section = {
        "hosts": {
            host.netloc: {"ca_file": str(host.ca_file), "webhook_secret": "env:CODEGRAPH_HOOK"}
        },
        "repositories": [{"url": host.url("plants/garden.git"), "tier": "open"}],
        "refresh": "24h",
    }
    config = {"plugins": {"codegraph": section}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as portal:
        found = Pushes(portal, tree)
        await found.reached("pour")
        yield found


async def test_what_is_pushed_is_in_the_graph_without_waiting_for_the_next_refresh(
    pushes: Pushes,
) -> None:
    answer = await pushes.deliver(pushes.write("rake"))
    assert answer.status_code == 200, answer.text
    assert answer.json()["repositories"] == ["garden"]
    await pushes.reached("rake")
    stats = (await pushes.portal.call("get_project_stats", {})).structured
    assert "main" in json.dumps(stats)


async def test_what_a_push_changed_is_told_with_its_commit_and_author(pushes: Pushes) -> None:
    commit = pushes.write("rake")
    await pushes.deliver(commit)
    await pushes.reached("rake")
    answer = (await pushes.portal.call("get_recent_changes", {"limit": 1})).structured
    assert [each["after"]["name"] for each in answer["data"]] == ["rake.py", "rake"]
    (index,) = answer["meta"]["indexes"]
    assert index["commit"] == commit[:12]
    assert index["author"]
    assert index["subject"]


async def test_pushes_while_an_index_is_made_are_all_in_the_graph_in_the_end(
    pushes: Pushes,
) -> None:
    for name in ("rake", "hoe", "spade"):
        assert (await pushes.deliver(pushes.write(name))).json()["repositories"] == ["garden"]
    await pushes.reached("spade")
    assert await pushes.knows("rake")


async def test_a_delivery_that_comes_late_brings_the_newest_commit(pushes: Pushes) -> None:
    first, second = pushes.write("rake"), pushes.write("hoe")
    await pushes.deliver(second)
    await pushes.reached("hoe")
    assert (await pushes.deliver(first)).json()["repositories"] == ["garden"]
    await asyncio.sleep(0.3)
    assert await pushes.knows("hoe")


async def test_a_force_push_takes_away_what_it_took_away(pushes: Pushes) -> None:
    await pushes.deliver(pushes.write("rake"))
    await pushes.reached("rake")
    run_git(pushes.tree, "reset", "-q", "--hard", "HEAD~1")
    await pushes.deliver(pushes.write("hoe"))
    await pushes.reached("hoe")
    assert not await pushes.knows("rake")


async def test_a_force_push_is_told_as_what_differs_from_what_was_indexed(pushes: Pushes) -> None:
    await pushes.deliver(pushes.write("rake"))
    await pushes.reached("rake")
    run_git(pushes.tree, "reset", "-q", "--hard", "HEAD~1")
    await pushes.deliver(pushes.pushed({"hoe.py": "def hoe(bed):\n    return bed.rows + 1\n"}))
    await pushes.reached("hoe")
    answer = (await pushes.portal.call("get_recent_changes", {"limit": 1})).structured
    sides = [(each["change"], each.get("after") or each["before"]) for each in answer["data"]]
    assert {(change, side["name"]) for change, side in sides} == {
        *(("added", each) for each in ("hoe.py", "hoe")),
        *(("deleted", each) for each in ("rake.py", "rake")),
    }


async def test_a_branch_that_was_deleted_is_served_on(pushes: Pushes) -> None:
    run_git(pushes.tree, "push", "-q", "origin", "HEAD:refs/heads/other")
    await pushes.deliver("0" * 40)
    assert await pushes.knows("pour")


async def test_a_push_that_is_told_twice_changes_the_graph_once(pushes: Pushes) -> None:
    commit = pushes.write("rake")
    await pushes.deliver(commit, delivery="one")
    await pushes.reached("rake")
    await pushes.deliver(commit, delivery="two")
    await pushes.deliver(pushes.write("hoe"))
    await pushes.reached("hoe")
    answer = (await pushes.portal.call("get_recent_changes", {})).structured
    assert [each["added"] for each in answer["meta"]["indexes"]] == [2, 2, 0]


@pytest.mark.heavy
@pytest.mark.timeout(300)
async def test_a_push_of_10_000_files_is_in_the_graph_and_told_by_its_files(
    pushes: Pushes,
) -> None:
    files = {f"lot/f{n}.py": f"def f{n}():\n    return {n}\n" for n in range(10_000)}
    commit = pushes.pushed(files)
    told = {
        "ref": "refs/heads/main",
        "after": commit,
        "repository": {"full_name": NAME},
        "commits": [
            {"id": commit, "timestamp": "2026-11-27T09:00:00Z", "added": list(files)},
        ],
    }
    assert (await pushes.send("push", told)).json()["repositories"] == ["garden"]
    await pushes.reached("f9999", seconds=240)
    answer = (await pushes.portal.call("get_recent_changes", {"limit": 1})).structured
    (index,) = answer["meta"]["indexes"]
    assert index["added"] == index["files"] == 10_000
    assert "only files are told" in answer["meta"]["completeness"]["why"]


async def test_a_repository_that_was_taken_out_of_the_installation_is_told_as_such(
    pushes: Pushes,
) -> None:
    removed = {"action": "removed", "repositories_removed": [{"full_name": "Plants/Garden"}]}
    answer = (await pushes.send("installation_repositories", removed)).json()
    assert answer["withdrawn"] == ["garden"]
    said = await pushes.index_says("The host says that this portal's app may not read garden")
    assert "porch codegraph remove garden" in said
    assert await pushes.knows("pour")
    health = (await pushes.portal.health())["plugins"]["codegraph"]
    assert "may not read garden any more" in health["detail"]


async def test_a_repository_that_is_given_back_is_indexed_again(pushes: Pushes) -> None:
    ended = {"action": "deleted", "repositories": [{"full_name": NAME}]}
    assert (await pushes.send("installation", ended)).json()["withdrawn"] == ["garden"]
    pushes.write("rake")
    added = {"action": "added", "repositories_added": [{"full_name": NAME}]}
    answer = (await pushes.send("installation_repositories", added)).json()
    assert answer["repositories"] == ["garden"]
    await pushes.reached("rake")
    assert await pushes.index_says("") == ""


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("installation", {"action": "created"}),
        (
            "installation",
            {"action": "new_permissions_accepted", "repositories": [{"full_name": NAME}]},
        ),
        (
            "installation_repositories",
            {"action": "removed", "repositories_removed": [{"full_name": "plants/forest"}]},
        ),
    ],
)
async def test_an_installation_that_concerns_nothing_served_changes_nothing(
    pushes: Pushes, event: str, told: dict[str, Any]
) -> None:
    answer = (await pushes.send(event, told)).json()
    assert answer["reason"] == "it concerns no repository that is served here"


async def test_an_installation_event_is_taken_once_and_only_as_github_sends_it(
    pushes: Pushes,
) -> None:
    removed = {"action": "removed", "repositories_removed": [{"full_name": NAME}]}
    forged = await pushes.send("installation_repositories", removed, secret="not-the-secret")
    assert forged.status_code == 403
    await pushes.send("installation_repositories", removed, delivery="one")
    again = (await pushes.send("installation_repositories", removed, delivery="one")).json()
    assert again["reason"] == "this delivery was taken before"
    broken = await pushes.send("installation", {"repositories": "all"})
    assert "bad_delivery" in broken.text


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"event": "ping"}, "nothing to do for the event 'ping'"),
        ({"ref": "refs/heads/other"}, "no repository is of this address and branch"),
        ({"repository": "plants/forest"}, "no repository is of this address and branch"),
        ({"after": "0" * 40}, "the branch was deleted"),
    ],
)
async def test_what_concerns_nothing_that_is_indexed_says_why(
    pushes: Pushes, changed: dict[str, Any], reason: str
) -> None:
    answer = await pushes.deliver(**{"after": pushes.write("rake"), **changed})
    assert answer.status_code == 200
    assert answer.json()["repositories"] == []
    assert reason in answer.json()["reason"]


async def test_a_forged_delivery_is_refused_and_a_replayed_one_changes_nothing(
    pushes: Pushes,
) -> None:
    commit = pushes.write("rake")
    assert (await pushes.deliver(commit, secret="not-the-secret")).status_code == 403
    assert not await pushes.knows("rake")
    assert "jobs" in (await pushes.deliver(commit, delivery="one")).json()
    again = (await pushes.deliver(commit, delivery="one")).json()
    assert again["reason"] == "this delivery was taken before"


async def test_a_delivery_that_could_not_be_queued_is_taken_when_it_is_sent_again(
    pushes: Pushes,
) -> None:
    commit = pushes.write("rake")
    with taking_no_jobs():
        assert (await pushes.deliver(commit, delivery="7")).status_code == 500
    again = (await pushes.deliver(commit, delivery="7")).json()
    assert again["repositories"] == ["garden"]
    await pushes.reached("rake")
    told = {"action": "added", "repositories_added": [{"full_name": NAME}]}
    with taking_no_jobs():
        failed = await pushes.send("installation_repositories", told, delivery="8")
    assert failed.status_code == 500
    back = (await pushes.send("installation_repositories", told, delivery="8")).json()
    assert back["repositories"] == ["garden"]


async def test_a_hosts_secret_vouches_for_its_own_repositories_alone(
    host: GitHost, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEGRAPH_HOOK", SECRET)
    section = {
        "hosts": {
            host.netloc: {"ca_file": str(host.ca_file)},
            "git.example.org": {"webhook_secret": "env:CODEGRAPH_HOOK"},
        },
        "repositories": [{"url": host.url("plants/garden.git"), "tier": "open"}],
    }
    config = {"plugins": {"codegraph": section}}
    async with open_test_portal(plugin, config=config) as portal:
        answer = await Pushes(portal, tree).deliver("a" * 40)
        assert answer.json()["reason"] == "no repository is of this address and branch"


async def test_without_a_secret_there_is_no_webhook(host: GitHost, tree: Path) -> None:
    section = {"hosts": {host.netloc: {"ca_file": str(host.ca_file)}}}
    async with open_test_portal(plugin, config={"plugins": {"codegraph": section}}) as portal:
        assert (await Pushes(portal, tree).deliver("a" * 40)).status_code == 404


async def test_a_push_to_another_branch_is_followed_once_somebody_has_asked_for_it(
    pushes: Pushes,
) -> None:
    async def says(name: str) -> bool:
        asked = {"name": name, "branch": "spring"}
        return not (await pushes.portal.call("get_function", asked)).is_error

    ref, tree = "refs/heads/spring", pushes.tree
    commit = pushed(tree, "spring", {"hoe.py": "def hoe(): pass\n"})
    assert (await pushes.deliver(commit, ref=ref)).json()["repositories"] == []
    assert await says("hoe")
    commit = pushed(tree, "spring", {"fork.py": "def fork(): pass\n"}, force=True)
    assert not await says("fork")  # nobody has told of it, and it was looked just now
    assert (await pushes.deliver(commit, ref=ref)).json()["repositories"] == ["garden"]
    assert await says("fork")
    assert not await says("hoe")
    run_git(tree, "push", "-q", "origin", "--delete", "spring")
    assert (await pushes.deliver("0" * 40, ref=ref)).json()["repositories"] == ["garden"]
    told = await pushes.portal.call("get_project_stats", {"branch": "spring"})
    assert "garden has no branch 'spring'" in told.text
    assert (await pushes.deliver("0" * 40, ref=ref)).json()["repositories"] == []
    assert await pushes.knows("pour")
