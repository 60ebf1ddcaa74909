"""A plan is what its rules say, for workflows of every form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows.model import AutoPrompt, MiniPrompt, Stage, Workflow
from plugins.workflows.plans.plan import Plan, PlanItem, build
from tests.plugins.workflows.plans.workflows import (
    AUTOMATIC,
    AUTOMATIC_IDS,
    UNKNOWN_IDS,
    WORKFLOWS,
    prompt,
    skill,
    stage,
    workflow,
)

CHAT, BOARD = AutoPrompt.MULTI_AGENT_CHAT, AutoPrompt.MEMORY_BOARD


def names(items: Iterable[PlanItem]) -> list[str]:
    """Automatic prompts by what they are, others by their ids."""
    return [item.auto_prompt or item.id for item in items]


def of_stages(whole: Workflow, plan: Plan) -> list[tuple[Stage, list[str]]]:
    """Each stage with its steps' names."""
    return [
        (each, names(item for item in plan.items if item.stage_index == number))
        for number, each in enumerate(whole.stages)
    ]


def plain(steps: Iterable[str]) -> list[str]:
    return [step for step in steps if step not in {CHAT, BOARD}]


def wants_chat(whole: Workflow, of: Stage) -> bool:
    own = of.include_multi_agent_chat
    return whole.include_multi_agent_chat if own is None else own


def meant(id: str) -> str:
    """What an id in an order stands for."""
    for automatic in (CHAT, BOARD):
        if id.split(automatic)[0] == "" and id.removeprefix(automatic)[:1] in {"", "-"}:
            return automatic if id else id
    return id


def occurrences(names: Iterable[str]) -> list[tuple[str, int]]:
    """Each name with how many of the same came before it."""
    before: Counter[str] = Counter()
    found = []
    for name in names:
        found.append((name, before[name]))
        before[name] += 1
    return found


@given(WORKFLOWS)
def test_steps_are_numbered_from_0_without_gaps_stage_after_stage(whole: Workflow) -> None:
    items = build(whole, AUTOMATIC).items
    assert [item.index for item in items] == list(range(len(items)))
    assert [item.place for item in items] == list(range(len(items)))
    assert sorted(item.stage_index for item in items) == [item.stage_index for item in items]
    assert all(item.stage_name == whole.stages[item.stage_index].name for item in items)


@given(WORKFLOWS)
def test_a_stage_gives_each_of_its_items_as_often_as_it_holds_it_and_no_others(
    whole: Workflow,
) -> None:
    for each, steps in of_stages(whole, build(whole, AUTOMATIC)):
        assert Counter(plain(steps)) == Counter(placed.item.id for placed in each.items)


@given(WORKFLOWS)
def test_without_an_order_items_come_by_position_with_the_chat_after_each_and_the_board_last(
    whole: Workflow,
) -> None:
    for each, steps in of_stages(whole, build(whole, AUTOMATIC)):
        if each.item_order:
            continue
        assert plain(steps) == [placed.item.id for placed in each.items]
        assert steps.count(CHAT) == len(each.items) * wants_chat(whole, each)
        chats = [place for place, step in enumerate(steps) if step == CHAT]
        assert all(steps[place - 1] not in {CHAT, BOARD} for place in chats)
        assert 0 not in chats
        assert steps.count(BOARD) == each.with_review
        assert BOARD not in steps[:-1]


@given(WORKFLOWS)
def test_an_order_is_kept_and_what_it_does_not_list_follows_by_position(whole: Workflow) -> None:
    for each, steps in of_stages(whole, build(whole, AUTOMATIC)):
        if not each.item_order:
            continue
        places = {told: at for at, told in enumerate(occurrences(map(meant, each.item_order)))}
        found = occurrences(steps)
        listed = [step for step in found if step in places]
        others = [name for name, _ in found[len(listed) :]]
        assert found[: len(listed)] == sorted(listed, key=places.__getitem__)
        # Two of the same id cannot be told apart: an order takes the earlier ones.
        held = [placed.item.id for placed in each.items]
        automatic = [name for name in (CHAT, BOARD) if name in others]
        assert others == _last(plain(others), held) + automatic


def _last(names: list[str], held: list[str]) -> list[str]:
    """As many of each name, taken from the end of what a stage holds, in its order."""
    wanted = Counter(names)
    taken: list[str] = []
    for name in reversed(held):
        if wanted[name]:
            wanted[name] -= 1
            taken.insert(0, name)
    return taken


