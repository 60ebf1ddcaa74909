"""Copies of workflows: a new one with the same stages, its copier's own to change."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.workflows import limits
from plugins.workflows.ids import new_id, slug
from plugins.workflows.inputs import (
    PromptDraft,
    Reference,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
    Writer,
)
from plugins.workflows.model import MiniPrompt, Stage, StageItem, Workflow, stage_settings
from plugins.workflows.playbook import Playbook

PREFIX = "Copy of "
_KEY_ID_CHARS = 8
"""Characters of an id that make a new prompt's key like no other."""


async def duplicate(
    playbook: Playbook, writer: Writer, ref: str, name: str | None = None
) -> tuple[Workflow, Workflow]:
    """Write a copy of a workflow, PRIVATE, which says where it came from.

    Mini-prompts become the copier's own, with the same words; skill cards, and the portal's
    automatic prompts, are used as they are. What the copier does not see is not copied.

    Args:
        playbook: where both are.
        writer: the copier.
        ref: the id or key of a workflow that they see.
        name: the copy's name, or None for that of the workflow behind "Copy of".

    Returns:
        The workflow, and its copy.

    Raises:
        ToolFailed: there is no such workflow, or it is another's and private.
    """
    source = await playbook.workflow(ref, writer.person)
    made = await playbook.add_workflow(writer, draft_of(source, name or copied_name(source.name)))
    return source, made


def copied_name(name: str) -> str:
    """What the copy of something is called."""
    return f"{PREFIX}{name}"[: limits.MAX_NAME_CHARS].rstrip()


def draft_of(source: Workflow, name: str) -> WorkflowDraft:
    """What a copy of a workflow is to be.

    Args:
        source: with the items that its copier sees.
        name: the copy's name.
    """
    placed = [each.item for stage in source.stages for each in stage.items]
    keys = {item.id: _new_key(item) for item in placed if _is_copied(item)}
    return WorkflowDraft(
        name=name,
        description=source.description,
        complexity=source.complexity,
        include_multi_agent_chat=source.include_multi_agent_chat,
        tags=source.tags,
        stages=tuple(_stage(each, keys) for each in source.stages),
        extra=dict(source.extra),
        origin=source.id,
        origin_version=source.version,
    )


def _is_copied(item: object) -> bool:
    return isinstance(item, MiniPrompt) and item.automatic is None


def _new_key(prompt: object) -> str:
    name = prompt.name if isinstance(prompt, MiniPrompt) else ""
    start = slug(name)[: limits.MAX_KEY_CHARS - _KEY_ID_CHARS - 1]
    return f"{start}-{new_id()[:_KEY_ID_CHARS]}"


def _stage(stage: Stage, keys: Mapping[str, str]) -> StageDraft:
    order = stage.item_order
    settings = stage_settings(stage) | {
        # An order names a copied prompt by its new key: names may be there twice.
        "item_order": None if order is None else tuple(keys.get(each, each) for each in order)
    }
    return StageDraft(**settings, items=tuple(_item(each, keys) for each in stage.items))


def _item(placed: StageItem, keys: Mapping[str, str]) -> StageItemDraft:
    item = placed.item
    if isinstance(item, MiniPrompt) and item.id in keys:
        words = PromptDraft(
            name=item.name,
            content=item.content,
            description=item.description,
            key=keys[item.id],
        )
        return StageItemDraft(words, placed.extra)
    return StageItemDraft(Reference(item.type, item.id), placed.extra)
