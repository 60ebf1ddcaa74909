"""The tools for deleted workflows: listed, restored, erased for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Exchange, Tool
from plugins.workflows.bin import Bin
from plugins.workflows.notifications import Notifications
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.base import (
    EDITS,
    MAX_PAGE_SIZE,
    READS,
    SETS,
    Wire,
    clamp,
    personal_tool,
)
from plugins.workflows.tools.callers import signed_in, writer
from plugins.workflows.tools.results.bin import BinContents, BinEntry, Erased
from plugins.workflows.tools.results.edits import Written

Binned = Annotated[
    Name, Field(description="The id of a workflow in your bin, or the key that it had.")
]


def tools(kept: Bin, exchange: Callable[[], Exchange], notifications: Notifications) -> list[Tool]:
    """The tools, the one that reads first.

    Args:
        kept: the bins.
        exchange: gives the call that is running.
        notifications: tells clients what is there again.
    """
    return [_list_tool(kept), _restore_tool(kept, exchange, notifications), _erase_tool(kept)]


def _list_tool(kept: Bin) -> Tool:
    async def list_bin(limit: int = 20, *, caller: Caller) -> Wire:
        """List the workflows that you deleted, the latest first, and until when each is kept.
        `restore_workflow` brings one back.

        Args:
            limit: How many at most, from 1 to 100.
        """
        most = clamp(limit, MAX_PAGE_SIZE)
        found = await kept.listed(signed_in(caller), most + 1)
        told = [BinEntry.of(each, kept.keep) for each in found[:most]]
        return BinContents(workflows=told, has_more=len(found) > most).wire()

    return personal_tool(list_bin, "Look into your bin", BinContents, READS)


def _restore_tool(
    kept: Bin, exchange: Callable[[], Exchange], notifications: Notifications
) -> Tool:
    async def restore_workflow(id: Binned, *, caller: Caller) -> Wire:
        """Take a workflow out of your bin, with its stages, versions, folders and runs. It is
        PRIVATE then, whatever it was: `publish` shows it again."""
        back = await kept.restore(writer(caller, exchange()), id)
        notifications.lists_changed()
        warnings = []
        if back.missing:
            warnings.append(f"Not there any more, and left out: {back.missing} of its steps.")
        return Written.of(back.workflow, "restored", warnings=warnings).wire()

    return personal_tool(restore_workflow, "Restore a deleted workflow", Written, SETS)


def _erase_tool(kept: Bin) -> Tool:
    async def erase_workflow(id: Binned, *, caller: Caller) -> Wire:
        """Erase a workflow in your bin for good, with all of its versions, before its time is up.
        There is no way back. Ask the person first."""
        gone = await kept.erase(signed_in(caller), id)
        return Erased(id=gone.id, name=gone.name).wire()

    return personal_tool(erase_workflow, "Erase a deleted workflow", Erased, EDITS)
