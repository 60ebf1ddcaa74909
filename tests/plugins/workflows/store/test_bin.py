"""Deleted workflows come back as they were, or go to the last word, and are their owners' alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.bin import Bin
from plugins.workflows.inputs import Reference, StageItemDraft, Writer
from plugins.workflows.model import TargetType, Visibility, Workflow
from plugins.workflows.plans.plans import Plans
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.runs import Runs
from plugins.workflows.store.tables import metadata
from tests.plugins.workflows.conftest import Clock, prompt, stage, workflow

FLOW = TargetType.WORKFLOW
KEEP = timedelta(days=30)


@pytest.fixture
def kept(database: OwnedDatabase, playbook: Playbook) -> Bin:
    return Bin(database, playbook, KEEP)


async def dump(database: OwnedDatabase) -> str:
    """Everything in the database, as one text."""
    lines = []
    async with database.engine.connect() as connection:
        for table in metadata.sorted_tables:
            rows = await connection.execute(text(f"SELECT * FROM {table.name}"))
            lines += [f"{table.name} {tuple(row)}" for row in rows]
    return "\n".join(lines)


def words(flow: Workflow) -> list[tuple[str, str]]:
    return [(each.item.id, each.item.content) for part in flow.stages for each in part.items]


async def test_a_workflow_comes_back_with_its_steps_key_and_versions(
    kept: Bin, playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow(tags=("review",)))
    edit = {"name": "Renamed", "visibility": Visibility.PUBLIC}
    before = await playbook.edit_workflow(alice, made.id, 1, edit)
    at = await playbook.delete_workflow(alice, made.id, before.version)
    (entry,) = await kept.listed(alice.person, 5)
    assert (entry.id, entry.key, entry.name, entry.deleted) == (made.id, made.key, "Renamed", at)
    assert await kept.listed(bob.person, 5) == []
    for who in (bob, replace(alice, person="")):
        with pytest.raises(ToolFailed, match="not found"):
            await kept.restore(who, made.id)
        with pytest.raises(ToolFailed, match="not found"):
            await kept.erase(who.person, made.id)
    back = await kept.restore(alice, made.key)
    assert back.missing == 0
    assert words(back.workflow) == words(before)
    assert (back.workflow.key, back.workflow.tags) == (made.key, ("review",))
    assert back.workflow.visibility is Visibility.PRIVATE, "nothing is published by being restored"
    assert back.workflow.version > before.version
    assert back.workflow == await playbook.workflow(made.id, alice.person)
    assert await kept.listed(alice.person, 5) == []
    assert await playbook.matching(FLOW, bob.person) == []


async def test_a_key_that_was_given_away_meanwhile_stays_the_others(
    kept: Bin, playbook: Playbook, alice: Writer
) -> None:
    first = await playbook.add_workflow(alice, workflow())
    await playbook.delete_workflow(alice, first.id, 1)
    second = await playbook.add_workflow(alice, workflow())
    assert second.key == first.key
    assert (await kept.restore(alice, first.id)).workflow.key == f"{first.key}-2"
    for each in (first, second):
        now = await playbook.workflow(each.id, alice.person)
        await playbook.delete_workflow(alice, each.id, now.version)
    third = await playbook.add_workflow(alice, workflow())
    await playbook.delete_workflow(alice, third.id, 1)
    with pytest.raises(ToolFailed, match=f"Several workflows .* {first.key}"):
        await kept.restore(alice, first.key)


async def test_what_somebody_else_took_away_meanwhile_is_said(
    kept: Bin, playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    public = workflow(stage(prompt("Shared")), visibility=Visibility.PUBLIC)
    theirs = await playbook.add_workflow(bob, public)
    mine = await playbook.add_workflow(alice, workflow(stage(prompt("Own"))))
    shared = theirs.stages[0].items[0].item
    held = stage(prompt("Own"), StageItemDraft(Reference(shared.type, shared.id)))
    edited = await playbook.edit_workflow(alice, mine.id, 1, {"stages": (held,)})
    await playbook.delete_workflow(alice, mine.id, edited.version)
    await playbook.delete_workflow(bob, theirs.id, 1)
    back = await kept.restore(alice, mine.id)
    assert [name for _, name in words(back.workflow)] == ["Do: Own."]
    assert back.missing == 1


async def test_a_run_goes_on_where_it_was_once_its_workflow_is_back(
    kept: Bin, database: OwnedDatabase, playbook: Playbook, clock: Clock, alice: Writer, bob: Writer
) -> None:
    runs = Runs(database, clock, KEEP)
    plans = Plans(playbook, runs)
    made = await playbook.add_workflow(alice, workflow(visibility=Visibility.PUBLIC))
    started = {}
    for who in (alice, bob):
        known = await plans.of_workflow(made.id, who.person)
        plan = known.plan.to_json()
        started[who.person] = await runs.start(who.person, made.id, made.version, plan)
    await playbook.delete_workflow(alice, made.id, 1)
    with pytest.raises(ToolFailed, match="in your bin"):
        await plans.of_run_workflow(started[alice.person])
    with pytest.raises(ToolFailed, match="deleted by its owner"):
        await plans.of_run_workflow(started[bob.person])
    await kept.restore(alice, made.id)
    run = started[alice.person]
    followed = await plans.of_run(run, await plans.of_run_workflow(run))
    assert [each.name for each in followed.plan.items] == [
        "Read the change",
        "Write what you found",
    ]
    with pytest.raises(ToolFailed, match="Access denied"):
        await plans.of_run_workflow(started[bob.person])


async def test_what_is_erased_is_gone_to_the_last_word_and_nothing_else_is(
    kept: Bin, database: OwnedDatabase, playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    secret = workflow(
        stage(prompt("Hushwords", content="Hushwords"), name="Hushwords"),
        name="Hushwords",
        tags=("hushwords",),
        extra={"of": "Hushwords"},
    )
    gone = await playbook.add_workflow(alice, secret)
    reworded = (stage(prompt("Hushwords too", content="Hushwords then")),)
    later = await playbook.edit_workflow(alice, gone.id, 1, {"stages": reworded})
    stays = [await playbook.add_workflow(who, workflow(name="Kept")) for who in (alice, bob)]
    binned = await playbook.add_workflow(alice, workflow(name="In the bin"))
    await playbook.delete_workflow(alice, binned.id, 1)
    with pytest.raises(ToolFailed, match="not found"):
        await kept.erase(alice.person, gone.id)  # it is not in the bin
    await playbook.delete_workflow(alice, gone.id, later.version)
    assert "ushwords" in await dump(database)
    assert (await kept.erase(alice.person, gone.id)).name == "Hushwords"
    assert "ushwords" not in await dump(database)
    for each, who in zip(stays, (alice, bob), strict=True):
        assert await playbook.workflow(each.id, who.person) == each
    with pytest.raises(ToolFailed, match="not found"):
        await kept.restore(alice, gone.id)
    assert words((await kept.restore(alice, binned.id)).workflow) == words(binned)


async def test_a_prompt_that_another_workflow_in_the_bin_has_is_not_erased(
    kept: Bin, playbook: Playbook, alice: Writer
) -> None:
    first = await playbook.add_workflow(alice, workflow(stage(prompt("Shared"))))
    shared = first.stages[0].items[0].item
    held = stage(StageItemDraft(Reference(shared.type, shared.id)))
    second = await playbook.add_workflow(alice, workflow(held, name="Second"))
    for each in (first, second):
        await playbook.delete_workflow(alice, each.id, 1)
    await kept.erase(alice.person, first.id)
    assert words((await kept.restore(alice, second.id)).workflow) == [(shared.id, "Do: Shared.")]


async def test_a_purge_erases_what_is_old_and_neither_the_rest_nor_the_portals(
    kept: Bin, database: OwnedDatabase, playbook: Playbook, clock: Clock, alice: Writer, bob: Writer
) -> None:
    portal = Writer("portal", "The portal", may_publish=True)
    for who in (alice, bob, portal):
        old = await playbook.add_workflow(who, workflow(name=f"Old of {who.name}"))
        await playbook.delete_workflow(who, old.id, 1)
    restored = await playbook.add_workflow(bob, workflow(name="Restored"))
    await playbook.delete_workflow(bob, restored.id, 1)
    await kept.restore(bob, restored.id)
    clock.time += KEEP
    young = await playbook.add_workflow(alice, workflow(name="Young"))
    await playbook.delete_workflow(alice, young.id, 1)
    assert await kept.purge(clock() - timedelta(seconds=60)) == 0
    assert await kept.purge(clock()) == 2
    assert await kept.purge(clock()) == 0
    left = await dump(database)
    assert "Old of Alice" not in left
    assert "Old of Bob" not in left
    assert "Old of The portal" in left
    assert [each.name for each in await kept.listed(alice.person, 5)] == ["Young"]
    assert (await playbook.workflow(restored.id, bob.person)).name == "Restored"
