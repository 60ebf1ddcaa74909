"""The tools that write workflows and skill cards (seed 004, "CRUD Tools"), and publish them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import Caller, Exchange, Tier, Tool
from plugins.workflows import errors
from plugins.workflows.drafts import AttachmentDraft, Writer
from plugins.workflows.inputs.skills import AddSkill, AttachmentInput, EditSkill
from plugins.workflows.inputs.stages import StageInput, replaced
from plugins.workflows.inputs.workflows import AddWorkflow, EditWorkflow, Publish
from plugins.workflows.model import AutoPrompt, Skill, Stage, TargetType, Workflow
from plugins.workflows.notifications import Notifications
from plugins.workflows.playbook import Playbook
from plugins.workflows.results.writing import Done, FolderRef, Written
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.tools.base import ADDS, EDITS, Wire
from plugins.workflows.tools.callers import PUBLISH, writer

_FILES = ("attachments.base64",)
"""Bytes of any kind: what looks like a secret in their Base64 is none."""


def tools(
    playbook: Playbook,
    lists: FolderLists,
    exchange: Callable[[], Exchange],
    notifications: Notifications,
) -> list[Tool]:
    """The tools, workflows first.

    Args:
        playbook: what is written to.
        lists: reads the folders that new items go into.
        exchange: gives the call that is running, which knows who may publish.
        notifications: tells clients what changed.
    """
    writing = Writing(playbook, lists, exchange, notifications)
    return [*_of_workflows(writing), *_of_cards(writing), _publishing(writing)]


def _of_workflows(writing: Writing) -> list[Tool]:
    return [
        _tool(
            "add_workflow",
            "Add a workflow",
            "Write a new workflow of your own: stages, each with mini-prompts, which are written "
            "with it, and skill cards, which are there already (`get_skills` finds them, "
            "`add_skill` writes one). It is PRIVATE, so that only you see it, until you `publish` "
            "it. The answer has its id and version, and the ids of what is in it.",
            writing.add_workflow,
            AddWorkflow,
        ),
        _tool(
            "edit_workflow",
            "Edit a workflow",
            "Change a workflow of your own, or delete it (`is_active` false). Read it with "
            "`get_workflow` first: `version` must be the one that you read, and its answer can be "
            "given back, changed. What you leave out stays as it is, whole stages too: "
            "`remove_stages` removes them. `restore_version` undoes an edit.",
            writing.edit_workflow,
            EditWorkflow,
            EDITS,
        ),
    ]


def _of_cards(writing: Writing) -> list[Tool]:
    return [
        _tool(
            "add_skill",
            "Add a skill card",
            "Write a new skill card of your own for the playbook: instructions for one kind of "
            "work, with files, for workflows to use. It is PRIVATE until you publish it.",
            writing.add_skill,
            AddSkill,
        ),
        _tool(
            "edit_skill",
            "Edit a skill card",
            "Change a skill card of your own in the playbook, or delete it (`is_active` false). "
            "Read it with `get_selected_skill` first: `version` must be the one that you read. "
            "What you leave out stays as it is. Workflows that use the card show it as it is from "
            "then on.",
            writing.edit_skill,
            EditSkill,
            EDITS,
        ),
    ]


def _publishing(writing: Writing) -> Tool:
    return _tool(
        PUBLISH,
        "Publish a workflow or skill card",
        "Show a workflow or skill card of your own to everyone, with your name as its author, "
        "or take it back (`visibility` PRIVATE). The mini-prompts that you wrote into a workflow "
        "are published with it; its skill cards are published first, each by itself.",
        writing.publish,
        Publish,
        tier=Tier.MEMBERS,
    )


def _tool(
    name: str,
    title: str,
    summary: str,
    run: Callable[[Any, Caller], Awaitable[Wire]],
    args: type[BaseModel],
    annotations: ToolAnnotations = ADDS,
    *,
    tier: Tier = Tier.PUBLIC,
) -> Tool:
    return Tool(
        name=name,
        title=title,
        summary=summary,
        run=run,
        args=args,
        result=Written,
        tier=tier,
        annotations=annotations,
        opaque=_FILES if "attachments" in args.model_fields else (),
    )


@dataclass(frozen=True, slots=True)
class Writing:
    """What the tools do."""

    playbook: Playbook
    lists: FolderLists
    exchange: Callable[[], Exchange]
    notifications: Notifications

    async def add_workflow(self, args: AddWorkflow, caller: Caller) -> Wire:
        """Write a new workflow."""
        who = self._writer(caller)
        known = await self.lists.has(who.person, args.place())
        made = await self.playbook.add_workflow(who, args.draft(), args.place())
        self.notifications.listed()
        folder = await self._folder(who, TargetType.WORKFLOW, made.id, known)
        warnings = unknown_in_orders(args.stages, made.stages)
        return Written.of(made, "added", folder=folder, warnings=warnings).wire()

    async def edit_workflow(self, args: EditWorkflow, caller: Caller) -> Wire:
        """Change or delete a workflow."""
        who = self._writer(caller)
        before = await self.playbook.workflow(args.workflow_id, who.person)
        if args.is_active is False:
            await self.playbook.delete_workflow(who, before.id, args.version)
            self.notifications.written(before)
            return Written.of(before, "deleted").wire()
        after = await self.playbook.edit_workflow(
            who, before.id, args.version, args.changes(before), args.remove_stages
        )
        given = args.stages or []
        warnings = unknown_in_orders(given, _written(given, before, after))
        return self._edited(before, after, [*warnings, *_left_out(args, before)])

    async def add_skill(self, args: AddSkill, caller: Caller) -> Wire:
        """Write a new skill card."""
        who = self._writer(caller)
        known = await self.lists.has(who.person, args.place())
        made = await self.playbook.add_skill(who, args.draft(), args.place())
        folder = await self._folder(who, TargetType.SKILL, made.id, known)
        return Written.of(made, "added", folder=folder).wire()

    async def edit_skill(self, args: EditSkill, caller: Caller) -> Wire:
        """Change or delete a skill card."""
        who = self._writer(caller)
        before = await self.playbook.skill(args.skill_id, who.person)
        if args.is_active is False:
            await self.playbook.delete_skill(who, before.id, args.version)
            return Written.of(before, "deleted").wire()
        changes = args.changes()
        if args.attachments is not None:
            changes["attachments"] = await self._attachments(before, args.attachments)
        return self._edited(
            before, await self.playbook.edit_skill(who, before.id, args.version, changes)
        )

    async def publish(self, args: Publish, caller: Caller) -> Wire:
        """Make something PUBLIC, or PRIVATE again."""
        who = self._writer(caller)
        changes = {"visibility": args.visibility}
        before: Workflow | Skill
        after: Workflow | Skill
        if args.type == TargetType.SKILL:
            before = await self.playbook.skill(args.id, who.person)
            after = await self.playbook.edit_skill(who, before.id, args.version, changes)
        else:
            before = await self.playbook.workflow(args.id, who.person)
            after = await self.playbook.edit_workflow(who, before.id, args.version, changes)
        return self._edited(before, after)

    def _writer(self, caller: Caller) -> Writer:
        return writer(caller, self.exchange())

    def _edited(
        self, before: Workflow | Skill, after: Workflow | Skill, warnings: Sequence[str] = ()
    ) -> Wire:
        done: Done = "unchanged" if after.version == before.version else "updated"
        if done == "updated" and isinstance(before, Workflow) and isinstance(after, Workflow):
            self.notifications.written(before, after)
        return Written.of(after, done, warnings=warnings).wire()

    async def _folder(
        self, who: Writer, type: TargetType, target: str, known: bool
    ) -> FolderRef | None:
        folder = await self.lists.holding(who.person, type, target)
        if folder is None:
            return None
        return FolderRef(id=folder.id, key=folder.key, name=folder.name, created=not known)

    async def _attachments(
        self, card: Skill, wanted: Sequence[AttachmentInput]
    ) -> tuple[AttachmentDraft, ...]:
        """The files that are to be there; of one with a name alone, what is there already."""
        return tuple([await self._attachment(card, each) for each in wanted])

    async def _attachment(self, card: Skill, wanted: AttachmentInput) -> AttachmentDraft:
        if (data := wanted.data()) is not None:
            return wanted.draft(data)
        if wanted.name not in {each.name for each in card.attachments}:
            raise errors.bad_input(
                f"The card has no file {wanted.name}. Give its text, or its bytes as base64."
            )
        found, data = await self.playbook.attachment(card.id, wanted.name, card.owner)
        return AttachmentDraft(found.name, wanted.mime_type or found.mime_type, data)


def _written(given: Sequence[StageInput], before: Workflow, after: Workflow) -> list[Stage]:
    """The stages that an edit named, as they are now, in its order."""
    old = [None if each is None else each.id for each in replaced(given, before.stages)]
    now = {each.id: each for each in after.stages}
    there = {each.id for each in before.stages}
    new = iter([each for each in after.stages if each.id not in there])
    return [now[id] if id is not None else next(new) for id in old]


def _left_out(args: EditWorkflow, before: Workflow) -> list[str]:
    """What an edit of stages did not name, and is there as before."""
    if args.stages is None:
        return []
    named = {each.id for each in replaced(args.stages, before.stages) if each is not None}
    gone = named | set(args.remove_stages)
    kept = [f"{each.name} ({each.id})" for each in before.stages if each.id not in gone]
    if not kept:
        return []
    return [
        f"Left out of the edit, and kept: {', '.join(kept)}. remove_stages takes ids to remove."
    ]


def unknown_in_orders(given: Sequence[StageInput], made: Sequence[Stage]) -> list[str]:
    """What an ``item_order`` names and its stage does not hold: one warning for each stage.

    Args:
        given: the stages as they were asked for.
        made: the same stages as they were written.
    """
    warnings = []
    for number, (asked, stage) in enumerate(zip(given, made, strict=False)):
        items = [each.item for each in stage.items]
        known = {name for item in items for name in (item.id, item.key, item.name)}
        order = asked.item_order or ()
        if unknown := [each for each in order if each not in known and not AutoPrompt.named(each)]:
            warnings.append(
                f"stages.{number}.item_order names what the stage does not hold, which is left "
                f"out of the plan: {', '.join(unknown)}."
            )
    return warnings
