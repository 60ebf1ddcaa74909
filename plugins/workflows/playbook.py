"""The playbook: all reading and writing of workflows, skill cards and mini-prompts.

Imported late, for SQLAlchemy. Reading shows what the viewer sees, by every query. Each writing
method is one transaction: all of it is written, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from gateway.contract import Database, Objects
from plugins.workflows import checks, errors
from plugins.workflows.inputs import (
    PromptDraft,
    SkillDraft,
    WorkflowDraft,
    Writer,
)
from plugins.workflows.model import (
    Attachment,
    AutoPrompt,
    MiniPrompt,
    Skill,
    Summary,
    TargetType,
    Viewer,
    Workflow,
)
from plugins.workflows.store import (
    attachments,
    binned,
    erasure,
    full_items,
    mini_prompts,
    queries,
    search_texts,
    skills,
    visibility,
)
from plugins.workflows.store import workflows as flows
from plugins.workflows.store.change import Change
from plugins.workflows.store.folders import Place, place
from plugins.workflows.store.item_texts import skill_text, workflow_text
from plugins.workflows.store.kinds import TABLES
from plugins.workflows.store.mini_prompts import PutOutcome
from plugins.workflows.store.queries import ALL, Filters, Scope, snapshot
from plugins.workflows.store.transactions import Embed, Transactions

__all__ = ["Embed", "Filters", "Place", "Playbook", "PutOutcome", "Scope"]

_WORKFLOW, _SKILL, _PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT


class Playbook:
    """Workflows, skill cards and mini-prompts.

    Args:
        database: the plugin's database.
        objects: the plugin's objects, for attached files.
        embed: gives the model and the vector of a text, or None and None.
        clock: gives the time, with its zone.
    """

    def __init__(
        self, database: Database, objects: Objects, embed: Embed, clock: Callable[[], datetime]
    ) -> None:
        self._database, self._objects = database, objects
        self._writing = Transactions(database, objects, embed, clock)

    @property
    def writing(self) -> Transactions:
        """How it is written."""
        return self._writing

    # Reading

    async def workflow_version(self, id_or_key: str, viewer: Viewer) -> tuple[str, int]:
        """The id and version of a workflow; one query.

        Raises:
            ToolFailed: there is none, or it is another's and private.
        """
        async with self._database.read() as connection:
            found = await queries.find(connection, _WORKFLOW, id_or_key, viewer)
            return found.id, found.version

    async def workflow(self, id_or_key: str, viewer: Viewer) -> Workflow:
        """A workflow, with the items in it that the viewer sees.

        Raises:
            ToolFailed: as :meth:`workflow_version`.
        """
        return await self._workflow(id_or_key, viewer, full_items.visible_to(viewer))

    async def whole_workflow(self, id_or_key: str, viewer: Viewer) -> Workflow:
        """A workflow that the viewer sees, with all items in it, whoever sees those.

        It is for plans alone, which are the same for everyone and leave out afterwards what a
        viewer does not see. Everything else reads :meth:`workflow`.

        Raises:
            ToolFailed: as :meth:`workflow_version`.
        """
        return await self._workflow(id_or_key, viewer, full_items.not_deleted)

    async def _workflow(self, ref: str, viewer: Viewer, seen: full_items.RowFilter) -> Workflow:
        async with snapshot(self._database) as connection:
            found = await queries.find(connection, _WORKFLOW, ref, viewer)
            its = TABLES[_WORKFLOW].c.id == found.id
            (workflow,) = await full_items.read_workflows(connection, its, seen)
            return workflow

    async def skill(self, id_or_key: str, viewer: Viewer) -> Skill:
        """A skill card, without the bytes of its files.

        Raises:
            ToolFailed: there is none, or it is another's and private.
        """
        async with snapshot(self._database) as connection:
            found = await queries.find(connection, _SKILL, id_or_key, viewer)
            (skill,) = await full_items.read_skills(connection, TABLES[_SKILL].c.id == found.id)
            return skill

    async def mini_prompt(self, id_or_key: str, viewer: Viewer) -> MiniPrompt:
        """A mini-prompt.

        Raises:
            ToolFailed: there is none, or it is another's and private.
        """
        async with snapshot(self._database) as connection:
            found = await queries.find(connection, _PROMPT, id_or_key, viewer)
            (prompt,) = await full_items.read_prompts(connection, TABLES[_PROMPT].c.id == found.id)
            return prompt

    async def prompts_shown(self, ids: Iterable[str], viewer: Viewer) -> set[str]:
        """Those of some mini-prompts that the viewer sees, or saw until an edit replaced them."""
        where = [
            queries.id_in(_PROMPT, ids),
            visibility.visible_or_replaced(TABLES[_PROMPT], viewer),
        ]
        async with self._database.read() as connection:
            return set(await queries.ids(connection, _PROMPT, where))

    async def automatic(self) -> Mapping[AutoPrompt, MiniPrompt]:
        """The portal's automatic prompts; those that it has."""
        async with self._database.read() as connection:
            return await full_items.automatic(connection)

    async def summaries(
        self, type: TargetType, ids: Iterable[str], viewer: Viewer, filters: Filters = ALL
    ) -> dict[str, Summary]:
        """Those of some items that the viewer sees and that match, by id."""
        async with self._database.read() as connection:
            found = await queries.summaries(connection, type, ids, viewer, filters)
        return {each.id: each for each in found}

    async def matching(self, type: TargetType, viewer: Viewer, filters: Filters = ALL) -> list[str]:
        """The ids of the items that the viewer sees and that match."""
        async with self._database.read() as connection:
            return await queries.ids(connection, type, queries.matching(type, viewer, filters))

    async def page(
        self,
        type: TargetType,
        viewer: Viewer,
        after: str | None,
        limit: int,
        *,
        scope: Scope = "all",
        portal: bool = False,
    ) -> list[Summary]:
        """Some of the items that the viewer sees, by name and then by id.

        Args:
            type: workflows, skill cards or mini-prompts.
            viewer: who looks.
            after: the id of the last one of the page before, or None.
            limit: how many at most.
            scope: as in :class:`Filters`.
            portal: only the portal's own.
        """
        where = queries.matching(type, viewer, Filters(scope=scope))
        if portal:
            where.append(queries.is_portals(type))
        async with self._database.read() as connection:
            return await queries.page(connection, type, where, after, limit)

    async def check_kept(self, workflow_id: str, person: str) -> None:
        """Pass a workflow that was not deleted, whoever sees it.

        Args:
            workflow_id: that of somebody's run.
            person: whose run it is.

        Raises:
            ToolFailed: it was deleted, by that person, who can restore it, or by its owner.
        """
        async with self._database.read() as connection:
            owner = await binned.owner_if_deleted(connection, workflow_id)
        if owner is not None:
            raise errors.workflow_of_run_deleted(in_own_bin=owner == person)

    async def attachment(
        self, skill_id: str, name: str, viewer: Viewer
    ) -> tuple[Attachment, bytes]:
        """A file of a skill card, and its bytes.

        Args:
            skill_id: the card's id or key.
            name: the file's.
            viewer: who looks.

        Raises:
            ToolFailed: there is no such card or file, the card is another's and private, or the
                bytes are gone.
            OSError: the object store cannot be read.
        """
        skill = await self.skill(skill_id, viewer)
        for each in skill.attachments:
            if each.name == name:
                data = await attachments.load(self._objects, each.digest)
                if data is None:
                    raise errors.lost(each.name)
                return each, data
        raise errors.not_found("Attachment")

    # Writing workflows

    async def add_workflow(
        self, writer: Writer, draft: WorkflowDraft, where: Place | None = None
    ) -> Workflow:
        """Write a new workflow, with its mini-prompts.

        Args:
            writer: its owner.
            draft: what to write.
            where: the folder that it goes into.

        Raises:
            ToolFailed: something cannot be taken, or the writer may not publish.
        """
        draft = checks.workflow(draft)
        vectors = await self._writing.vectors(workflow_text(draft))
        async with self._writing.change(writer, vectors) as change:
            id = await flows.add(change, draft)
            if where is not None:
                await place(change.connection, writer.person, _WORKFLOW, id, where)
            return await _workflow(change, id)

    async def edit_workflow(
        self,
        writer: Writer,
        id_or_key: str,
        version: int,
        changes: Mapping[str, Any],
        removed: Collection[str] | None = None,
    ) -> Workflow:
        """Write new values of a workflow; if none is new, nothing is written.

        Args:
            writer: its owner.
            id_or_key: which.
            version: the one that the writer has read.
            changes: fields of ``WorkflowDraft``, and their values.
            removed: the stages that are to go, where those that are left out stay; None where
                the stages given are all there are to be.

        Raises:
            ToolFailed: it is not there, not the writer's, or not at that version any more;
                something cannot be taken, or the writer may not publish.
        """
        checked = checks.workflow(replace(WorkflowDraft(name="-"), **changes))
        values = {name: getattr(checked, name) for name in changes}
        async with self._writing.change(writer) as change:
            row = await change.own(_WORKFLOW, id_or_key, version)
            await flows.edit(change, row, values, removed)
            return await _workflow(change, row.id)

    async def delete_workflow(self, writer: Writer, id_or_key: str, version: int) -> datetime:
        """Put a workflow into its owner's bin, and the mini-prompts that only it uses.

        Args:
            writer: its owner.
            id_or_key: which.
            version: the one that the writer has read.

        Returns:
            When that was; ``bin.py`` has what comes after.

        Raises:
            ToolFailed: it is not there, not the writer's, or not at that version any more.
        """
        async with self._writing.change(writer) as change:
            await flows.remove(change, await change.own(_WORKFLOW, id_or_key, version))
            await change.finish()
            return change.now

    async def put_workflow(self, writer: Writer, draft: WorkflowDraft) -> PutOutcome:
        """Write a workflow by its key, new or as it is there; raises as :meth:`add_workflow`."""
        draft = checks.workflow(draft)
        async with self._writing.change(writer) as change:
            put = await flows.put(change, draft)
            await change.finish()
            return put

    async def erase(self, person: str) -> None:
        """Take somebody out who deleted their account; what others use stays, without a name."""
        async with self._writing.change(Writer(person, may_publish=True)) as change:
            await erasure.erase(change)

    async def sweep(self) -> int:
        """Delete the bytes of files that no card has any more; how many files."""
        return await self._writing.sweep()

    # Writing skill cards and mini-prompts

    async def add_skill(
        self, writer: Writer, draft: SkillDraft, where: Place | None = None
    ) -> Skill:
        """Write a new skill card, with its files; as :meth:`add_workflow`.

        Raises:
            OSError: the object store cannot be written.
        """
        draft = checks.skill(draft)
        vectors = await self._writing.vectors(skill_text(draft))
        async with self._writing.change(writer, vectors, draft.attachments) as change:
            id = await skills.add(change, draft)
            if where is not None:
                await place(change.connection, writer.person, _SKILL, id, where)
            return await _skill(change, id)

    async def edit_skill(
        self, writer: Writer, id_or_key: str, version: int, changes: Mapping[str, Any]
    ) -> Skill:
        """Write new values of a skill card; as :meth:`edit_workflow`.

        Raises:
            OSError: the object store cannot be written.
        """
        checked = checks.skill(replace(SkillDraft(name="-", content="-"), **changes))
        values = {name: getattr(checked, name) for name in changes}
        async with self._writing.change(writer, None, checked.attachments) as change:
            row = await change.own(_SKILL, id_or_key, version)
            await skills.edit(change, row, values)
            return await _skill(change, row.id)

    async def delete_skill(self, writer: Writer, id_or_key: str, version: int) -> None:
        """Delete a skill card; as :meth:`delete_workflow`."""
        async with self._writing.change(writer) as change:
            await skills.remove(change, await change.own(_SKILL, id_or_key, version))
            await change.finish()

    async def put_skill(self, writer: Writer, draft: SkillDraft) -> PutOutcome:
        """Write a skill card by its key, new or as it is there; raises as :meth:`add_skill`."""
        draft = checks.skill(draft)
        async with self._writing.change(writer, None, draft.attachments) as change:
            put = await skills.put(change, draft)
            await change.finish()
            return put

    async def put_prompt(self, writer: Writer, draft: PromptDraft) -> PutOutcome:
        """Write a mini-prompt that stands alone, by its key.

        The portal's own is PUBLIC; a person's is so while a published workflow of theirs uses it.
        """
        draft = checks.prompt(draft)
        async with self._writing.change(writer) as change:
            put = await mini_prompts.put(change, draft)
            await change.finish()
            return put


async def _workflow(change: Change, id: str) -> Workflow:
    """Finish a change, and read the workflow as its writer sees it now."""
    await change.finish()
    (workflow,) = await search_texts.written_workflows(change, [id])
    return workflow


async def _skill(change: Change, id: str) -> Skill:
    await change.finish()
    (skill,) = await search_texts.written_skills(change, [id])
    return skill
