"""What people think of workflows, and how many walk them: counted by people, its owner left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    func,
    literal,
    select,
    true,
    union_all,
)

from gateway.contract import Database
from gateway.toolkit.sql import insert_into
from plugins.workflows import errors
from plugins.workflows.model import Outcome, TargetType
from plugins.workflows.store.queries import find
from plugins.workflows.store.tables import ratings, runs, workflows


@dataclass(frozen=True, slots=True)
class Standing:
    """How a workflow stands with everyone but its owner.

    Attributes:
        ratings: how many people have rated it.
        stars: how many stars these gave it together.
        started, finished: how many people have a run of it, and one that is done, of the runs that
            are kept.
    """

    ratings: int = 0
    stars: int = 0
    started: int = 0
    finished: int = 0

    @property
    def average(self) -> float | None:
        """The stars that one of them gave it, or None without any."""
        return round(self.stars / self.ratings, 2) if self.ratings else None


class Ratings:
    """The ratings of all people, one of a person for a workflow.

    Args:
        database: the plugin's database.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def rate(self, person: str, ref: str, stars: int | None) -> str:
        """Rate a workflow, in place of what was said before.

        Args:
            person: who rates.
            ref: the id or key of a workflow that they see, and that is not theirs.
            stars: 1 to 5, or None to take the rating back.

        Returns:
            The workflow's id.

        Raises:
            ToolFailed: there is no such workflow, it is another's and private, or it is their own.
        """
        async with self._database.begin() as connection:
            found = await find(connection, TargetType.WORKFLOW, ref, person)
            if found.owner == person:
                raise errors.bad_input("This workflow is your own, and rated by others alone.")
            if stars is None:
                mine = and_(ratings.c.workflow == found.id, ratings.c.person == person)
                await connection.execute(delete(ratings).where(mine))
                return str(found.id)
            given = {"stars": stars, "at": self._clock()}
            new = insert_into(connection, ratings).values(workflow=found.id, person=person, **given)
            again = new.on_conflict_do_update(index_elements=["workflow", "person"], set_=given)
            await connection.execute(again)
        return str(found.id)

    async def of(self, person: str, workflow: str) -> int | None:
        """The stars that somebody gave a workflow, or None."""
        mine = and_(ratings.c.workflow == workflow, ratings.c.person == person)
        async with self._database.read() as connection:
            found: int | None = await connection.scalar(select(ratings.c.stars).where(mine))
            return found

    async def standings(self, ids: Collection[str]) -> Mapping[str, Standing]:
        """How some workflows stand; those that nobody else has rated or walked are left out.

        Whoever asks sees those workflows, or shows what is found here to nobody.
        """
        if not ids:
            return {}
        return await _standings(self._database, sorted(ids))

    async def erase(self, person: str) -> None:
        """Take all of a person's ratings back."""
        async with self._database.begin() as connection:
            await connection.execute(delete(ratings).where(ratings.c.person == person))


async def all_standings(database: Database) -> Mapping[str, Standing]:
    """How all workflows stand that anybody but their owners has rated or walked.

    It is for ranking, and for what is shown to whoever sees the workflow.
    """
    return await _standings(database, None)


async def _standings(database: Database, ids: Sequence[str] | None) -> Mapping[str, Standing]:
    counts = union_all(_rated(ids), _walked(ids)).subquery()
    names = ("ratings", "stars", "started", "finished")
    summed = (func.sum(counts.c[name]).label(name) for name in names)
    query = select(counts.c.id, *summed).group_by(counts.c.id)
    async with database.read() as connection:
        rows = (await connection.execute(query)).all()
    # PostgreSQL's sums of sums are decimal numbers.
    return {row.id: Standing(*(int(row[at]) for at in range(1, 5))) for row in rows}


def _of(ids: Sequence[str] | None) -> ColumnElement[bool]:
    return true() if ids is None else workflows.c.id.in_(ids)


def _rated(ids: Sequence[str] | None) -> Select[Any]:
    of = ratings.join(workflows, workflows.c.id == ratings.c.workflow)
    query = select(
        workflows.c.id,
        func.count().label("ratings"),
        func.sum(ratings.c.stars).label("stars"),
        literal(0).label("started"),
        literal(0).label("finished"),
    )
    others = ratings.c.person != workflows.c.owner
    return query.select_from(of).where(_of(ids), others).group_by(workflows.c.id)


def _walked(ids: Sequence[str] | None) -> Select[Any]:
    of = runs.join(workflows, workflows.c.id == runs.c.workflow)
    done = case((runs.c.outcome == Outcome.DONE, runs.c.person))
    query = select(
        workflows.c.id,
        literal(0).label("ratings"),
        literal(0).label("stars"),
        func.count(runs.c.person.distinct()).label("started"),
        func.count(done.distinct()).label("finished"),
    )
    others = runs.c.person != workflows.c.owner
    return query.select_from(of).where(_of(ids), others).group_by(workflows.c.id)
