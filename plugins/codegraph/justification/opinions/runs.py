"""Keeps how far each repository's run is, in which models or agents are asked."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import select, update

from gateway.contract import Database
from gateway.toolkit.sql import insert_into
from plugins.codegraph.store.tables import opinion_runs

RunState = Literal["requested", "asking", "agents", "done", "failed"]
"""``requested`` waits for a job for its level, ``asking`` has one, ``agents`` waits until members'
agents have done the work that was published, ``failed`` is tried again later."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run.

    Attributes:
        repo, org: the repository.
        id: the run's own.
        state: see :data:`RunState`.
        everything: whether what facts are sure of is asked about too.
        requested: when it was asked for.
        layer, generation: which graph it was planned on last; 0 before.
        level, levels: the level that it is at, and how many there are; 0 before the first.
        attempt: how many jobs it has had.
        job: the last of them, or "".
        changed: when it went on last.
        problem: why it failed, or "".
    """

    repo: str
    org: str
    id: str
    state: RunState
    everything: bool
    requested: datetime
    layer: int
    generation: int
    level: int
    levels: int
    attempt: int
    job: str
    changed: datetime
    problem: str

    def __str__(self) -> str:
        """How far it is, for people."""
        if self.state == "failed":
            return f"asking what code is for has failed, and is tried again: {self.problem}"
        if self.state == "done":
            return "what code is for was asked"
        who = "members' agents are asked" if self.state == "agents" else "a model is asked"
        of = f", level {self.level + 1} of {self.levels}" if self.levels else ""
        return f"{who} what code is for{of}"


class Runs:
    """Keeps runs.

    Args:
        database: the plugin's database.
        now: the time, in UTC.

    Attributes:
        now: as given.
    """

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database, self.now = database, now

    async def all(self) -> Sequence[Run]:
        """The last run of each repository that has had one."""
        query = select(opinion_runs).order_by(opinion_runs.c.repo)
        async with self._database.read() as connection:
            return [Run(**row._mapping) for row in await connection.execute(query)]

    async def of(self, repo: str) -> Run | None:
        """The last run of a repository, or None."""
        query = select(opinion_runs).where(opinion_runs.c.repo == repo)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        return None if row is None else Run(**row._mapping)

    async def request(self, org: str, repo: str, *, everything: bool = False) -> str:
        """Begin a run, in place of one that is under way; what was answered stays.

        Returns:
            The run's id.
        """
        now, id = self.now(), secrets.token_hex(8)
        row = {
            **{"org": org, "id": id, "state": "requested", "everything": everything},
            **{"requested": now, "changed": now, "layer": 0, "generation": 0},
            **{"level": 0, "levels": 0, "attempt": 0, "job": "", "problem": ""},
        }
        async with self._database.begin() as connection:
            new = insert_into(connection, opinion_runs).values(repo=repo, **row)
            await connection.execute(new.on_conflict_do_update(index_elements=["repo"], set_=row))
        return id

    async def set(self, run: Run, **values: Any) -> bool:
        """Change a run, as long as it is the same and at the same attempt.

        Returns:
            Whether it was; another process may have gone on with it.
        """
        same = update(opinion_runs).where(
            opinion_runs.c.repo == run.repo,
            opinion_runs.c.id == run.id,
            opinion_runs.c.attempt == run.attempt,
            opinion_runs.c.level == run.level,
        )
        async with self._database.begin() as connection:
            done = await connection.execute(same.values(changed=self.now(), **values))
        return bool(done.rowcount)
