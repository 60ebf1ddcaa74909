"""Runs over each database: against a model, at once, and what becomes of old ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows import limits
from plugins.workflows.ids import new_id
from plugins.workflows.model import Outcome, Run
from plugins.workflows.store.runs import Runs, State
from plugins.workflows.store.tables import plans
from tests.examples import examples
from tests.plugins.workflows.conftest import NOON, Clock
from tests.plugins.workflows.folders.rows import ANA, BEN, WORKFLOW, item

KEEP = timedelta(days=90)
PLAN = {"items": [{"name": "Zwölf \u0000 steps", "extra": [1, None]}]}


@pytest.fixture
def runs(database: OwnedDatabase, clock: Clock) -> Runs:
    return Runs(database, clock, KEEP)


@pytest.fixture
async def workflow(database: OwnedDatabase) -> str:
    return await item(database, WORKFLOW, ANA.person)


async def kept_plans(database: OwnedDatabase) -> set[tuple[str, int]]:
    async with database.engine.connect() as connection:
        rows = await connection.execute(select(plans.c.workflow, plans.c.version))
        return {(row.workflow, row.version) for row in rows}


async def test_a_run_begins_before_its_first_step(runs: Runs, workflow: str) -> None:
    run = await runs.start(ANA.person, workflow, 3, PLAN)
    assert run == Run(
        id=run.id,
        person=ANA.person,
        workflow=workflow,
        version=3,
        step=None,
        started=run.started,
        updated=run.started,
        finished=None,
        outcome=None,
        note=None,
    )
    assert run.started > NOON
    assert await runs.get(ANA.person, run.id) == run
    assert await runs.plan(workflow, 3) == PLAN
    assert await runs.plan(workflow, 2) is None


async def test_a_version_keeps_its_first_plan(runs: Runs, workflow: str) -> None:
    await runs.start(ANA.person, workflow, 1, PLAN)
    await runs.start(BEN.person, workflow, 1, {"items": []})
    assert await runs.plan(workflow, 1) == PLAN


async def test_a_run_goes_from_step_to_step_to_the_end(runs: Runs, workflow: str) -> None:
    run = await runs.start(ANA.person, workflow, 1, PLAN)
    assert [await runs.advance(ANA.person, run.id, None, 3) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ToolFailed, match=r"3 steps, 0 to 2.*handed out.*finish_run") as failed:
        await runs.advance(ANA.person, run.id, None, 3)
    assert (failed.value.code, failed.value.details) == ("no_such_step", {"totalSteps": 3})
    assert await runs.advance(ANA.person, run.id, 1, 3) == 1
    assert await runs.advance(ANA.person, run.id, None, 3) == 2


@pytest.mark.parametrize("step", [-1, 3, 2**31, 2**70])
async def test_a_step_that_is_not_there_is_refused_and_not_recorded(
    runs: Runs, workflow: str, step: int
) -> None:
    run = await runs.start(ANA.person, workflow, 1, PLAN)
    with pytest.raises(ToolFailed, match=f"there is no step {step}"):
        await runs.advance(ANA.person, run.id, step, 3)
    assert await runs.get(ANA.person, run.id) == run


async def test_a_workflow_without_steps_has_no_next_one(runs: Runs, workflow: str) -> None:
    run = await runs.start(ANA.person, workflow, 1, PLAN)
    with pytest.raises(ToolFailed, match="has no steps"):
        await runs.advance(ANA.person, run.id, None, 0)


async def test_a_run_is_its_own_persons_alone(runs: Runs, workflow: str) -> None:
    run = await runs.start(ANA.person, workflow, 1, PLAN)
    for attempt in (
        runs.get(BEN.person, run.id),
        runs.advance(BEN.person, run.id, None, 3),
        runs.finish(BEN.person, run.id, Outcome.DONE),
        runs.get(ANA.person, "unknown"),
    ):
        with pytest.raises(ToolFailed, match=r"^Run not found$"):
            await attempt
    assert await runs.get(ANA.person, run.id) == run
    assert await runs.listed(BEN.person, state="all") == []


async def test_a_finished_run_is_over(runs: Runs, workflow: str) -> None:
    run = await runs.start(ANA.person, workflow, 1, PLAN)
    await runs.advance(ANA.person, run.id, None, 3)
    done = await runs.finish(ANA.person, run.id, Outcome.DONE, "All well.\nTwice.")
    assert (done.outcome, done.note, done.step) == (Outcome.DONE, "All well.\nTwice.", 0)
    assert done.finished == done.updated
    assert await runs.finish(ANA.person, run.id, Outcome.DONE, "Again") == done
    when = "finished at 2026-03-01T12:00:0.* as done"
    with pytest.raises(ToolFailed, match=when) as failed:
        await runs.finish(ANA.person, run.id, Outcome.ABANDONED)
    assert failed.value.code == "run_finished"
    for step in (None, 0):
        with pytest.raises(ToolFailed, match=when):
            await runs.advance(ANA.person, run.id, step, 3)
    assert await runs.get(ANA.person, run.id) == done


@pytest.mark.parametrize("note", ["x" * (limits.MAX_DESCRIPTION_CHARS + 1), "a\x00b"])
async def test_a_note_that_cannot_be_kept_finishes_nothing(
    runs: Runs, workflow: str, note: str
) -> None:
    run = await runs.start(ANA.person, workflow, 1, PLAN)
    with pytest.raises(ToolFailed, match="note: has"):
        await runs.finish(ANA.person, run.id, Outcome.DONE, note)
    assert await runs.get(ANA.person, run.id) == run


async def test_too_many_open_runs_are_refused_with_what_to_finish(
    runs: Runs, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_OPEN_RUNS", 3)
    open_runs = [await runs.start(ANA.person, workflow, 1, PLAN) for _ in range(3)]
    await runs.start(BEN.person, workflow, 1, PLAN)
    await runs.advance(ANA.person, open_runs[0].id, None, 3)
    with pytest.raises(ToolFailed, match="3 open runs, and 3 is the most") as failed:
        await runs.start(ANA.person, workflow, 2, PLAN)
    oldest = [open_runs[1].id, open_runs[2].id, open_runs[0].id]
    assert failed.value.details == {"openRuns": 3, "oldest": oldest}
    assert await runs.plan(workflow, 2) is None
    await runs.finish(ANA.person, open_runs[1].id, Outcome.ABANDONED)
    await runs.start(ANA.person, workflow, 2, PLAN)


async def test_runs_that_are_started_at_once_stay_within_the_limit(
    database: OwnedDatabase,
    open_another: Callable[[], OwnedDatabase],
    clock: Clock,
    workflow: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_OPEN_RUNS", 4)
    both = [Runs(each, clock, KEEP) for each in (database, open_another())]
    done = await asyncio.gather(
        *(both[number % 2].start(ANA.person, workflow, 1, PLAN) for number in range(12)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, Run) for each in done) == 4
    assert {each.code for each in done if isinstance(each, ToolFailed)} == {"too_many_runs"}
    assert len(await both[0].listed(ANA.person)) == 4


async def test_clients_that_advance_one_run_at_once_get_each_step_once(
    database: OwnedDatabase,
    open_another: Callable[[], OwnedDatabase],
    clock: Clock,
    workflow: str,
) -> None:
    both = [Runs(each, clock, KEEP) for each in (database, open_another())]
    run = await both[0].start(ANA.person, workflow, 1, PLAN)
    done = await asyncio.gather(
        *(both[number % 2].advance(ANA.person, run.id, None, 12) for number in range(16)),
        return_exceptions=True,
    )
    assert sorted(each for each in done if isinstance(each, int)) == list(range(12))
    assert sum(isinstance(each, ToolFailed) for each in done) == 4
    assert (await both[1].get(ANA.person, run.id)).step == 11


async def test_of_clients_that_finish_one_run_at_once_the_first_decides(
    database: OwnedDatabase,
    open_another: Callable[[], OwnedDatabase],
    clock: Clock,
    workflow: str,
) -> None:
    both = [Runs(each, clock, KEEP) for each in (database, open_another())]
    run = await both[0].start(ANA.person, workflow, 1, PLAN)
    outcomes = [Outcome.DONE, Outcome.ABANDONED] * 4
    done = await asyncio.gather(
        *(
            both[number % 2].finish(ANA.person, run.id, outcome)
            for number, outcome in enumerate(outcomes)
        ),
        return_exceptions=True,
    )
    kept = await both[0].get(ANA.person, run.id)
    assert [each for each in done if isinstance(each, Run)] == [kept] * 4
    assert sum(isinstance(each, ToolFailed) for each in done) == 4


async def test_old_runs_go_with_the_plans_that_only_they_followed(
    runs: Runs, workflow: str, database: OwnedDatabase, clock: Clock
) -> None:
    finished = [await runs.start(ANA.person, workflow, version, PLAN) for version in (1, 2, 3)]
    for run in finished:
        await runs.finish(ANA.person, run.id, Outcome.DONE)
    bens = await runs.start(BEN.person, workflow, 2, PLAN)
    still_open = await runs.start(ANA.person, workflow, 4, PLAN)
    clock.time += KEEP / 2
    late = await runs.start(ANA.person, workflow, 3, PLAN)
    late = await runs.finish(ANA.person, late.id, Outcome.ABANDONED)
    clock.time += KEEP / 2
    await runs.start(BEN.person, workflow, 5, PLAN)
    assert len(await runs.listed(ANA.person, state="all")) == 5
    new = await runs.start(ANA.person, workflow, 5, PLAN)
    assert await runs.listed(ANA.person, state="all") == [new, late, still_open]
    assert await runs.get(BEN.person, bens.id) == bens
    assert {version for _, version in await kept_plans(database)} == {2, 3, 4, 5}


class Held:
    """A database whose transactions are not committed before ``go``."""

    def __init__(self, database: OwnedDatabase) -> None:
        self.engine = database.engine
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        self._database = database

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        async with self._database.begin() as connection:
            yield connection
            self.reached.set()
            await self.go.wait()

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return self._database.read()

    async def migrate(self, migrations: Path) -> None:
        await self._database.migrate(migrations)


async def test_a_plan_that_somebody_begins_to_follow_is_not_lost(
    database: OwnedDatabase,
    open_another: Callable[[], OwnedDatabase],
    clock: Clock,
    workflow: str,
) -> None:
    held = Held(open_another())
    here, there = Runs(database, clock, KEEP), Runs(held, clock, KEEP)
    old = await here.start(ANA.person, workflow, 1, PLAN)
    await here.finish(ANA.person, old.id, Outcome.DONE)
    clock.time += KEEP * 2
    begins = asyncio.create_task(there.start(BEN.person, workflow, 1, PLAN))
    await held.reached.wait()
    forgets = asyncio.create_task(here.start(ANA.person, workflow, 2, PLAN))
    await asyncio.wait({forgets}, timeout=0.3)
    held.go.set()
    await asyncio.gather(begins, forgets)
    assert await here.plan(workflow, 1) == PLAN
    assert [run.version for run in await here.listed(ANA.person, state="all")] == [2]


@dataclass
class Walk:
    """A run as one would think of it."""

    id: str
    person: str
    workflow: str
    step: int = -1
    outcome: Outcome | None = None
    moved: int = 0


@dataclass
class Diary:
    """Everybody's runs, as one would think of them."""

    walks: list[Walk] = field(default_factory=list)
    time: int = 0

    def moves(self, walk: Walk) -> None:
        self.time += 1
        walk.moved = self.time

    def listing(self, person: str, workflow: str | None, state: State, limit: int) -> list[str]:
        wanted = [
            walk
            for walk in self.walks
            if walk.person == person
            and workflow in (None, walk.workflow)
            and (state == "all" or (walk.outcome is None) == (state == "open"))
        ]
        return [walk.id for walk in sorted(wanted, key=lambda walk: -walk.moved)][:limit]


