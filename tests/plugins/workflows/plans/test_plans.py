"""A plan is built once for each version, by one query ever after, and for those who may see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from gateway.contract import Objects, ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import PromptDraft, Reference, StageItemDraft, Writer
from plugins.workflows.model import AutoPrompt, TargetType, Visibility, Workflow
from plugins.workflows.plans.plan import visible_to
from plugins.workflows.plans.plans import Plans
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.runs import Runs
from tests.plugins.workflows.conftest import Clock, embed, prompt, skill, stage, workflow

PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE


@pytest.fixture
def runs(database: OwnedDatabase, clock: Clock) -> Runs:
    return Runs(database, clock, timedelta(days=1))


@pytest.fixture
def plans(playbook: Playbook, runs: Runs) -> Plans:
    return Plans(playbook, runs)


@contextmanager
def counted(database: OwnedDatabase) -> Iterator[list[str]]:
    """The statements that read while the block runs."""
    engine, read = database.engine.sync_engine, []

    def note(_: Any, __: Any, statement: str, *more: Any) -> None:
        if statement.startswith("SELECT"):
            read.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield read
    event.remove(engine, "before_cursor_execute", note)


async def names(plans: Plans, made: Workflow, viewer: str | None = None) -> list[str]:
    known = await plans.of_workflow(made.id, viewer)
    return [item.name for item in visible_to(known.plan, viewer).items]


async def published(playbook: Playbook, writer: Writer, *items: StageItemDraft) -> Workflow:
    return await playbook.add_workflow(writer, workflow(stage(*items), visibility=PUBLIC))


async def test_a_plan_that_was_built_is_had_by_one_query(
    database: OwnedDatabase, playbook: Playbook, plans: Plans, alice: Writer
) -> None:
    made = await published(playbook, alice, prompt("a"), prompt("b"))
    assert await names(plans, made) == ["a", "b"]
    with counted(database) as queries:
        assert await names(plans, made) == ["a", "b"]
        first = await plans.of_workflow(made.id, None)
        assert await plans.of_workflow(made.key, alice.person) is first
    assert len(queries) == 3


async def test_those_who_ask_at_once_wait_for_one_building(
    database: OwnedDatabase, playbook: Playbook, runs: Runs, alice: Writer
) -> None:
    made = await published(playbook, alice, prompt("a"))
    with counted(database) as alone:
        await Plans(playbook, runs).of_workflow(made.id, None)
    with counted(database) as together:
        plans = Plans(playbook, runs)
        found = await asyncio.gather(*(plans.of_workflow(made.id, None) for _ in range(12)))
    assert all(each is found[0] for each in found)
    assert len(together) == len(alone) + 11


async def test_what_is_kept_of_a_workflow_holds_no_items(
    playbook: Playbook, plans: Plans, alice: Writer
) -> None:
    made = await published(playbook, alice, prompt("a"))
    known = await plans.of_workflow(made.id, None)
    assert [each.name for each in known.workflow.stages] == ["Begin"]
    assert known.workflow.stages[0].items == ()


async def test_an_edit_is_in_the_next_plan_of_every_replica(
    open_another: Callable[[], OwnedDatabase],
    objects: Objects,
    playbook: Playbook,
    plans: Plans,
    clock: Clock,
    alice: Writer,
) -> None:
    other = open_another()
    elsewhere = Plans(Playbook(other, objects, embed, clock), Runs(other, clock, timedelta(days=1)))
    card = await playbook.add_skill(alice, skill("Old", visibility=PUBLIC))
    placed = StageItemDraft(Reference(TargetType.SKILL, card.id))
    made = await published(playbook, alice, prompt("a"), placed)
    for each in (plans, elsewhere):
        assert await names(each, made) == ["a", "Old"]
    await playbook.edit_skill(alice, card.id, card.version, {"name": "New"})
    for each in (plans, elsewhere):
        assert await names(each, made) == ["a", "New"]


async def test_an_automatic_prompt_that_changes_is_in_every_next_plan(
    playbook: Playbook, plans: Plans, alice: Writer, portal: Writer
) -> None:
    board = PromptDraft(
        name="Board", content="Look.", key="board", automatic=AutoPrompt.MEMORY_BOARD
    )
    draft = workflow(stage(prompt("a"), with_review=True), visibility=PUBLIC)
    made = await playbook.add_workflow(alice, draft)
    assert await names(plans, made) == ["a"]
    await playbook.put_prompt(portal, board)
    assert await names(plans, made) == ["a", "Board"]
    again = PromptDraft(name="Memory", content="Look.", key="board", automatic=board.automatic)
    await playbook.put_prompt(portal, again)
    assert await names(plans, made) == ["a", "Memory"]


async def test_a_plan_in_memory_is_not_shown_once_its_workflow_is_taken_back(
    playbook: Playbook, plans: Plans, alice: Writer, bob: Writer
) -> None:
    made = await published(playbook, alice, prompt("a"))
    assert await names(plans, made, bob.person) == ["a"]
    await playbook.edit_workflow(alice, made.id, made.version, {"visibility": PRIVATE})
    assert await names(plans, made, alice.person) == ["a"]
    for viewer in (bob.person, None):
        with pytest.raises(ToolFailed, match="Access denied: workflow is private"):
            await plans.of_workflow(made.id, viewer)


class Held(Playbook):
    """A playbook that reads a whole workflow when it is told to."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.looked_up = asyncio.Semaphore(0)
        self.may_read = asyncio.Event()

    async def workflow_version(self, id_or_key: str, viewer: str | None) -> tuple[str, int]:
        found = await super().workflow_version(id_or_key, viewer)
        self.looked_up.release()
        return found

    async def whole_workflow(self, id_or_key: str, viewer: str | None) -> Workflow:
        await self.may_read.wait()
        return await super().whole_workflow(id_or_key, viewer)


async def test_a_workflow_that_is_taken_back_while_it_is_read_is_not_shown(
    database: OwnedDatabase,
    objects: Objects,
    clock: Clock,
    runs: Runs,
    alice: Writer,
    bob: Writer,
) -> None:
    playbook = Held(database, objects, embed, clock)
    plans = Plans(playbook, runs)
    made = await published(playbook, alice, prompt("a"))
    owners = asyncio.create_task(plans.of_workflow(made.id, alice.person))
    await playbook.looked_up.acquire()
    others = asyncio.create_task(plans.of_workflow(made.id, bob.person))
    await playbook.looked_up.acquire()
    await playbook.edit_workflow(alice, made.id, made.version, {"visibility": PRIVATE})
    playbook.may_read.set()
    assert (await owners).workflow.visibility is PRIVATE
    with pytest.raises(ToolFailed, match="Access denied: workflow is private"):
        await others
