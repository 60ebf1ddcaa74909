"""What the tools that write workflows take as a stage, new or as ``get_workflow`` gave it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Field, StringConstraints, model_validator

from plugins.workflows import checks, limits
from plugins.workflows.inputs import PromptDraft, Reference, StageDraft, StageItemDraft
from plugins.workflows.model import Stage, TargetType
from plugins.workflows.tools.arguments.base import Input, RoundTripInput
from plugins.workflows.tools.arguments.fields import ANY_CASE, Content, Description, Name

Colour = Annotated[Name, StringConstraints(max_length=checks.MAX_COLOR_CHARS)]
Extra = Annotated[
    dict[str, Any] | None,
    Field(description="What else its author says of it; null: as it is."),
]


def _new_words(name: str, content: str, description: str | None, id: str | None) -> PromptDraft:
    return PromptDraft(name=name, content=content, description=description or None, id=id)


class PromptInput(Input):
    """A mini-prompt of a stage: one that is there, by prompt_id, or a new one."""

    prompt_id: Name | None = Field(
        None,
        description="The id of a mini-prompt that is there. Alone, it is used as it is; with name "
        "and content, it gets these words (only your own).",
    )
    name: Name | None = Field(None, description="What the step is called. For a new mini-prompt.")
    content: Content | None = Field(
        None, description="What the agent is told to do, in Markdown. For a new mini-prompt."
    )
    description: Description | None = Field(None, description="What it is for, in a sentence.")

    @model_validator(mode="after")
    def _is_there_or_new(self) -> Self:
        given = [each is not None for each in (self.name, self.content)]
        if all(given) or (self.prompt_id and not any(given) and self.description is None):
            return self
        raise ValueError("give name and content, or prompt_id alone")

    def draft(self) -> PromptDraft | Reference:
        """What is to be written."""
        if self.name is None or self.content is None:
            return Reference(TargetType.MINI_PROMPT, self.prompt_id or "")
        return _new_words(self.name, self.content, self.description, self.prompt_id)


class ItemInput(RoundTripInput):
    """A mini-prompt or skill card at its place in a stage, as get_workflow shows it."""

    type: Annotated[Literal["MINI_PROMPT", "SKILL"], ANY_CASE]
    id: Name | None = Field(None, description="Its id; null for a new mini-prompt.")
    name: Name | None = Field(None, description="What a mini-prompt is called.")
    content: Content | None = Field(
        None, description="A mini-prompt's words; null: it is used as it is."
    )
    description: Description | None = Field(None, description="What a mini-prompt is for.")
    extra: Extra = None

    @model_validator(mode="after")
    def _is_there_or_new(self) -> Self:
        has_words = self.type == "MINI_PROMPT" and self.name and self.content is not None
        if self.id is None and not has_words:
            raise ValueError("give the id of what is there, or name and content of a mini-prompt")
        return self

    def draft(self, before: Stage | None) -> StageItemDraft:
        """What is to be written, in place of what a stage holds."""
        held = [each for each in before.items if each.item.id == self.id] if before else []
        extra = self.extra if self.extra is not None else held[0].extra if held else {}
        return StageItemDraft(self._what(), extra)

    def _what(self) -> PromptDraft | Reference:
        if self.type == "SKILL" or self.name is None or self.content is None:
            return Reference(TargetType(self.type), self.id or "")
        return _new_words(self.name, self.content, self.description, self.id)


class StageInput(RoundTripInput):
    """A stage of a workflow: its items, and how they are walked."""

    name: Name = Field(description="What the stage is called, such as Review.")
    description: Description | None = Field(None, description="What it achieves, in a sentence.")
    color: Colour | None = Field(None, description="A colour for people, such as #3b82f6.")
    with_review: bool = Field(
        False, description="Whether the Memory Board, the portal's review step, ends the stage."
    )
    include_multi_agent_chat: bool | None = Field(
        None,
        description="Whether the Internal Agents Chat, the portal's discussion step, comes after "
        "each item; null: as the workflow says.",
    )
    prompts: list[PromptInput] = Field(
        default_factory=list,
        max_length=limits.MAX_STAGE_ITEMS,
        description="The mini-prompts, in order; they come before the skills.",
    )
    skills: list[Name] = Field(
        default_factory=list,
        max_length=limits.MAX_STAGE_ITEMS,
        description="Ids or keys (not names) of skill cards that are there, in order.",
    )
    items: list[ItemInput] | None = Field(
        None,
        max_length=limits.MAX_STAGE_ITEMS,
        description="In place of prompts and skills: both in one order, as get_workflow shows "
        "them.",
    )
    item_order: list[Name] | None = Field(
        None,
        max_length=checks.MAX_ORDER_ENTRIES,
        description="Another order of the steps: ids of items, or names of mini-prompts that are "
        "written with it, and memory-board or multi-agent-chat where those should come. What is "
        "not listed comes at the end; a name that is none of these is left out, with a warning.",
    )
    stage_id: Name | None = Field(
        None,
        validation_alias=AliasChoices("stage_id", "stageId", "id"),
        description="The id of the stage, where an edit keeps one that is there.",
    )
    extra: Extra = None

    @model_validator(mode="after")
    def _says_its_items_once(self) -> Self:
        if self.items is not None and (self.prompts or self.skills):
            raise ValueError("give items, or prompts and skills, not both")
        return self

    def draft(self, before: Stage | None = None) -> StageDraft:
        """What is to be written.

        Args:
            before: the stage that it takes the place of; what is left out stays as it was there.
        """
        order = self._kept("item_order", before)
        return StageDraft(
            name=self.name,
            description=self._kept("description", before) or None,
            color=self._kept("color", before),
            with_review=self._kept("with_review", before),
            include_multi_agent_chat=self._kept("include_multi_agent_chat", before),
            items=tuple(self._items(before)),
            item_order=None if order is None else tuple(order),
            extra=self.extra if self.extra is not None else before.extra if before else {},
            id=before.id if before else self.stage_id,
        )

    def _kept(self, name: str, before: Stage | None) -> Any:
        if before is None or name in self.model_fields_set:
            return getattr(self, name)
        return getattr(before, name)

    def _items(self, before: Stage | None) -> Iterator[StageItemDraft]:
        if self.items is not None:
            yield from (each.draft(before) for each in self.items)
        elif before is None or self.model_fields_set & {"prompts", "skills"}:
            yield from (StageItemDraft(each.draft()) for each in self.prompts)
            yield from (StageItemDraft(Reference(TargetType.SKILL, each)) for each in self.skills)
        else:
            for each in before.items:
                yield StageItemDraft(Reference(each.item.type, each.item.id), each.extra)


Stages = Annotated[list[StageInput], Field(max_length=limits.MAX_STAGES)]


def match_stages(given: Sequence[StageInput], before: Sequence[Stage]) -> list[Stage | None]:
    """The stage that each of some takes the place of: by its id, or else by its name.

    Args:
        given: the stages of an edit.
        before: those that are there.
    """
    left = {each.id: each for each in before}
    found = [left.pop(each.stage_id, None) if each.stage_id else None for each in given]
    for number, each in enumerate(given):
        if each.stage_id is None:
            same = next((id for id, stage in left.items() if stage.name == each.name), "")
            found[number] = left.pop(same, None)
    return found
