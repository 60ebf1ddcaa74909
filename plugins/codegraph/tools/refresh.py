"""``refresh_index``: indexes a repository again, or waits for its first index.

The work is the job that the portal makes indexes by; who asks meanwhile waits for the same one. A
client that follows tasks is handed it; others wait a little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_types import ToolAnnotations
from pydantic import Field

from gateway.contract import Caller, Jobs, Tier, Tool, ToolFailed, ToolResult, ToolTask
from gateway.toolkit.job_waiting import UNDER_WAY, settled
from plugins.codegraph.jobs import INDEX, index_key
from plugins.codegraph.repositories.leases import Leases
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import Repo

_FETCHES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


class Refreshed(ToolResult):
    """How the index of a repository is."""

    repo: str
    state: str = Field(description="ready, waiting or indexing; the index before is served still.")
    indexed_branch: str | None = None
    indexed_commit: str | None = None
    indexed_at: datetime | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class IndexRequests:
    """Asks for indexes.

    Attributes:
        repositories: the registry.
        leases: keep what is asked for.
        jobs: the plugin's jobs.
        now: the time, in UTC.
    """

    repositories: Repositories
    leases: Leases
    jobs: Jobs
    now: Callable[[], datetime]

    async def begin(self, repository: Repository) -> str:
        """The id of the job that indexes a repository: one that does so now, or a new one."""
        state = await self.repositories.state(repository.id)
        if state.holder:
            running = await self.jobs.status(state.holder)
            if running is not None and running.name == INDEX and running.state in UNDER_WAY:
                return running.id
        return await self.again(repository)

    async def again(self, repository: Repository) -> str:
        """The id of a job that indexes a repository as it is from now on.

        One that does so already may have fetched it before, and is not waited for.
        """
        await self.leases.request(repository.id)
        asked = await self.repositories.by_id(repository.id)
        if asked is None:
            raise ToolFailed("no_such_repository", f"{repository.name} was removed just now.")
        return await self.jobs.enqueue(INDEX, {"repo": asked.id}, key=index_key(asked, self.now()))


def tools(access: Access, requests: IndexRequests) -> list[Tool]:
    """The tools of this group."""

    async def named(wanted: Any, caller: Caller) -> Repository:
        return await access.registry.named(caller, wanted.repo, fresh=True)

    async def start(wanted: Any, caller: Caller) -> str:
        return await requests.begin(await named(wanted, caller))

    async def answer(result: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        for each in await access.registry.visible(caller, fresh=True):
            if each.id == result["repo"]:
                return _refreshed(each).wire()
        raise ToolFailed("no_such_repository", "The repository was removed meanwhile.")

    async def refresh_index(repo: Repo = None, *, caller: Caller) -> dict[str, Any]:
        """Index a repository at its newest commit now, or wait for its first index. Call it where
        answers are of an older commit than you need; until then those of the index before hold."""
        known = await access.registry.named(caller, repo, fresh=True)
        await settled(requests.jobs, await requests.begin(known))
        return await answer({"repo": known.id}, caller)

    return [
        Tool.of(
            refresh_index,
            title="Index a repository again",
            result=Refreshed,
            annotations=_FETCHES,
            tier=Tier.MEMBERS,
            floor=Tier.MEMBERS,
            task=ToolTask(INDEX, start, answer, cancellable=False),
        )
    ]


def _refreshed(repository: Repository) -> Refreshed:
    """How a repository's index is; raises where the last attempt has failed."""
    state = repository.state
    word = state.word(indexed=repository.layer is not None)
    if word == "failed":
        raise ToolFailed("not_indexed", f"{repository.name} was not indexed: {state.error}")
    return Refreshed(
        repo=repository.name,
        state=word,
        indexed_branch=repository.on or None,
        indexed_commit=repository.commit[:12] or None,
        indexed_at=repository.indexed,
        note=None if word == "ready" else f"{state}. {_GOES_ON}".lstrip(". "),
    )


_GOES_ON = "It goes on by itself; call refresh_index again in a minute to see how far it is."