@given(WORKFLOWS)
def test_in_an_order_an_automatic_prompt_comes_once_if_it_is_listed_or_its_flag_is_on(
    whole: Workflow,
) -> None:
    for each, steps in of_stages(whole, build(whole, AUTOMATIC)):
        if not each.item_order:
            continue
        listed = {meant(id) for id in each.item_order}
        assert steps.count(CHAT) == (CHAT in listed or wants_chat(whole, each))
        assert steps.count(BOARD) == (BOARD in listed or each.with_review)


@given(WORKFLOWS)
def test_automatic_ids_of_a_stage_that_is_gone_mean_the_same(whole: Workflow) -> None:
    fresh = [
        each
        if each.item_order is None
        else replace(each, item_order=tuple(meant(id) for id in each.item_order))
        for each in whole.stages
    ]
    assert build(replace(whole, stages=tuple(fresh)), AUTOMATIC) == build(whole, AUTOMATIC)


@given(WORKFLOWS, st.sampled_from([{}, {CHAT: AUTOMATIC[CHAT]}, {BOARD: AUTOMATIC[BOARD]}]))
def test_an_automatic_prompt_that_the_portal_lacks_is_left_out_and_nothing_else(
    whole: Workflow, automatic: dict[AutoPrompt, MiniPrompt]
) -> None:
    found = names(build(whole, automatic).items)
    every = names(build(whole, AUTOMATIC).items)
    assert found == [name for name in every if name in automatic or name not in AUTOMATIC]


@given(WORKFLOWS)
def test_building_twice_gives_the_same_plan_and_so_does_keeping_it_as_json(
    whole: Workflow,
) -> None:
    plan = build(whole, AUTOMATIC)
    assert build(whole, AUTOMATIC) == plan
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@given(WORKFLOWS)
def test_a_plan_says_whether_the_workflow_or_a_stage_wants_the_chat(whole: Workflow) -> None:
    flags = {whole.include_multi_agent_chat} | {
        each.include_multi_agent_chat for each in whole.stages
    }
    assert build(whole, AUTOMATIC).include_multi_agent_chat is (True in flags)


A, B, CARD = prompt("a"), prompt("b"), skill("card", "notes.md")


def plan_of(*items: object, **more: object) -> list[str]:
    return names(build(workflow(stage(*items, **more)), AUTOMATIC).items)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (plan_of(A, CARD), ["a", "card"]),
        (
            plan_of(A, B, with_review=True, include_multi_agent_chat=True),
            ["a", CHAT, "b", CHAT, BOARD],
        ),
        (plan_of(A, CARD, order=["card", "a"]), ["card", "a"]),
        (plan_of(A, B, order=["gone", "b"]), ["b", "a"]),
        (plan_of(A, B, order=["b", "b", "a"]), ["b", "a"]),
        (plan_of(A, B, A, order=["a", "b", "a"]), ["a", "b", "a"]),
        (plan_of(A, B, A, order=["b"]), ["b", "a", "a"]),
        (plan_of(A, B, order=["memory-board-old", "a"]), [BOARD, "a", "b"]),
        (plan_of(A, B, order=["a"], with_review=True), ["a", "b", BOARD]),
        (plan_of(A, order=["gone"], with_review=True), ["a", BOARD]),
        (
            plan_of(A, B, order=["a", "multi-agent-chat-1", "b", "multi-agent-chat-2"]),
            ["a", CHAT, "b"],
        ),
        (
            plan_of(A, order=["a"], with_review=True, include_multi_agent_chat=True),
            ["a", CHAT, BOARD],
        ),
        (plan_of(A, order=[], include_multi_agent_chat=True), ["a", CHAT]),
        (plan_of(include_multi_agent_chat=True, with_review=True), [BOARD]),
        (plan_of(A, order=AUTOMATIC_IDS + UNKNOWN_IDS), [BOARD, CHAT, "a"]),
    ],
)
def test_the_rules_by_example(found: list[str], wanted: list[str]) -> None:
    assert found == wanted


def test_a_step_carries_all_that_an_agent_needs() -> None:
    [card, board] = build(
        workflow(stage(skill("card", "notes.md", description="A card."), with_review=True)),
        AUTOMATIC,
    ).items
    assert (card.type, card.name, card.description) == ("skill", "Name of card", "A card.")
    assert card.content == "Content of card"
    assert [file.name for file in card.attachments] == ["notes.md"]
    assert (board.type, board.auto_prompt, board.attachments) == ("auto-prompt", BOARD, ())
