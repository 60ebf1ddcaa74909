"""The parts that keep repositories, over a database, with an index that does as the test says."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from sqlalchemy import select, update

from gateway.contract import Caller, Database, Tier
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.repositories.build import IndexBuilder, Progress, Then
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.leases import Leases
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Draft, Repository
from plugins.codegraph.repositories.tables import work as work_table


class Clock:
    """A time that the test moves."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def passes(self, **span: float) -> None:
        self.time += timedelta(**span)


def count(root: Path) -> int:
    """How many Python files there are."""
    return sum(1 for _ in root.rglob("*.py"))


@dataclass
class HeldIndex:
    """An index that waits until the test lets it go on, or fails as it is told.

    Attributes:
        begun: which repositories were begun.
        go_on: set where it may end.
        error: raised in place of an end.
    """

    begun: list[str] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None

    async def index(
        self, repository: Repository, root: Path, progress: Progress, then: Then
    ) -> dict[str, Any]:
        self.begun.append(repository.name)
        progress(3, 10, "reading 3 of 10 files")
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        await then(repository)
        return {"files": count(root), "entities": 7}

    async def changed(
        self, repository: Repository, root: Path, progress: Progress, then: Then
    ) -> dict[str, Any] | None:
        return await self.index(repository, root, progress, then)


@dataclass
class World:
    """The parts."""

    database: Database
    clock: Clock
    repositories: Repositories
    work: Leases
    index: HeldIndex
    making: IndexBuilder

    async def add(self, name: str, location: Path | str, **more: Any) -> Repository:
        return await self.repositories.add(Draft(name, "path", str(location), **more))

    async def held_by(self, repository: Repository) -> str:
        query = select(work_table.c.holder).where(work_table.c.repo == repository.id)
        async with self.database.read() as connection:
            return str((await connection.execute(query)).scalar_one())

    async def seize(self, repository: Repository, holder: str) -> None:
        """Have somebody else hold it, as where this process was stopped for long."""
        change = update(work_table).where(work_table.c.repo == repository.id)
        async with self.database.begin() as connection:
            await connection.execute(change.values(holder=holder))


def world(database: Database, copies: Path, config: CodegraphConfig | None = None) -> World:
    clock, index = Clock(), HeldIndex()
    repositories = Repositories(database, clock)
    work = Leases(database, clock, copies.parent / "holders")

    def secret(reference: str) -> str:
        return f"the secret of {reference}"

    making = IndexBuilder(config or CodegraphConfig(), copies, secret, work, cast(Indexes, index))
    return World(database, clock, repositories, work, index, making)


def caller(tier: Tier, *groups: str, person: str = "person:a") -> Caller:
    return Caller(person, tier, groups=frozenset(groups))
