"""Workflows are written whole, with their mini-prompts, and read back as they were written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.contract import ToolFailed
from plugins.workflows.inputs import (
    PromptDraft,
    Reference,
    StageDraft,
    StageItemDraft,
    Writer,
)
from plugins.workflows.model import Complexity, MiniPrompt, Stage, TargetType, Visibility, Workflow
from plugins.workflows.playbook import Filters, Playbook
from plugins.workflows.store.revisions import MAX_REVISIONS
from tests.plugins.workflows.conftest import prompt, skill, stage, workflow

PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE


def prompts_in(workflow: Workflow) -> list[MiniPrompt]:
    items = (each.item for stage in workflow.stages for each in stage.items)
    return [each for each in items if isinstance(each, MiniPrompt)]


def as_draft(found: Stage, **fields: Any) -> StageDraft:
    """A stage as somebody writes it who keeps its mini-prompts."""
    kept = tuple(
        StageItemDraft(Reference(TargetType.MINI_PROMPT, each.item.id), each.extra)
        for each in found.items
    )
    return StageDraft(**{"name": found.name, "items": kept, "id": found.id, **fields})


def held(id: str, type: TargetType = TargetType.MINI_PROMPT) -> StageItemDraft:
    return StageItemDraft(Reference(type, id))


async def refused(code: str, awaited: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await awaited
    assert failed.value.code == code
    return failed.value


async def test_a_workflow_is_read_back_as_it_was_written(playbook: Playbook, alice: Writer) -> None:
    card = await playbook.add_skill(alice, skill())
    draft = workflow(
        stage(
            prompt("Read <b>it</b>", description="first", content="\ttabs\nand 🚨"),
            replace(held(card.key, TargetType.SKILL), extra={"required": True}),
            name="Read",
            description="Understand it.",
            color="#3b82f6",
            with_review=True,
            include_multi_agent_chat=False,
            extra={"phase": "analysis"},
        ),
        stage(name="Nothing"),
        description="For every change.",
        complexity=Complexity.M,
        include_multi_agent_chat=True,
        tags=("Review", "code"),
        extra={"version": "1.0", "nested": {"a": [1, None]}},
    )
    added = await playbook.add_workflow(alice, draft)
    read = await playbook.workflow(added.id, alice.person)
    assert read == added
    assert (read.key, read.version, read.visibility) == ("code-review", 1, PRIVATE)
    assert (read.owner, read.author) == (alice.person, "Alice")
    assert read.tags == ("code", "review")
    for name in ("name", "description", "complexity", "include_multi_agent_chat", "extra"):
        assert getattr(read, name) == getattr(draft, name)
    first, second = read.stages
    for name in ("name", "description", "color", "with_review", "include_multi_agent_chat"):
        assert getattr(first, name) == getattr(draft.stages[0], name)
    assert first.extra == {"phase": "analysis"}
    told, shown = first.items
    assert isinstance(told.item, MiniPrompt)
    assert (told.item.name, told.item.content) == ("Read <b>it</b>", "\ttabs\nand 🚨")
    assert (told.item.owner, told.item.visibility) == (alice.person, PRIVATE)
    assert (shown.item, shown.extra) == (card, {"required": True})
    assert second.items == ()


async def test_an_order_is_kept_in_ids(playbook: Playbook, alice: Writer) -> None:
    made = await playbook.add_workflow(alice, workflow(stage(prompt("Shared"))))
    shared = prompts_in(made)[0]
    order = ("B", "memory-board-x", "A", "A", "A", "unknown", shared.name, "multi-agent-chat")
    made = await playbook.add_workflow(
        alice,
        workflow(
            stage(
                prompt("A"),
                prompt("B"),
                held(shared.id),
                prompt("A", content="2"),
                item_order=order,
            )
        ),
    )
    first, b, _, second = prompts_in(made)
    assert made.stages[0].item_order == (
        b.id,
        "memory-board-x",
        first.id,
        second.id,
        second.id,
        "unknown",
        shared.id,
        "multi-agent-chat",
    )


async def test_keys_are_made_of_names_and_given_once(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = [await playbook.add_workflow(alice, workflow()) for _ in range(3)]
    assert [each.key for each in made] == ["code-review", "code-review-2", "code-review-3"]
    assert (await playbook.add_workflow(bob, workflow())).key == "code-review"
    failed = await refused("bad_input", playbook.add_workflow(alice, workflow(key="code-review")))
    assert "code-review already" in failed.message
    await playbook.delete_workflow(alice, made[0].id, 1)
    again = await playbook.add_workflow(alice, workflow(key="code-review"))
    assert again.id != made[0].id
    moved = await playbook.edit_workflow(alice, again.id, 1, {"key": "another"})
    assert (await playbook.workflow("another", alice.person)).id == moved.id
    await refused("bad_input", playbook.edit_workflow(alice, again.id, 2, {"key": made[1].key}))


async def test_an_edit_writes_what_it_names_and_nothing_else(
    playbook: Playbook, alice: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow(tags=("a",), complexity=Complexity.S))
    changes = {"name": "Deep review", "description": "With care.", "tags": ("b",)}
    edited = await playbook.edit_workflow(alice, made.key, 1, changes)
    assert (edited.id, edited.key, edited.version) == (made.id, made.key, 2)
    assert (edited.name, edited.description, edited.tags) == ("Deep review", "With care.", ("b",))
    assert (edited.stages, edited.complexity) == (made.stages, Complexity.S)
    assert edited.updated > made.updated
    assert edited.created == made.created
    cleared = await playbook.edit_workflow(
        alice, made.id, 2, {"description": None, "complexity": None, "tags": ()}
    )
    assert (cleared.description, cleared.complexity, cleared.tags) == (None, None, ())


async def test_an_edit_that_changes_nothing_writes_nothing(
    playbook: Playbook, alice: Writer
) -> None:
    draft = workflow(tags=("a",), extra={"x": 1}, description="D")
    made = await playbook.add_workflow(alice, draft)
    same = {"tags": ("A ",), "extra": {"x": 1}, "description": "D", "stages": draft.stages}
    assert await playbook.edit_workflow(alice, made.id, 1, same) == made
    kept = {"stages": (as_draft(made.stages[0]),), "visibility": PRIVATE, "name": made.name}
    assert await playbook.edit_workflow(alice, made.id, 1, kept) == made
    assert await playbook.edit_workflow(alice, made.id, 1, {}) == made


async def test_a_stale_edit_is_refused_with_what_changed(playbook: Playbook, alice: Writer) -> None:
    made = await playbook.add_workflow(alice, workflow())
    await playbook.edit_workflow(alice, made.id, 1, {"name": "B", "tags": ("x",)})
    await playbook.edit_workflow(alice, made.id, 2, {"description": "C"})
    failed = await refused("stale", playbook.edit_workflow(alice, made.id, 1, {"name": "Z"}))
    assert failed.details["currentVersion"] == 3
    told = [(each["version"], each["by"], each["fields"]) for each in failed.details["changed"]]
    assert told == [(2, "Alice", ["name", "tags"]), (3, "Alice", ["description"])]
    await refused("stale", playbook.delete_workflow(alice, made.id, 2))
    await refused("stale", playbook.edit_workflow(alice, made.id, 4, {"name": "Z"}))
    assert (await playbook.workflow(made.id, alice.person)).name == "B"


async def test_the_last_revisions_are_kept(playbook: Playbook, alice: Writer) -> None:
    made = await playbook.add_workflow(alice, workflow())
    for version in range(1, MAX_REVISIONS + 5):
        await playbook.edit_workflow(alice, made.id, version, {"name": f"Name {version}"})
    failed = await refused("stale", playbook.edit_workflow(alice, made.id, 1, {"name": "Z"}))
    versions = [each["version"] for each in failed.details["changed"]]
    assert versions == list(range(6, MAX_REVISIONS + 6))


async def test_only_the_owner_writes(playbook: Playbook, alice: Writer, bob: Writer) -> None:
    shown = await playbook.add_workflow(alice, workflow(visibility=PUBLIC))
    hidden = await playbook.add_workflow(alice, workflow())
    for made, words in ((shown, "workflow is not yours"), (hidden, "workflow is private")):
        for write in (
            playbook.edit_workflow(bob, made.id, 1, {"name": "Mine"}),
            playbook.delete_workflow(bob, made.id, 1),
        ):
            assert words in (await refused("access_denied", write)).message
    await refused("not_found", playbook.edit_workflow(bob, hidden.key, 1, {"name": "Mine"}))
    await refused("not_found", playbook.edit_workflow(bob, "nothing", 1, {"name": "Mine"}))


async def test_stages_are_replaced_and_what_stays_keeps_its_id(
    playbook: Playbook, alice: Writer
) -> None:
    made = await playbook.add_workflow(
        alice, workflow(stage(prompt("A"), name="One"), stage(prompt("B"), name="Two"))
    )
    one, two = made.stages
    a, b = prompts_in(made)
    changes = (
        as_draft(two, name="Second"),
        stage(
            StageItemDraft(PromptDraft(name="A2", content="New.", id=a.id)), prompt("C"), name="One"
        ),
        stage(name="Two"),
    )
    edited = await playbook.edit_workflow(alice, made.id, 1, {"stages": changes})
    assert [each.name for each in edited.stages] == ["Second", "One", "Two"]
    assert [each.id for each in edited.stages[:2]] == [two.id, one.id]
    assert edited.stages[2].id not in (one.id, two.id)
    assert [(each.id, each.name, each.version) for each in prompts_in(edited)[:2]] == [
        (b.id, "B", 1),
        (a.id, "A2", 2),
    ]
    assert edited.version == 2
    unknown = (stage(id="nowhere"),)
    await refused("bad_input", playbook.edit_workflow(alice, made.id, 2, {"stages": unknown}))
    twice = (as_draft(edited.stages[0]), as_draft(edited.stages[0]))
    await refused("bad_input", playbook.edit_workflow(alice, made.id, 2, {"stages": twice}))


async def test_a_mini_prompt_goes_with_the_last_workflow_that_uses_it(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_workflow(
        alice, workflow(stage(prompt("Only here"), prompt("Shared")), visibility=PUBLIC)
    )
    only, shared = prompts_in(made)
    other = await playbook.add_workflow(bob, workflow(stage(held(shared.id))))
    await playbook.edit_workflow(alice, made.id, 1, {"stages": ()})
    await refused("not_found", playbook.mini_prompt(only.id, alice.person))
    # Somebody else uses it still, who does not see it any more.
    assert (await playbook.mini_prompt(shared.id, alice.person)).visibility is PRIVATE
    assert (await playbook.workflow(other.id, bob.person)).stages[0].items == ()
    third = await playbook.add_workflow(alice, workflow(stage(held(shared.id), prompt("Mine"))))
    await playbook.delete_workflow(alice, third.id, 1)
    await refused("not_found", playbook.workflow(third.id, alice.person))
    await refused("not_found", playbook.mini_prompt(prompts_in(third)[1].id, alice.person))


@pytest.mark.parametrize("by", ["edit", "delete", "leave"])
async def test_a_mini_prompt_goes_with_the_last_workflow_whoever_owns_that(
    playbook: Playbook, alice: Writer, bob: Writer, by: str
) -> None:
    source = await playbook.add_workflow(alice, workflow(stage(prompt()), visibility=PUBLIC))
    (shared,) = prompts_in(source)
    other = await playbook.add_workflow(bob, workflow(stage(held(shared.id))))
    await playbook.delete_workflow(alice, source.id, source.version)
    assert await playbook.mini_prompt(shared.id, alice.person)
    _, version = await playbook.workflow_version(other.id, bob.person)
    if by == "edit":
        await playbook.edit_workflow(bob, other.id, version, {"stages": (stage(),)})
    elif by == "delete":
        await playbook.delete_workflow(bob, other.id, version)
    else:
        await playbook.erase(bob.person)
    await refused("not_found", playbook.mini_prompt(shared.id, alice.person))
    assert await playbook.matching(TargetType.MINI_PROMPT, alice.person) == []


async def test_a_mini_prompt_that_stands_alone_stays(playbook: Playbook, alice: Writer) -> None:
    await playbook.put_prompt(alice, PromptDraft(name="Alone", content="A", key="alone"))
    made = await playbook.add_workflow(alice, workflow(stage(held("alone"))))
    await playbook.delete_workflow(alice, made.id, 1)
    assert (await playbook.mini_prompt("alone", alice.person)).content == "A"


async def test_references_need_what_the_writer_sees(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    hidden = await playbook.add_skill(alice, skill())
    theirs = await playbook.add_workflow(alice, workflow())
    for item in (
        held(hidden.id, TargetType.SKILL),
        held(hidden.key, TargetType.SKILL),
        held(prompts_in(theirs)[0].id),
        held("nothing"),
    ):
        failed = await refused(
            "bad_input", playbook.add_workflow(bob, workflow(stage(prompt(), item)))
        )
        assert failed.details["place"] == "stages[0].items[1]"
    words = StageItemDraft(PromptDraft(name="N", content="C", id=prompts_in(theirs)[0].id))
    await refused("bad_input", playbook.add_workflow(bob, workflow(stage(words))))
    await playbook.edit_workflow(alice, theirs.id, 1, {"visibility": PUBLIC})
    await refused("access_denied", playbook.add_workflow(bob, workflow(stage(words))))
    assert await playbook.matching(TargetType.WORKFLOW, bob.person, Filters(scope="mine")) == []


async def test_a_failed_write_leaves_nothing_behind(playbook: Playbook, alice: Writer) -> None:
    made = await playbook.add_workflow(alice, workflow())
    other = await playbook.add_workflow(alice, workflow())
    first = prompts_in(made)[0]
    broken = (
        stage(StageItemDraft(PromptDraft(name="Changed", content="C", id=first.id)), prompt("New")),
        stage(id="nowhere"),
    )
    changes = {"name": "Changed", "stages": broken}
    await refused("bad_input", playbook.edit_workflow(alice, made.id, 1, changes))
    assert await playbook.workflow(made.id, alice.person) == made
    assert await playbook.workflow(other.id, alice.person) == other
    prompts = await playbook.page(TargetType.MINI_PROMPT, alice.person, None, 100)
    assert len(prompts) == 4


async def test_one_mini_prompt_does_not_get_two_texts_at_once(
    playbook: Playbook, alice: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    id = prompts_in(made)[0].id

    def words(content: str) -> StageItemDraft:
        return StageItemDraft(PromptDraft(name="N", content=content, id=id))

    twice = {"stages": (stage(words("A"), words("B")),)}
    await refused("bad_input", playbook.edit_workflow(alice, made.id, 1, twice))
    same = {"stages": (stage(words("A"), words("A")),)}
    edited = await playbook.edit_workflow(alice, made.id, 1, same)
    assert [(each.id, each.content, each.version) for each in prompts_in(edited)] == [
        (id, "A", 2)
    ] * 2


async def test_a_plan_does_not_grow_beyond_its_limit(playbook: Playbook, alice: Writer) -> None:
    shared = await playbook.add_workflow(alice, workflow(stage(prompt("A"))))
    items = (held(prompts_in(shared)[0].id),) * 200
    stages = tuple(stage(*items, name=str(number)) for number in range(10))
    made = await playbook.add_workflow(alice, workflow(*stages))
    changes = {"include_multi_agent_chat": True}
    await refused("bad_input", playbook.edit_workflow(alice, made.id, 1, changes))
    assert (await playbook.workflow(made.id, alice.person)).version == 1


async def test_a_published_mini_prompt_says_nothing_of_the_private_workflow_it_comes_from(
    playbook: Playbook, alice: Writer
) -> None:
    hidden = await playbook.add_workflow(alice, workflow(stage(prompt()), name="A secret plan"))
    (step,) = prompts_in(hidden)
    shown = workflow(stage(held(step.id)), name="For all", visibility=PUBLIC)
    (seen,) = prompts_in(await playbook.add_workflow(alice, shown))
    assert (seen.id, seen.visibility) == (step.id, PUBLIC)
    assert "secret" not in seen.key
