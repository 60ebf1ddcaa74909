"""``POST /hooks/codegraph/github``: a push to a repository's branch has it indexed at once.

A push to another branch has its layer made anew, if somebody has asked for that branch before.

What a GitHub App may read no more, as its installation's events say, is told to whoever asks.

The seed's phase 5 ("GitHub Webhooks"). Forgejo and Gitea send the same headers and signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import Cache, Webhook
from gateway.repositories import Deliveries, Installation, Push, installed, pushed
from plugins.codegraph.branches.branch_graphs import BranchGraphs
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.repositories.urls import host_of
from plugins.codegraph.tools.refresh import IndexRequests


@dataclass(frozen=True, slots=True)
class PushWebhook:
    """Takes pushes.

    Attributes:
        hosts: what tells, for each host with a webhook's secret, whether a delivery is its own.
        repositories: the registry.
        requests: asks for indexes.
        branches: knows which other branches have a graph, or None where none has.
    """

    hosts: Mapping[str, Deliveries]
    repositories: Repositories
    requests: IndexRequests
    branches: BranchGraphs | None = None

    @classmethod
    def of(
        cls,
        config: CodegraphConfig,
        secret: Callable[[str], str],
        cache: Cache,
        repositories: Repositories,
        requests: IndexRequests,
        branches: BranchGraphs | None = None,
    ) -> PushWebhook:
        """The webhook of the hosts in ``portal.yaml``.

        Raises:
            ValueError: a webhook's secret is not where the setting says.
        """
        hosts = {
            name: Deliveries(secret(host.webhook_secret), cache)
            for name, host in config.hosts.items()
            if host.webhook_secret is not None
        }
        return cls(hosts, repositories, requests, branches)

    def declared(self) -> list[Webhook]:
        """What the plugin offers: nothing where no host has a secret."""
        return [Webhook(name="github", verify=self.verify, run=self.run)] if self.hosts else []

    def verify(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether one of the hosts signed the delivery."""
        return bool(self._signed_by(body, headers))

    async def run(self, body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        """Take a delivery whose signature is right; says which repositories are indexed anew.

        A push tells that there is something, and never what: what is fetched is the branch as it
        is then, so that deliveries may come late, twice, or in any order.

        Raises:
            ToolFailed: ``bad_delivery``, it is not as GitHub sends one.
        """
        signed_by = self._signed_by(body, headers)
        deliveries = next(iter(signed_by.values()))
        installation = installed(body, headers)
        if installation is not None:
            async with deliveries.taking(body, headers) as is_new:
                if not is_new:
                    return _nothing("this delivery was taken before")
                return await self._installed(installation, signed_by)
        push = pushed(body, headers)
        if push is None:
            event = headers.get("x-github-event", "")
            return _nothing(f"nothing to do for the event {event[:40]!r}")
        every = await self.repositories.all()
        concerned = [each for each in every if _is_of(each, push, signed_by)]
        layered = await self._with_layer(every, push, signed_by)
        if not push.after and not layered:
            return _nothing("the branch was deleted; what was indexed of it is served on")
        if not concerned and not layered:
            return _nothing("no repository is of this address and branch")
        indexed = concerned if push.after else []
        async with deliveries.taking(body, headers) as is_new:
            if not is_new:
                return _nothing("this delivery was taken before")
            jobs = [await self.requests.again(each) for each in indexed]
            jobs += [await branches.pushed(each, _branch(push)) for each, branches in layered]
        names = [*(each.name for each in indexed), *(one.name for one, _ in layered)]
        return {"repositories": names, "jobs": jobs}

    async def _with_layer(
        self, every: Sequence[Repository], push: Push, signed_by: Mapping[str, Deliveries]
    ) -> list[tuple[Repository, BranchGraphs]]:
        """The repositories in which the pushed branch has a layer over the indexed one."""
        branches, name = self.branches, _branch(push)
        if branches is None:
            return []
        here = [each for each in every if _is_at(each, signed_by) and push.is_of(_path(each), name)]
        return [(each, branches) for each in here if await branches.has(each, name)]

    async def _installed(
        self, told: Installation, signed_by: Mapping[str, Deliveries]
    ) -> dict[str, Any]:
        """Tell of repositories that may be read no more, and index those that may be again."""
        every = [
            each
            for each in await self.repositories.all()
            if each.kind == "git" and host_of(each.location) in signed_by
        ]
        lost = [each for each in every if _path(each).lower() in told.withdrawn]
        for each in lost:
            await self.requests.leases.withdrawn(each.id, each.name)
        back = [each for each in every if _path(each).lower() in told.granted - told.withdrawn]
        jobs = [await self.requests.again(each) for each in back]
        if not lost and not back:
            return _nothing("it concerns no repository that is served here")
        return {
            "repositories": [each.name for each in back],
            "withdrawn": [each.name for each in lost],
            "jobs": jobs,
        }

    def _signed_by(self, body: bytes, headers: Mapping[str, str]) -> dict[str, Deliveries]:
        return {name: each for name, each in self.hosts.items() if each.verify(body, headers)}


def _nothing(reason: str) -> dict[str, Any]:
    return {"repositories": [], "reason": reason}


def _is_of(repository: Repository, push: Push, hosts: Mapping[str, Deliveries]) -> bool:
    """Whether a push is to the branch that is indexed, by a host that vouches for it."""
    # Before the first index of a host's default branch nobody knows its name.
    branch = repository.branch or repository.on or _branch(push)
    return _is_at(repository, hosts) and push.is_of(_path(repository), branch)


def _is_at(repository: Repository, hosts: Mapping[str, Deliveries]) -> bool:
    return repository.kind == "git" and host_of(repository.location) in hosts


def _branch(push: Push) -> str:
    return push.ref.removeprefix("refs/heads/")


def _path(repository: Repository) -> str:
    """The name of a repository at its host: ``owner/repo``."""
    return repository.location.partition("://")[2].partition("/")[2].removesuffix(".git")
