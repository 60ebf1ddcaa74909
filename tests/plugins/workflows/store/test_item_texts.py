"""What search reads of an item: the telling things first, in a length that the model reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows import limits
from plugins.workflows.inputs import (
    PromptDraft,
    Reference,
    SkillDraft,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
)
from plugins.workflows.model import (
    MiniPrompt,
    Stage,
    StageItem,
    TargetType,
    Visibility,
    Workflow,
)
from plugins.workflows.store.item_texts import (
    MAX_TEXT_CHARS,
    clean,
    head_and_body,
    skill_text,
    workflow_text,
)


def draft(*stages: StageDraft, **fields: Any) -> WorkflowDraft:
    return WorkflowDraft(**{"name": "Tidy the shed", **fields}, stages=stages)


def stage(name: str, *prompts: str, **fields: Any) -> StageDraft:
    items = tuple(StageItemDraft(PromptDraft(name=each, content="Do it.")) for each in prompts)
    return StageDraft(name=name, items=items, **fields)


def test_a_workflow_is_read_by_name_tags_description_stages_and_prompts() -> None:
    written = draft(
        stage("Empty it", "Carry all out", description="Nothing stays inside."),
        stage("Fill it", "Carry all in", "Carry all out"),
        description="From chaos to order.",
        tags=("garden", "tools"),
    )
    assert workflow_text(written).splitlines() == [
        "Tidy the shed",
        "garden, tools",
        "From chaos to order.",
        "Nothing stays inside. Empty it, Fill it. Carry all out, Carry all in",
    ]


def test_a_stored_workflow_reads_as_the_draft_that_it_was_written_from() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    common: Any = {"key": "k", "owner": "o", "author": None, "description": None}
    common |= {"visibility": Visibility.PRIVATE, "version": 1, "created": now, "updated": now}
    prompt = MiniPrompt(id="p", name="Carry all out", content="Do it.", **common)
    stages = (Stage(id="s", name="Empty it", items=(StageItem(prompt),)),)
    stored = Workflow(id="w", name="Tidy the shed", tags=("garden",), stages=stages, **common)
    written = draft(stage("Empty it", "Carry all out"), tags=("garden",))
    assert workflow_text(stored) == workflow_text(written)


def test_an_item_that_a_draft_refers_to_is_read_where_its_name_is_told() -> None:
    items = (StageItemDraft(Reference(TargetType.SKILL, "card")),)
    written = draft(StageDraft(name="Clean", items=items))
    assert "Sharpen a spade" in workflow_text(written, {"card": "Sharpen a spade"})
    assert workflow_text(written).splitlines() == ["Tidy the shed", "", "", "Clean"]


def test_a_card_is_read_by_name_tags_description_and_the_beginning_of_its_content() -> None:
    card = SkillDraft(
        name="Sharpen", content="# Sharpen\n\nUse a file." + " x" * 5_000, tags=("a",)
    )
    text = skill_text(card)
    assert text.startswith("Sharpen\na\n\n# Sharpen Use a file. x x")
    assert 800 <= len(text) <= MAX_TEXT_CHARS


def test_a_name_is_whole_however_much_else_is_said() -> None:
    name = "n" * limits.MAX_NAME_CHARS
    long = [f"stage {number} " + "s" * 200 for number in range(100)]
    written = draft(
        *(stage(each, description="d" * 4_000) for each in long),
        name=name,
        description="word " * 800,
        tags=tuple(f"tag {number} {'t' * 50}" for number in range(32)),
    )
    lines = workflow_text(written).splitlines()
    assert lines[0] == name
    assert lines[1].startswith("tag 0")
    assert lines[2].startswith("word word")
    assert lines[3].startswith("d" * 120)
    assert "stage 0 s" in lines[3]


def test_the_model_reads_head_and_body_apart_and_no_tags() -> None:
    written = draft(stage("Empty it"), description="From chaos to order.", tags=("garden",))
    head, body = head_and_body(workflow_text(written))
    assert (head, body) == ("Tidy the shed. From chaos to order.", "Empty it")
    assert head_and_body(workflow_text(draft(tags=("garden",)))) == ("Tidy the shed", "")


@given(st.text(), st.text(), st.lists(st.text(), max_size=5), st.text())
def test_any_text_is_read_within_the_length_with_its_name_in_the_first_line(
    name: str, description: str, tags: list[str], content: str
) -> None:
    card = SkillDraft(name=name, description=description, tags=tuple(tags), content=content)
    text = skill_text(card)
    assert len(text) <= MAX_TEXT_CHARS
    assert text.split("\n")[0] == clean(name)[: limits.MAX_NAME_CHARS].rstrip()
    assert all(each == "\n" or each.isprintable() for each in text)


def test_what_is_not_printed_is_a_space() -> None:
    assert clean(" a\x00b\u2028\tc\ud800  d\r\n") == "a b c d"
    assert clean(None) == ""