TOTAL = 4


def steps(random: Random) -> Iterator[tuple[str, int, Any]]:
    """What two people do with two workflows; the second number, or what is done, comes last."""
    for _ in range(random.randint(5, 35)):
        which = random.randrange(20)
        yield random.choice(
            [
                ("start", random.randrange(2), random.randrange(2)),
                ("advance", which, None),
                ("advance", which, random.randint(-1, TOTAL)),
                ("finish", which, random.choice(list(Outcome))),
            ]
        )


async def start(runs: Runs, diary: Diary, person: str, workflow: str) -> None:
    run = await runs.start(person, workflow, 1, PLAN)
    diary.walks.append(Walk(run.id, person, workflow))
    diary.moves(diary.walks[-1])


async def advance(runs: Runs, diary: Diary, walk: Walk, step: int | None) -> None:
    wanted = walk.step + 1 if step is None else step
    if walk.outcome is not None or not 0 <= wanted < TOTAL:
        with pytest.raises(ToolFailed) as failed:
            await runs.advance(walk.person, walk.id, step, TOTAL)
        assert failed.value.code == ("no_such_step" if walk.outcome is None else "run_finished")
        return
    assert await runs.advance(walk.person, walk.id, step, TOTAL) == wanted
    walk.step = wanted
    diary.moves(walk)


