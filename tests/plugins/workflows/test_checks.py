"""What is refused, whoever writes it, and with which place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from plugins.workflows import checks, limits
from plugins.workflows.inputs import (
    AttachmentDraft,
    Reference,
    SkillDraft,
    StageItemDraft,
    WorkflowDraft,
)
from plugins.workflows.model import TargetType
from tests.plugins.workflows.conftest import prompt, skill, stage, workflow

TEXT = AttachmentDraft("a.txt", "text/plain", b"A")


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


WORKFLOWS = [
    ("name", workflow(name="  ")),
    ("name", workflow(name="two\nlines")),
    ("name", workflow(name="x" * 256)),
    ("name", workflow(name="bell\a")),
    ("description", workflow(description="x" * 4001)),
    ("description", workflow(description="half \ud800 a pair")),
    ("description", workflow(description="nul \0")),
    ("description", workflow(description="a lone \r return")),
    ("tags", workflow(tags=tuple(f"tag {n}" for n in range(10_000)))),
    ("tags[1]", workflow(tags=("good", " "))),
    ("tags[0]", workflow(tags=("x" * 65,))),
    ("key", workflow(key="../../etc")),
    ("key", workflow(key="k" * 101)),
    ("stages", workflow(*(stage() for _ in range(101)))),
    ("stages[1].name", workflow(stage(), stage(name=""))),
    ("stages[0].color", workflow(stage(color="#ff\x1b"))),
    ("stages[0].items", workflow(stage(*(prompt() for _ in range(201))))),
    ("stages[0].items[1].content", workflow(stage(prompt(), prompt(content="x" * 1_000_000)))),
    ("stages[0].items[0].name", workflow(stage(prompt("")))),
    ("stages[0].items[0].key", workflow(stage(prompt(key="a b")))),
    ("stages[0].item_order", workflow(stage(item_order=("x",) * 801))),
    ("stages[0].item_order[0]", workflow(stage(item_order=("\0",)))),
    ("stages[0].extra", workflow(stage(extra={"x": "y" * 70_000}))),
    ("extra", workflow(extra={"x": float("nan")})),
    ("extra", workflow(extra={"x": object()})),
    ("extra.a[1]", workflow(extra={"a": ["b", "\x07"]})),
    ("extra", workflow(extra={"\0": 1})),
    (
        "stages[0].items[0]",
        workflow(stage(StageItemDraft(Reference(TargetType.WORKFLOW, "x")))),
    ),
]
SKILLS = [
    ("name", skill("")),
    ("content", skill(content="x" * 100_001)),
    ("content", skill(content="\x7f")),
    ("attachments", skill(attachments=(TEXT,) * 21)),
    ("attachments[1].name", skill(attachments=(TEXT, TEXT))),
    ("attachments[0]", skill(attachments=(AttachmentDraft("a", "a/b", b"x" * 1_048_577),))),
    ("attachments[0].mime_type", skill(attachments=(AttachmentDraft("a", "text", b""),))),
    *(
        ("attachments[0].name", skill(attachments=(AttachmentDraft(name, "a/b", b""),)))
        for name in ("", "..", "a/b", "a\\b", "a\nb", " a")
    ),
]


def labels(cases: Sequence[tuple[str, object]]) -> list[str]:
    """The places name the tests."""
    return [f"{number} {place}" for number, (place, _) in enumerate(cases)]


def refused(place: str, check: Callable[[], object]) -> None:
    with pytest.raises(ToolFailed) as failed:
        check()
    assert failed.value.code == "bad_input"
    assert failed.value.details["place"] == place
    assert failed.value.message.startswith(f"{place}: ")


@pytest.mark.parametrize(("place", "draft"), WORKFLOWS, ids=labels(WORKFLOWS))
def test_a_workflow_that_cannot_be_taken_is_refused(place: str, draft: WorkflowDraft) -> None:
    refused(place, lambda: checks.workflow(draft))


@pytest.mark.parametrize(("place", "draft"), SKILLS, ids=labels(SKILLS))
def test_a_card_that_cannot_be_taken_is_refused(place: str, draft: SkillDraft) -> None:
    refused(place, lambda: checks.skill(draft))


def test_json_that_nests_too_deep_is_refused() -> None:
    checks.workflow(workflow(extra=nested(32)))
    refused(f"extra{'.in' * 33}", lambda: checks.workflow(workflow(extra=nested(33))))
    refused("extra", lambda: checks.workflow(workflow(extra=nested(100_000))))


def test_a_plan_has_so_many_steps_and_no_more() -> None:
    full = [stage(*(prompt() for _ in range(200)), name=str(n)) for n in range(10)]
    checks.check_plan_size(full, include_multi_agent_chat=False)
    refused("stages", lambda: checks.check_plan_size(full, include_multi_agent_chat=True))
    more = [*full, stage(with_review=True)]
    refused("stages", lambda: checks.check_plan_size(more, include_multi_agent_chat=False))


def test_texts_are_put_into_one_form() -> None:
    draft = checks.workflow(
        workflow(
            name=" Review ",
            description="one\r\ntwo\n\tthree <b>bold</b>",
            tags=("B", "a ", "b"),
            extra={"a": (1, 2)},
        )
    )
    assert draft.name == "Review"
    assert draft.description == "one\ntwo\n\tthree <b>bold</b>"
    assert draft.tags == ("a", "b")
    assert draft.extra == {"a": [1, 2]}


@given(st.text(), st.text(), st.lists(st.text(max_size=5), max_size=5))
def test_what_passes_passes_again_unchanged(name: str, content: str, tags: list[str]) -> None:
    try:
        once = checks.skill(SkillDraft(name=name, content=content, tags=tuple(tags)))
    except ToolFailed:
        return
    assert checks.skill(once) == once
    assert once.name
    assert len(once.name) <= limits.MAX_NAME_CHARS
    for text in (once.name, once.content, *once.tags):
        text.encode()
        assert "\0" not in text
