"""One version of a workflow is one plan: whatever changes in it makes a new version."""

from __future__ import annotations

import pytest

from gateway.contract import ToolFailed
from plugins.workflows.inputs import PromptDraft, StageItemDraft, Writer
from plugins.workflows.model import AutoPrompt, TargetType, Visibility, Workflow
from plugins.workflows.playbook import Playbook
from tests.plugins.workflows.conftest import prompt, skill, stage, workflow
from tests.plugins.workflows.store.test_workflows import held, prompts_in

CARD = TargetType.SKILL
PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE


async def fields_since(
    playbook: Playbook, writer: Writer, workflow: Workflow
) -> list[tuple[int, list[str]]]:
    """What changed since somebody read a workflow, as a stale edit is told."""
    with pytest.raises(ToolFailed) as failed:
        await playbook.edit_workflow(writer, workflow.id, workflow.version, {"name": "Stale"})
    return [(each["version"], each["fields"]) for each in failed.value.details["changed"]]


async def test_new_words_of_a_mini_prompt_are_a_new_version_of_all_that_use_it(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow(stage(prompt("Shared")), visibility=PUBLIC))
    shared = prompts_in(made)[0]
    using = await playbook.add_workflow(bob, workflow(stage(held(shared.id), prompt("Own"))))
    apart = await playbook.add_workflow(bob, workflow())
    reworded = StageItemDraft(PromptDraft(name="Renamed", content="New.", id=shared.id))
    edited = await playbook.edit_workflow(alice, made.id, 1, {"stages": (stage(reworded),)})
    assert edited.version == 2
    assert await fields_since(playbook, alice, made) == [(2, ["stages"])]
    assert await fields_since(playbook, bob, using) == [(2, ["prompt: Shared"])]
    read = await playbook.workflow(using.id, bob.person)
    assert prompts_in(read)[0].content == "New."
    assert read.updated > using.updated
    assert await playbook.workflow(apart.id, bob.person) == apart