async def finish(runs: Runs, diary: Diary, walk: Walk, outcome: Outcome) -> None:
    if walk.outcome not in (None, outcome):
        with pytest.raises(ToolFailed, match="was finished"):
            await runs.finish(walk.person, walk.id, outcome)
        return
    assert (await runs.finish(walk.person, walk.id, outcome)).outcome is outcome
    if walk.outcome is None:
        walk.outcome = outcome
        diary.moves(walk)


@pytest.mark.timeout(600)
@settings(
    max_examples=examples(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(random=st.randoms(use_true_random=True))
async def test_runs_go_as_the_model_says(
    random: Random, runs: Runs, database: OwnedDatabase
) -> None:
    people = [f"person:{new_id()}" for _ in range(2)]
    workflows = [await item(database, WORKFLOW, people[0]) for _ in range(2)]
    diary = Diary()
    for name, number, what in steps(random):
        if name == "start":
            await start(runs, diary, people[number], workflows[what])
        elif diary.walks:
            walk = diary.walks[number % len(diary.walks)]
            act: Callable[..., Awaitable[None]] = advance if name == "advance" else finish
            await act(runs, diary, walk, what)
    for person in people:
        for workflow in (None, *workflows):
            for state in get_args(State):
                limit = random.randint(1, 6)
                found = await runs.listed(person, workflow, state, limit)
                assert [run.id for run in found] == diary.listing(person, workflow, state, limit)
    for walk in diary.walks:
        run = await runs.get(walk.person, walk.id)
        assert (-1 if run.step is None else run.step) == walk.step
        assert run.outcome is walk.outcome
        assert (run.finished is None) == (walk.outcome is None)
