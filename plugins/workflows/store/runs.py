"""Runs: where people are in the workflows that they walk, and the plans that they follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database, ToolFailed
from gateway.toolkit.sql import exclusive, insert_into, lock_number
from plugins.workflows import checks, errors, limits
from plugins.workflows.ids import new_id
from plugins.workflows.model import Outcome, Run
from plugins.workflows.store.kinds import enum_or_none
from plugins.workflows.store.tables import plans, runs

State = Literal["open", "finished", "all"]
_MAX_NAMED_RUNS = 5
"""Open runs that are named to someone who has too many."""
_PLANS_LOCK = "plans of runs"
"""What is held by whoever deletes plans, and shared by those who begin to follow one."""


class Runs:
    """The runs of all people; each is read and changed for its own person only.

    Args:
        database: the plugin's database.
        clock: gives the time, with its zone.
        keep: how long a finished run is kept, at least.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime], keep: timedelta) -> None:
        self._database, self._clock, self._keep = database, clock, keep

    async def start(
        self, person: str, workflow_id: str, version: int, plan: Mapping[str, Any]
    ) -> Run:
        """Start a run.

        Args:
            person: whose.
            workflow_id: a workflow that they can see.
            version: its version.
            plan: that version's plan, as JSON values; one that is kept already stays.

        Raises:
            ToolFailed: they have ``limits.OPEN_RUNS`` open already.
        """
        await self._forget(person)
        now = self._clock()
        run = Run(
            id=new_id(),
            person=person,
            workflow=workflow_id,
            version=version,
            step=None,
            started=now,
            updated=now,
            finished=None,
            outcome=None,
            note=None,
        )
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("playbook", _PLANS_LOCK), shared=True)
            await exclusive(connection, lock_number("playbook", f"runs of {person}"))
            await _check_run_limit(connection, person)
            await _keep_plan(connection, workflow_id, version, plan)
            await connection.execute(insert(runs).values(asdict(run)))
        return run

    async def get(self, person: str, run_id: str) -> Run:
        """One of a person's runs.

        Raises:
            ToolFailed: they have no such run.
        """
        async with self._database.engine.connect() as connection:
            return await _get(connection, person, run_id)

    async def advance(self, person: str, run_id: str, step: int | None, total: int) -> int:
        """Record that a step is handed out; of two at once, each gets a step of its own.

        Args:
            person: whose run.
            run_id: which.
            step: the step that is wanted, or None for the one after the last.
            total: how many steps there are.

        Returns:
            The step.

        Raises:
            ToolFailed: they have no such run, it is finished, or there is no such step.
        """
        wanted = func.coalesce(runs.c.step, -1) + 1 if step is None else literal(step)
        which = and_(_is_open(person, run_id), wanted < total)
        async with self._database.begin() as connection:
            if step is None or 0 <= step < total:
                moved = update(runs).where(which).values(step=wanted, updated=self._clock())
                row = (await connection.execute(moved.returning(runs.c.step))).first()
                if row is not None:
                    return int(row.step)
            run = await _get(connection, person, run_id)
        raise _already_finished(run) if run.finished else no_such_step(step, total, in_run=True)

    async def finish(
        self, person: str, run_id: str, outcome: Outcome, note: str | None = None
    ) -> Run:
        """Finish a run; one that is finished with the same outcome stays as it is.

        Raises:
            ToolFailed: they have no such run, or it is finished with another outcome; or the note
                cannot be kept.
        """
        note = checks.text(note, "note", limits.MAX_DESCRIPTION_CHARS) if note else None
        now = self._clock()
        ended = {"finished": now, "updated": now, "outcome": outcome, "note": note}
        async with self._database.begin() as connection:
            closing = update(runs).where(_is_open(person, run_id)).values(ended).returning(runs)
            row = (await connection.execute(closing)).first()
            run = await _get(connection, person, run_id) if row is None else _run(row)
        if run.outcome != outcome:
            raise _already_finished(run)
        return run

    async def listed(
        self,
        person: str,
        workflow: str | None = None,
        state: State = "open",
        limit: int = 20,
    ) -> list[Run]:
        """A person's runs, the one that moved last first.

        Args:
            person: whose.
            workflow: the id of the only workflow to list them of, or None.
            state: which.
            limit: how many at most.
        """
        query = select(runs).where(runs.c.person == person)
        if workflow is not None:
            query = query.where(runs.c.workflow == workflow)
        if state != "all":
            is_open = runs.c.finished.is_(None)
            query = query.where(is_open if state == "open" else ~is_open)
        query = query.order_by(runs.c.updated.desc(), runs.c.started.desc(), runs.c.id)
        async with self._database.engine.connect() as connection:
            return [_run(row) for row in await connection.execute(query.limit(limit))]

    async def plan(self, workflow: str, version: int) -> Mapping[str, Any] | None:
        """The kept plan of a workflow's version, or None where no run follows it."""
        this = and_(plans.c.workflow == workflow, plans.c.version == version)
        async with self._database.engine.connect() as connection:
            kept: Mapping[str, Any] | None = await connection.scalar(
                select(plans.c.plan).where(this)
            )
            return kept

    async def _forget(self, person: str) -> None:
        """Delete a person's runs that were finished long ago, and the plans that only they had."""
        before = self._clock() - self._keep
        old = and_(runs.c.person == person, runs.c.finished < before)
        async with self._database.engine.connect() as connection:
            if await connection.scalar(select(runs.c.id).where(old).limit(1)) is None:
                return
        await self._delete(old)

    async def erase(self, person: str) -> None:
        """Delete all of a person's runs, and the plans that only they had."""
        await self._delete(runs.c.person == person)

    async def _delete(self, old: ColumnElement[bool]) -> None:
        async with self._database.begin() as connection:
            # Nobody begins to follow a plan while it is decided that nobody does.
            await exclusive(connection, lock_number("playbook", _PLANS_LOCK))
            gone = delete(runs).where(old).returning(runs.c.workflow, runs.c.version)
            followed = {(row.workflow, row.version) for row in await connection.execute(gone)}
            unused = delete(plans).where(
                plans.c.workflow == bindparam("followed"),
                plans.c.version == bindparam("at"),
                ~exists().where(
                    runs.c.workflow == plans.c.workflow, runs.c.version == plans.c.version
                ),
            )
            if followed:
                values = [{"followed": each, "at": version} for each, version in sorted(followed)]
                await connection.execute(unused, values)


