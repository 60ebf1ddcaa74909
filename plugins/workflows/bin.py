"""The bin: workflows that their owners have deleted, restored or erased for good.

A deleted workflow keeps its row, stages and versions (``store/change.py``), which every query of
the playbook leaves out. What is here is for its owner alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.contract import Database
from plugins.workflows.inputs import Writer
from plugins.workflows.model import FORMER, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store import binned
from plugins.workflows.store.binned import BinnedWorkflow
from plugins.workflows.store.search_texts import written_workflows


@dataclass(frozen=True, slots=True)
class Unbinned:
    """A restored workflow, and how many of its steps are not there any more."""

    workflow: Workflow
    missing: int


class Bin:
    """The bins of all people; each is read and changed for its own person only.

    Args:
        database: the plugin's database.
        playbook: whose workflows they are.
        keep: how long a deleted workflow is kept, at least.
    """

    def __init__(self, database: Database, playbook: Playbook, keep: timedelta) -> None:
        self._database, self._playbook = database, playbook
        self.keep = keep

    async def listed(self, person: str, limit: int) -> Sequence[BinnedWorkflow]:
        """What is in a person's bin, the one deleted last first.

        Args:
            person: whose.
            limit: how many at most.
        """
        async with self._database.read() as connection:
            return await binned.listed(connection, person, limit)

    async def restore(self, writer: Writer, ref: str) -> Unbinned:
        """Take a workflow out of the bin: PRIVATE, with its stages, versions, runs and folders.

        Args:
            writer: its owner.
            ref: its id, or the key that it had, if only one had it.

        Raises:
            ToolFailed: there is none in the writer's bin.
        """
        async with self._playbook.writing.change(writer) as change:
            row = await binned.own(change.connection, ref, writer.person)
            await binned.restore(change, row)
            await change.finish()
            (workflow,) = await written_workflows(change, [row.id])
            total = await binned.count_items(change.connection, row.id)
        return Unbinned(workflow, total - sum(len(each.items) for each in workflow.stages))

    async def erase(self, person: str, ref: str) -> BinnedWorkflow:
        """Erase a workflow in the bin for good, with all of its versions.

        Args:
            person: its owner.
            ref: as in :meth:`restore`.

        Returns:
            What it was.

        Raises:
            ToolFailed: there is none in the person's bin.
        """
        async with self._playbook.writing.change(Writer(FORMER)) as change:
            row = await binned.own(change.connection, ref, person)
            await binned.erase(change, person, [row.id])
        return binned.described(row)

    async def purge(self, now: datetime) -> int:
        """Erase what was deleted longer ago than ``keep``; how many workflows.

        The portal's own stay: what an operator imports again is the same workflow.
        """
        async with self._database.read() as connection:
            old = await binned.expired(connection, now - self.keep)
        for owner, ids in old.items():
            async with self._playbook.writing.change(Writer(FORMER)) as change:
                # Somebody may have restored one meanwhile.
                still = await binned.expired(change.connection, now - self.keep, owner)
                ids = still.get(owner, [])
                if ids:
                    await binned.erase(change, owner, ids)
        return sum(map(len, old.values()))
