"""A copy of a workflow has the same steps, is its copier's own, and says where it is from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.testing import TestPortal
from plugins.workflows.duplicates import copied_name, duplicate
from plugins.workflows.inputs import Reference, StageItemDraft, Writer
from plugins.workflows.limits import MAX_NAME_CHARS
from plugins.workflows.model import AutoPrompt, Visibility, Workflow
from plugins.workflows.plans.plan import build, visible_to
from plugins.workflows.playbook import Playbook
from tests.examples import examples
from tests.gateway.surfaces.views.painted import EVIL
from tests.plugins.workflows.conftest import prompt, stage, workflow
from tests.plugins.workflows.playing import ANYONE, done, opened
from tests.plugins.workflows.playing import stage as steps
from tests.plugins.workflows.test_pages import Person

NAMES = ("One", "Two", "One")
"""Two steps of the same name."""


async def steps_of(playbook: Playbook, flow: Workflow, who: Writer) -> list[tuple[str, str, str]]:
    whole = await playbook.whole_workflow(flow.id, who.person)
    plan = visible_to(build(whole, await playbook.automatic()), who.person)
    return [(each.stage_name, each.name, each.content) for each in plan.items]


def ordered(order: Sequence[int], made: Workflow) -> tuple[str, ...]:
    items = made.stages[0].items
    return tuple(items[at].item.id if at < len(items) else AutoPrompt.MEMORY_BOARD for at in order)


@settings(max_examples=examples(20), suppress_health_check=[*HealthCheck])
@given(st.permutations(range(4)), st.lists(st.text("ab", min_size=1), min_size=3, max_size=3))
async def test_a_copy_has_the_same_steps_in_the_same_order_whatever_they_are_called(
    playbook: Playbook, alice: Writer, bob: Writer, order: list[int], said: list[str]
) -> None:
    items = [prompt(name, content=f"{at} {said[at]}") for at, name in enumerate(NAMES)]
    draft = workflow(stage(*items, with_review=True), visibility=Visibility.PUBLIC)
    made = await playbook.add_workflow(alice, draft)
    refs = tuple(
        StageItemDraft(Reference(each.item.type, each.item.id)) for each in made.stages[0].items
    )
    arranged = replace(
        stage(*refs, with_review=True), item_order=ordered(order, made), id=made.stages[0].id
    )
    made = await playbook.edit_workflow(alice, made.id, 1, {"stages": (arranged,)})
    _, copy = await duplicate(playbook, bob, made.id)
    assert await steps_of(playbook, copy, bob) == await steps_of(playbook, made, alice)
    assert copy.visibility is Visibility.PRIVATE
    assert (copy.origin, copy.origin_version) == (made.id, made.version)
    own = {each.item.owner for part in copy.stages for each in part.items}
    assert own == {bob.person}
    await playbook.delete_workflow(alice, made.id, made.version)
    assert len(await steps_of(playbook, copy, bob)) == 3, "it needs nothing of the other"


async def test_what_is_not_seen_is_not_copied(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    with pytest.raises(ToolFailed, match="private"):
        await duplicate(playbook, bob, made.id)


@given(st.text(min_size=1, max_size=MAX_NAME_CHARS))
def test_the_name_of_a_copy_is_never_too_long(name: str) -> None:
    assert len(copied_name(name)) <= MAX_NAME_CHARS
    assert copied_name(name).startswith("Copy of")


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ana", "ben") as portal:
        yield portal


async def test_a_copy_tells_others_of_its_origin_only_what_they_see(portal: TestPortal) -> None:
    made = await done(
        portal, "ana", "add_workflow", name="Hush", stages=[steps("One")], visibility="PUBLIC"
    )
    copy = await done(portal, "ben", "duplicate_workflow", workflow_id=made["id"])
    assert (copy["name"], copy["visibility"]) == ("Copy of Hush", "PRIVATE")
    known = {"workflow_id": copy["id"]}
    told = (await done(portal, "ben", "get_workflow", **known))["copiedFrom"]
    assert told == {"id": made["id"], "version": 1, "name": "Hush"}
    await done(portal, "ben", "publish", type="WORKFLOW", id=copy["id"], version=1)
    assert (await done(portal, ANYONE, "get_workflow", **known))["copiedFrom"] == told
    hidden = {"type": "WORKFLOW", "id": made["id"], "version": 1, "visibility": "PRIVATE"}
    await done(portal, "ana", "publish", **hidden)
    assert (await done(portal, ANYONE, "get_workflow", **known))["copiedFrom"] is None
    theirs = await done(portal, "ben", "get_workflow", **known)
    assert theirs["copiedFrom"] == {"id": made["id"], "version": 1, "name": None}
    kept = await done(
        portal,
        "ben",
        "edit_workflow",
        **known,
        **{name: theirs[name] for name in ("version", "name", "copiedFrom")},
    )
    assert kept["done"] == "unchanged", "an answer can be given back as it is"


async def test_a_page_copies_in_one_click(portal: TestPortal) -> None:
    person = Person(portal.app, "http://localhost")
    await person.sign_in()
    made = await done(
        portal, "ben", "add_workflow", name=EVIL, stages=[steps("One")], visibility="PUBLIC"
    )
    path = f"/workflows/workflow?workflow_id={made['id']}&include_content=true"
    copied = await person.sent(path, "Copy it, to change it")
    assert "This is the copy." in copied.text
    assert "A copy of <a" in copied.text
    assert "Preview the step" in copied.text
    assert "<script>alert" not in copied.text
    await person.aclose()