def no_such_step(step: int | None, total: int, *, in_run: bool) -> ToolFailed:
    """There is no such step; ``step`` is None for the one after the last."""
    last = f"The workflow has {total} steps, 0 to {total - 1}"
    if total < 2:
        last = "The workflow has one step, 0" if total else "The workflow has no steps"
    asked = "the last one was handed out" if step is None else f"there is no step {step}"
    todo = " Call finish_run." if in_run else " You are done."
    return ToolFailed("no_such_step", f"{last}; {asked}.{todo}", {"totalSteps": total})


def _already_finished(run: Run) -> ToolFailed:
    at = "" if run.finished is None else f" at {run.finished.isoformat(timespec='seconds')}"
    return ToolFailed(
        "run_finished",
        f"This run was finished{at} as {run.outcome}. select_workflow with start_run starts "
        "another.",
        {"outcome": run.outcome, "finishedAt": run.finished and run.finished.isoformat()},
    )


async def _check_run_limit(connection: AsyncConnection, person: str) -> None:
    """See to it that a person may open one more run.

    Raises:
        ToolFailed: too many are open.
    """
    mine = and_(runs.c.person == person, runs.c.finished.is_(None))
    number = await connection.scalar(select(func.count()).select_from(runs).where(mine))
    if (number or 0) < limits.MAX_OPEN_RUNS:
        return
    oldest = (
        select(runs.c.id).where(mine).order_by(runs.c.updated, runs.c.id).limit(_MAX_NAMED_RUNS)
    )
    ids = [row.id for row in await connection.execute(oldest)]
    raise ToolFailed(
        "too_many_runs",
        f"You have {number} open runs, and {limits.MAX_OPEN_RUNS} is the most. Finish some with "
        f"finish_run first; those that moved longest ago: {', '.join(ids)}.",
        {"openRuns": number, "oldest": ids},
    )


async def _keep_plan(
    connection: AsyncConnection, workflow: str, version: int, plan: Mapping[str, Any]
) -> None:
    """Keep a version's plan where it is not kept yet; a version has one plan."""
    new = insert_into(connection, plans).values(workflow=workflow, version=version, plan=dict(plan))
    await connection.execute(new.on_conflict_do_nothing())


async def _get(connection: AsyncConnection, person: str, run_id: str) -> Run:
    this = and_(runs.c.id == run_id, runs.c.person == person)
    row = (await connection.execute(select(runs).where(this))).first()
    if row is None:
        raise errors.not_found("Run")
    return _run(row)


def _is_open(person: str, run_id: str) -> ColumnElement[bool]:
    return and_(runs.c.id == run_id, runs.c.person == person, runs.c.finished.is_(None))


def _run(row: Row[Any]) -> Run:
    values = {each.name: getattr(row, each.name) for each in fields(Run)}
    return Run(**values | {"outcome": enum_or_none(Outcome, row.outcome)})
