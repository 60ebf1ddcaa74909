"""Imports files: prompts first, then cards, then workflows, each in one transaction.

What is there already, word for word, is left alone. So an import that was cut off is finished by
another one, with the same rows as if it had not been.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.contract import ContentScrub, ToolFailed
from plugins.workflows import checks
from plugins.workflows.files.fields import UNRESOLVED
from plugins.workflows.files.nodes import Problem
from plugins.workflows.files.parsed import (
    FOLDERS,
    KIND_NAMES,
    ParsedPrompt,
    ParsedSkill,
    ParsedStage,
    ParsedStep,
    ParsedWorkflow,
)
from plugins.workflows.files.reader import ParsedFiles, Progress, read
from plugins.workflows.ids import portal_id
from plugins.workflows.inputs import (
    PromptDraft,
    Reference,
    SkillDraft,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
    Writer,
)
from plugins.workflows.model import PORTAL, AutoPrompt, TargetType, Visibility

if TYPE_CHECKING:
    from plugins.workflows.playbook import Playbook


CHECKED = "checked"
"""What becomes of an item where nothing is written."""


@dataclass(slots=True)
class Report:
    """What an import did, or would do.

    Attributes:
        added, updated, unchanged: items, as in ``workflows/code-review``.
        checked: items that are in order, where nothing was to be written.
        problems: what could not be read or taken in; everything else was.
        taken_out: secrets that stand in the files and were not taken in.
        dangling: steps and orders that name what is not there, each at its place.
    """

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    taken_out: list[Problem] = field(default_factory=list)
    dangling: list[Problem] = field(default_factory=list)

    @property
    def taken(self) -> list[str]:
        """Every item of the files that is in the playbook now."""
        return sorted([*self.added, *self.updated, *self.unchanged])


async def import_paths(
    playbook: Playbook,
    writer: Writer,
    paths: Iterable[Path],
    tell: Progress | None = None,
    scrub: ContentScrub | None = None,
) -> Report:
    """Take files into the playbook, as the portal's own items.

    Args:
        playbook: where to.
        writer: who writes: the portal (``model.PORTAL``), under the author's name of each file.
        paths: directories of playbooks, and single files.
        tell: hears of the progress.
        scrub: takes secrets out of them.
    """
    written = await asyncio.to_thread(read, list(paths), None, scrub)
    return await import_parsed(playbook, writer, written, tell)


async def import_parsed(
    playbook: Playbook, writer: Writer, written: ParsedFiles, tell: Progress | None = None
) -> Report:
    """Take in what files say (see :func:`import_paths`)."""
    return await _Importer(playbook, writer, written, tell).run()


async def check_paths(paths: Iterable[Path], tell: Progress | None = None) -> Report:
    """Read files and write nothing; what they refer to is looked for among them alone."""
    written = await asyncio.to_thread(read, list(paths), tell)
    return await _Importer(None, Writer(PORTAL), written, None).run()


class _Importer:
    """One import; without a playbook it only looks."""

    def __init__(
        self, playbook: Playbook | None, writer: Writer, written: ParsedFiles, tell: Progress | None
    ) -> None:
        self._playbook = playbook
        self._writer = writer
        self._written = written
        self._tell = tell
        self._report = Report(problems=list(written.problems), taken_out=list(written.taken_out))
        self._known: dict[tuple[TargetType, str], str | None] = {}
        self._hidden = _private_prompts(written, self._report)
        self._done = 0

    async def run(self) -> Report:
        for prompt in _in_order(self._written.prompts):
            if prompt.draft.key not in self._hidden:
                await self._put(TargetType.MINI_PROMPT, prompt, prompt.draft)
        for skill in _in_order(self._written.skills):
            await self._put(TargetType.SKILL, skill, skill.draft)
        for workflow in _in_order(self._written.workflows):
            await self._workflow(workflow)
        return self._report

    async def _workflow(self, workflow: ParsedWorkflow) -> None:
        stages = [await self._stage(each, workflow.path) for each in workflow.stages]
        draft = replace(workflow.draft, stages=tuple(stages))
        await self._put(TargetType.WORKFLOW, workflow, draft)

    async def _put(
        self,
        type_: TargetType,
        written: ParsedPrompt | ParsedSkill | ParsedWorkflow,
        draft: PromptDraft | SkillDraft | WorkflowDraft,
    ) -> None:
        key = draft.key or ""
        try:
            outcome = await self._store(replace(self._writer, name=written.author), draft)
        except ToolFailed as error:
            self._report.problems.append(Problem(written.path, 1, error.message))
        else:
            self._known[type_, key] = portal_id(type_, key)
            getattr(self._report, outcome).append(f"{FOLDERS[type_]}/{key}")
        self._done += 1
        if self._tell:
            of = self._written
            total = len(of.prompts) + len(of.skills) + len(of.workflows)
            self._tell(self._done, total)

    async def _store(self, writer: Writer, draft: PromptDraft | SkillDraft | WorkflowDraft) -> str:
        if isinstance(draft, PromptDraft):
            draft = checks.prompt(draft)
            return await self._playbook.put_prompt(writer, draft) if self._playbook else CHECKED
        if isinstance(draft, SkillDraft):
            draft = checks.skill(draft)
            return await self._playbook.put_skill(writer, draft) if self._playbook else CHECKED
        draft = checks.workflow(draft)
        checks.check_plan_size(draft.stages, draft.include_multi_agent_chat)
        return await self._playbook.put_workflow(writer, draft) if self._playbook else CHECKED

    async def _stage(self, stage: ParsedStage, path: str) -> StageDraft:
        """The stage with what is there of its items; the others wait in its ``extra``."""
        items, unresolved = [], []
        ids: dict[str, str] = {}
        for at, step in enumerate(stage.steps):
            id_ = await self._id(step)
            if id_ is None:
                reason = f"there is no {KIND_NAMES[step.type]} {step.name!r}{self._instead}"
                self._report.dangling.append(Problem(path, step.line, reason))
                unresolved.append(step_as_written(step) | {"at": at})
            else:
                items.append(StageItemDraft(self._what(step, id_), step.extra))
                ids |= {name: id_ for name in _names(step) if name not in ids}
        extra = dict(stage.draft.extra) | ({UNRESOLVED: unresolved} if unresolved else {})
        order = None if stage.order is None else self._order(stage.order, ids, path)
        return replace(stage.draft, items=tuple(items), item_order=order, extra=extra)

    @property
    def _instead(self) -> str:
        """What becomes of a step that leads nowhere."""
        if self._playbook is None:
            return " in these files; an import takes the portal's, if it has one"
        return "; the step is kept, unseen"

    def _what(self, step: ParsedStep, id_: str) -> PromptDraft | Reference:
        """What a step shows: hidden prompts are written with the workflows that use them."""
        if step.type is TargetType.MINI_PROMPT and step.key in self._hidden:
            return self._written.prompts[step.key].draft
        return Reference(step.type, id_)

    def _order(
        self, order: Iterable[tuple[str, int]], ids: dict[str, str], path: str
    ) -> tuple[str, ...]:
        found = []
        for name, line in order:
            if name not in ids and not AutoPrompt.named(name):
                reason = f"the order names {name!r}, which is no item of this stage that is there"
                self._report.dangling.append(Problem(path, line, reason))
            found.append(name if AutoPrompt.named(name) else ids.get(name, name))
        return tuple(found)

    async def _id(self, step: ParsedStep) -> str | None:
        """The id of the item that is meant, or None where there is none."""
        if step.by_id and self._playbook is None:
            return step.name  # Only the portal knows.
        if not step.by_id and step.key is None:
            return None
        if step.type is TargetType.MINI_PROMPT and step.key in self._hidden:
            return portal_id(step.type, step.key or "")
        known = (step.type, step.name if step.by_id else step.key or "")
        if known not in self._known:
            wanted = step.name if step.by_id else portal_id(step.type, step.key or "")
            self._known[known] = await self._looked_up(step.type, wanted)
        return self._known[known]

    async def _looked_up(self, type_: TargetType, id_: str) -> str | None:
        if self._playbook is None:
            return None
        get: Any = self._playbook.skill
        if type_ is TargetType.MINI_PROMPT:
            get = self._playbook.mini_prompt
        try:
            found = await get(id_, self._writer.person)
        except ToolFailed:
            return None
        return id_ if found.id == id_ else None


def _private_prompts(written: ParsedFiles, report: Report) -> set[str]:
    """The keys of prompts that say PRIVATE, and are in PRIVATE workflows alone."""
    used: dict[Visibility, set[str | None]] = {each: set() for each in Visibility}
    for workflow in written.workflows.values():
        steps = (step for stage in workflow.stages for step in stage.steps)
        keys = {step.key for step in steps if step.type is TargetType.MINI_PROMPT}
        used[workflow.draft.visibility] |= keys
    found = set()
    for key, prompt in written.prompts.items():
        is_private = prompt.visibility is Visibility.PRIVATE and not prompt.draft.automatic
        if is_private and key not in used[Visibility.PUBLIC]:
            found.add(key)
            if key not in used[Visibility.PRIVATE]:
                reason = "it is PRIVATE, and in no workflow here; it was left out"
                report.dangling.append(Problem(prompt.path, 1, reason))
    return found


def step_as_written(step: ParsedStep) -> dict[str, Any]:
    """A step as a file has it."""
    named: Any = {"id": step.name} if step.by_id else step.name
    return {KIND_NAMES[step.type]: named} | ({"extra": dict(step.extra)} if step.extra else {})


def _names(step: ParsedStep) -> list[str]:
    """What an order may call a step."""
    names = [step.name]
    if step.key is not None:
        names += [step.key, f"{FOLDERS[step.type]}/{step.key}"]
    return names


def _in_order(written: dict[str, Any]) -> list[Any]:
    return [written[key] for key in sorted(written)]
