"""The tools that write workflows and skill cards (seed 004, "CRUD Tools"), and publish them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import Caller, Exchange, Tier, Tool
from plugins.workflows import errors
from plugins.workflows.inputs import AttachmentDraft, Writer
from plugins.workflows.model import AutoPrompt, Skill, Stage, TargetType, Workflow
from plugins.workflows.notifications import Notifications
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.tools.arguments.skills import AddSkill, AttachmentInput, EditSkill
from plugins.workflows.tools.arguments.stages import StageInput, match_stages
from plugins.workflows.tools.arguments.workflows import AddWorkflow, EditWorkflow, Publish
from plugins.workflows.tools.base import ADDS, EDITS, Wire
from plugins.workflows.tools.callers import PUBLISH, writer
from plugins.workflows.tools.results.base import shared_fields
from plugins.workflows.tools.results.edits import Done, FolderRef, Written

_FILES = ("attachments.base64",)
"""Bytes of any kind: what looks like a secret in their Base64 is none."""


def tools(
    playbook: Playbook,
    lists: FolderLists,
    exchange: Callable[[], Exchange],
    notifications: Notifications,
    keep_deleted: timedelta,
) -> list[Tool]:
    """The tools, workflows first.

    Args:
        playbook: what is written to.
        lists: reads the folders that new items go into.
        exchange: gives the call that is running, which knows who may publish.
        notifications: tells clients what changed.
        keep_deleted: how long a deleted workflow can be restored.
    """
    edits = Edits(playbook, lists, exchange, notifications, keep_deleted)
    return [*_workflow_tools(edits), *_skill_tools(edits), _publish_tool(edits)]


def _workflow_tools(edits: Edits) -> list[Tool]:
    return [
        _tool(
            "add_workflow",
            "Add a workflow",
            "Write a new workflow of your own: stages, each with mini-prompts, which are written "
            "with it, and skill cards, which are there already (`get_skills` finds them, "
            "`add_skill` writes one). It is PRIVATE, so that only you see it, until you `publish` "
            "it. The answer has its id and version, and the ids of what is in it.",
            edits.add_workflow,
            AddWorkflow,
        ),
        _tool(
            "edit_workflow",
            "Edit a workflow",
            "Change a workflow of your own, or delete it (`is_active` false): it stays in your bin "
            "until the time that the answer says, for `restore_workflow`. Read it with "
            "`get_workflow` first: `version` must be the one that you read, and its answer can be "
            "given back, changed. What you leave out stays as it is, whole stages too: "
            "`remove_stages` removes them. `restore_version` undoes an edit.",
            edits.edit_workflow,
            EditWorkflow,
            EDITS,
        ),
    ]


def _skill_tools(edits: Edits) -> list[Tool]:
    return [
        _tool(
            "add_skill",
            "Add a skill card",
            "Write a new skill card of your own for the playbook: instructions for one kind of "
            "work, with files, for workflows to use. It is PRIVATE until you publish it.",
            edits.add_skill,
            AddSkill,
        ),
        _tool(
            "edit_skill",
            "Edit a skill card",
            "Change a skill card of your own in the playbook, or delete it (`is_active` false). "
            "Read it with `get_selected_skill` first: `version` must be the one that you read. "
            "What you leave out stays as it is. Workflows that use the card show it as it is from "
            "then on.",
            edits.edit_skill,
            EditSkill,
            EDITS,
        ),
    ]


def _publish_tool(edits: Edits) -> Tool:
    return _tool(
        PUBLISH,
        "Publish a workflow or skill card",
        "Show a workflow or skill card of your own to everyone, with your name as its author, "
        "or take it back (`visibility` PRIVATE). The mini-prompts that you wrote into a workflow "
        "are published with it; its skill cards are published first, each by itself.",
        edits.publish,
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
class Edits:
    """What the tools do."""

    playbook: Playbook
    lists: FolderLists
    exchange: Callable[[], Exchange]
    notifications: Notifications
    keep_deleted: timedelta

    async def add_workflow(self, args: AddWorkflow, caller: Caller) -> Wire:
        """Write a new workflow."""
        who = self._writer(caller)
        known = await self.lists.has(who.person, args.place())
        made = await self.playbook.add_workflow(who, args.draft(), args.place())
        self.notifications.lists_changed()
        folder = await self._folder(who, TargetType.WORKFLOW, made.id, known)
        warnings = order_warnings(args.stages, made.stages)
        return Written.of(made, "added", folder=folder, warnings=warnings).wire()

    async def edit_workflow(self, args: EditWorkflow, caller: Caller) -> Wire:
        """Change or delete a workflow."""
        who = self._writer(caller)
        before = await self.playbook.workflow(args.workflow_id, who.person)
        if args.is_active is False:
            gone = await self.playbook.delete_workflow(who, before.id, args.version)
            self.notifications.workflow_changed(before)
            until = gone + self.keep_deleted
            return Written.of(before, "deleted", restorable_until=until).wire()
        after = await self.playbook.edit_workflow(
            who, before.id, args.version, args.changes(before), args.remove_stages
        )
        given = args.stages or []
        warnings = order_warnings(given, _edited_stages(given, before, after))
        return self._edited(before, after, [*warnings, *_kept_stage_warnings(args, before)])

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
        read: Any = self.playbook.workflow
        edit: Any = self.playbook.edit_workflow
        if args.type == TargetType.SKILL:
            read, edit = self.playbook.skill, self.playbook.edit_skill
        before = await read(args.id, who.person)
        after = await edit(who, before.id, args.version, changes)
        return self._edited(before, after)

    def _writer(self, caller: Caller) -> Writer:
        return writer(caller, self.exchange())

    def _edited(
        self, before: Workflow | Skill, after: Workflow | Skill, warnings: Sequence[str] = ()
    ) -> Wire:
        done: Done = "unchanged" if after.version == before.version else "updated"
        if done == "updated" and isinstance(before, Workflow) and isinstance(after, Workflow):
            self.notifications.workflow_changed(before, after)
        return Written.of(after, done, warnings=warnings).wire()

    async def _folder(
        self, who: Writer, type: TargetType, target: str, known: bool
    ) -> FolderRef | None:
        folder = await self.lists.containing(who.person, type, target)
        if folder is None:
            return None
        return FolderRef(**shared_fields(FolderRef, folder), created=not known)

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


def _edited_stages(given: Sequence[StageInput], before: Workflow, after: Workflow) -> list[Stage]:
    """The stages that an edit named, as they are now, in its order."""
    old = [None if each is None else each.id for each in match_stages(given, before.stages)]
    now = {each.id: each for each in after.stages}
    there = {each.id for each in before.stages}
    new = iter([each for each in after.stages if each.id not in there])
    return [now[id] if id is not None else next(new) for id in old]


def _kept_stage_warnings(args: EditWorkflow, before: Workflow) -> list[str]:
    """What an edit of stages did not name, and is there as before."""
    if args.stages is None:
        return []
    named = {each.id for each in match_stages(args.stages, before.stages) if each is not None}
    gone = named | set(args.remove_stages)
    kept = [f"{each.name} ({each.id})" for each in before.stages if each.id not in gone]
    if not kept:
        return []
    return [
        f"Left out of the edit, and kept: {', '.join(kept)}. remove_stages takes ids to remove."
    ]


def order_warnings(given: Sequence[StageInput], made: Sequence[Stage]) -> list[str]:
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