async def test_a_changed_card_is_a_new_version_of_all_that_use_it(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    card = await playbook.add_skill(alice, skill(visibility=PUBLIC))
    mine = await playbook.add_workflow(alice, workflow(stage(held(card.id, CARD))))
    twice = stage(held(card.id, CARD), prompt(), held(card.id, CARD))
    theirs = await playbook.add_workflow(bob, workflow(twice, visibility=PUBLIC))
    await playbook.edit_skill(alice, card.id, 1, {"content": "New."})
    await playbook.edit_skill(alice, card.id, 2, {"tags": ("new",)})
    await playbook.edit_skill(alice, card.id, 3, {"visibility": PRIVATE, "name": "Secret"})
    await playbook.edit_skill(alice, card.id, 4, {"name": "Secret again"})
    await playbook.delete_skill(alice, card.id, 5)
    assert await fields_since(playbook, alice, mine) == [
        (2, ["skill: Naming"]),
        (3, ["skill: Naming"]),
        (4, ["skill: Secret"]),
        (5, ["skill: Secret again"]),
        (6, ["skill: Secret again"]),
    ]
    # Others never hear how it is called since it is private.
    assert await fields_since(playbook, bob, theirs) == [
        (2, ["skill: Naming"]),
        (3, ["skill: Naming"]),
        (4, ["skill: Naming"]),
        (5, ["skill"]),
        (6, ["skill"]),
    ]
    assert await playbook.workflow_version(theirs.id, None) == (theirs.id, 6)


async def test_publishing_takes_the_owners_mini_prompts_along_and_back(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow(stage(prompt("A"), prompt("B"))))
    a, b = prompts_in(made)
    other = await playbook.add_workflow(alice, workflow(stage(held(b.id)), name="Other"))
    await playbook.edit_workflow(alice, made.id, 1, {"visibility": PUBLIC})
    read = await playbook.workflow(made.id, None)
    assert [each.visibility for each in prompts_in(read)] == [PUBLIC, PUBLIC]
    assert await fields_since(playbook, alice, other) == [(2, ["prompt: B"])]
    using = await playbook.add_workflow(bob, workflow(stage(held(a.id), held(b.id))))
    await playbook.edit_workflow(alice, other.id, 2, {"visibility": PUBLIC})
    await playbook.edit_workflow(alice, made.id, 2, {"visibility": PRIVATE})
    seen = await playbook.workflow(using.id, bob.person)
    assert [each.id for each in prompts_in(seen)] == [b.id]
    assert await fields_since(playbook, bob, using) == [(2, ["prompt: A"])]
    await playbook.delete_workflow(alice, other.id, 3)
    assert prompts_in(await playbook.workflow(using.id, bob.person)) == []
    assert len(prompts_in(await playbook.workflow(made.id, alice.person))) == 2


async def test_a_mini_prompt_added_to_a_published_workflow_is_published(
    playbook: Playbook, alice: Writer
) -> None:
    draft = await playbook.add_workflow(alice, workflow(stage(prompt("Private"))))
    made = await playbook.add_workflow(alice, workflow(visibility=PUBLIC))
    stages = (stage(prompt("New"), held(prompts_in(draft)[0].id)),)
    await playbook.edit_workflow(alice, made.id, 1, {"stages": stages})
    read = await playbook.workflow(made.id, None)
    assert [each.name for each in prompts_in(read)] == ["New", "Private"]
    assert await playbook.workflow_version(draft.id, alice.person) == (draft.id, 2)


async def test_a_published_workflow_holds_no_private_card_of_its_owner(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    card = await playbook.add_skill(alice, skill())
    held_card = stage(held(card.id, CARD))
    made = await playbook.add_workflow(alice, workflow(held_card))
    for write in (
        playbook.add_workflow(alice, workflow(held_card, visibility=PUBLIC)),
        playbook.edit_workflow(alice, made.id, 1, {"visibility": PUBLIC}),
    ):
        with pytest.raises(ToolFailed, match="Publish first: Naming") as failed:
            await write
        assert failed.value.details["skills"] == ["Naming"]
    assert await playbook.matching(TargetType.WORKFLOW, None) == []
    await playbook.edit_skill(alice, card.id, 1, {"visibility": PUBLIC})
    made = await playbook.edit_workflow(alice, made.id, 2, {"visibility": PUBLIC})
    # Its owner may take the card back, and others see the workflow without it.
    await playbook.edit_skill(alice, card.id, 2, {"visibility": PRIVATE})
    assert (await playbook.workflow(made.id, bob.person)).stages[0].items == ()
    await playbook.edit_workflow(alice, made.id, 4, {"description": "Still published."})


async def test_publishing_needs_the_right_to(playbook: Playbook, alice: Writer) -> None:
    below = Writer(alice.person, alice.name, may_publish=False)
    made = await playbook.add_workflow(below, workflow())
    card = await playbook.add_skill(below, skill())
    for write in (
        playbook.add_workflow(below, workflow(visibility=PUBLIC)),
        playbook.add_skill(below, skill(visibility=PUBLIC)),
        playbook.edit_workflow(below, made.id, 1, {"visibility": PUBLIC}),
        playbook.edit_skill(below, card.id, 1, {"visibility": PUBLIC}),
    ):
        with pytest.raises(ToolFailed) as failed:
            await write
        assert failed.value.code == "may_not_publish"
    shown = await playbook.edit_workflow(alice, made.id, 1, {"visibility": PUBLIC})
    # What is published is not rewritten by someone who may not publish; but taken back.
    for changes in ({"description": "New."}, {"stages": (stage(prompt("New")),)}):
        with pytest.raises(ToolFailed) as failed:
            await playbook.edit_workflow(below, shown.id, 2, changes)
        assert failed.value.code == "may_not_publish"
    words = StageItemDraft(PromptDraft(name="N", content="C", id=prompts_in(shown)[0].id))
    with pytest.raises(ToolFailed) as failed:
        await playbook.add_workflow(below, workflow(stage(words)))
    assert failed.value.code == "may_not_publish"
    back = await playbook.edit_workflow(below, shown.id, 2, {"visibility": PRIVATE})
    assert {each.visibility for each in prompts_in(back)} == {PRIVATE}


async def test_a_changed_automatic_prompt_is_a_new_version_of_every_workflow(
    playbook: Playbook, alice: Writer, portal: Writer
) -> None:
    board = PromptDraft(
        name="Board", content="A", key="memory-board", automatic=AutoPrompt.MEMORY_BOARD
    )
    made = await playbook.add_workflow(alice, workflow())
    gone = await playbook.add_workflow(alice, workflow())
    await playbook.delete_workflow(alice, gone.id, 1)
    assert await playbook.put_prompt(portal, board) == "added"
    assert await fields_since(playbook, alice, made) == [(2, ["automatic prompts"])]
    assert await playbook.put_prompt(portal, board) == "unchanged"
    changed = PromptDraft(name="Board", content="B", key="memory-board", automatic=board.automatic)
    assert await playbook.put_prompt(portal, changed) == "updated"
    assert await playbook.workflow_version(made.id, alice.person) == (made.id, 3)
    plain = PromptDraft(name="Board", content="B", key="memory-board")
    assert await playbook.put_prompt(portal, plain) == "updated"
    assert await playbook.automatic() == {}
    assert await playbook.workflow_version(made.id, alice.person) == (made.id, 4)


async def test_only_the_portal_has_automatic_prompts_one_of_a_kind(
    playbook: Playbook, alice: Writer, portal: Writer
) -> None:
    def board(key: str) -> PromptDraft:
        return PromptDraft(name=key, content=key, key=key, automatic=AutoPrompt.MULTI_AGENT_CHAT)

    with pytest.raises(ToolFailed, match="only the portal"):
        await playbook.put_prompt(alice, board("mine"))
    await playbook.put_prompt(portal, board("one"))
    await playbook.put_prompt(portal, board("two"))
    assert (await playbook.automatic())[AutoPrompt.MULTI_AGENT_CHAT].key == "two"
