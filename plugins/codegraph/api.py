"""The REST API for admins: add, index, show and remove repositories on the allowed hosts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route, Tier, ToolFailed
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.repositories import urls
from plugins.codegraph.repositories.leases import Leases
from plugins.codegraph.repositories.registry import NameTaken, Repositories, UnknownRepository
from plugins.codegraph.repositories.repository import Draft, Repository


class Nothing(BaseModel):
    """No parameters."""

    model_config = ConfigDict(extra="forbid")


class Named(BaseModel):
    """Which repository."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=64, description="The repository's name.")


class Added(BaseModel):
    """A repository to add."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(
        max_length=urls.MAX_LENGTH, description="Its https address, of a host on the allow-list."
    )
    name: str | None = Field(
        None,
        max_length=64,
        description="What to call it; the last part of the address if left out.",
    )
    branch: str | None = Field(
        None, max_length=255, description="The branch; the host's default one if left out."
    )
    tier: Tier | None = Field(None, description="The tier that may see it.")
    groups: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="Who of that tier may see it: those of one of these groups; empty for all.",
    )


class Shown(BaseModel):
    """A repository, and what is being done to it."""

    name: str
    kind: str = Field(description="path: a directory on the portal's machine; git: an address.")
    location: str
    branch: str | None = Field(None, description="What was asked for.")
    tier: Tier
    groups: list[str]
    state: str = Field(description="waiting, indexing, ready or failed.")
    done: int = Field(description="How far the work is, of total; 0 of 0 where not known.")
    total: int
    message: str = Field(description="What is being done, or why the last index failed.")
    indexed_at: datetime | None = None
    indexed_branch: str
    commit: str
    summary: dict[str, Any] = Field(description="What the last index found.")


class ShownList(BaseModel):
    """All repositories, by name."""

    repositories: list[Shown]


class Removed(BaseModel):
    """A repository that nobody sees any more; what is kept of it is purged within 24 hours."""

    name: str
    removal: str = Field(description="The entry in the log of removals.")


class Api:
    """The handlers of the routes.

    Args:
        config: the plugin's section of ``portal.yaml``.
        repositories: the registry.
        leases: the leases on repositories.
    """

    def __init__(self, config: CodegraphConfig, repositories: Repositories, leases: Leases) -> None:
        self._config, self._repositories, self._leases = config, repositories, leases

    async def list(self, params: Nothing, caller: Caller) -> ShownList:
        """Every repository, whatever its groups."""
        found = await self._repositories.all()
        return ShownList(repositories=[shown(each) for each in found])

    async def look(self, params: Named, caller: Caller) -> Shown:
        """One repository, and how far its index is."""
        return shown(await self._named(params.name))

    async def add(self, params: Added, caller: Caller) -> Shown:
        """Add a repository; the portal indexes it in a moment."""
        try:
            draft = self._draft(params, caller)
            return shown(await self._repositories.add(draft))
        except urls.BadAddress as error:
            raise ToolFailed("bad_repository", str(error)) from None
        except NameTaken as error:
            raise ToolFailed("taken", str(error)) from None

    async def index(self, params: Named, caller: Caller) -> Shown:
        """Ask for an index of a repository."""
        repository = await self._named(params.name)
        await self._leases.request(repository.id)
        return shown(await self._named(params.name))

    async def remove(self, params: Named, caller: Caller) -> Removed:
        """Remove a repository."""
        repository = await self._named(params.name)
        if repository.declared:
            raise ToolFailed(
                "declared", f"{repository.name} stands in portal.yaml: take it out there."
            )
        try:
            entry = await self._repositories.remove(repository.name, caller.person)
        except UnknownRepository as error:
            raise ToolFailed("not_found", str(error)) from None
        return Removed(name=repository.name, removal=entry)

    def _draft(self, params: Added, caller: Caller) -> Draft:
        url = urls.checked_url(params.url, self._config.hosts.keys())
        return Draft(
            name=urls.checked_name(params.name) if params.name else urls.name_from(url),
            kind="git",
            location=url,
            branch=urls.checked_branch(params.branch) if params.branch else None,
            tier=params.tier,
            groups=tuple(params.groups),
            created_by=caller.person,
        )

    async def _named(self, name: str) -> Repository:
        try:
            return await self._repositories.get(name)
        except UnknownRepository as error:
            raise ToolFailed("not_found", str(error)) from None


def shown(repository: Repository) -> Shown:
    """A repository as the API and ``--json`` show it."""
    state = repository.state
    return Shown(
        name=repository.name,
        kind=repository.kind,
        location=repository.location,
        branch=repository.branch,
        tier=repository.tier,
        groups=list(repository.groups),
        state=state.word(indexed=repository.layer is not None),
        done=state.done,
        total=state.total,
        message=str(state),
        indexed_at=repository.indexed,
        indexed_branch=repository.on,
        commit=repository.commit,
        summary=state.summary,
    )


def routes(config: CodegraphConfig, repositories: Repositories, leases: Leases) -> Sequence[Route]:
    """The routes below ``/api/v1/codegraph``, all for admins only."""
    api = Api(config, repositories, leases)
    all_of, one = "/repositories", "/repositories/{name}"

    def route(method: Any, path: str, run: Any, models: tuple[Any, Any], summary: str) -> Route:
        return Route(method, path, run, None, *models, summary, admin=True)

    return [
        route("GET", all_of, api.list, (Nothing, ShownList), "List all repositories."),
        route("POST", all_of, api.add, (Added, Shown), "Add a repository of another host."),
        route("GET", one, api.look, (Named, Shown), "Look at a repository's state and progress."),
        route("DELETE", one, api.remove, (Named, Removed), "Remove a repository."),
        route("POST", f"{one}/index", api.index, (Named, Shown), "Index a repository anew."),
    ]
