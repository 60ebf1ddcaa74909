"""``sync_knowledge``: brings the sources on GitHub up to date now, for whoever cannot wait.

The work is a job (:mod:`plugins.knowledge.jobs`), of which one runs at a time: who asks meanwhile
waits for the same one. A client that follows tasks is handed it; others wait a little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from gateway.contract import Caller, Jobs, Tier, Tool, ToolFailed, ToolTask
from gateway.toolkit.job_waiting import settled, under_way
from plugins.knowledge.jobs import SYNC_ALL

_STORES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


class Synced(BaseModel):
    """How far the knowledge base is with its sources."""

    state: Literal["done", "running"]
    documents: int | None = Field(None, description="How many documents are served now.")
    behind: int = Field(0, description="How many sources could not be brought up to date.")
    errors: list[str] = Field(default_factory=list, description="Why not; admins alone see it.")
    progress: str | None = Field(None, description="What is being done just now.")
    note: str | None = None


def sync_tools(jobs: Jobs) -> list[Tool]:
    """The tool, for a knowledge base that has sources on GitHub.

    Args:
        jobs: the plugin's jobs.
    """

    async def start(args: Any, caller: Caller) -> str:
        return await under_way(jobs, SYNC_ALL) or await jobs.enqueue(SYNC_ALL, {})

    async def answer(result: Mapping[str, Any], caller: Caller) -> Synced:
        errors = list(result["errors"])
        told = errors if caller.admin else []
        behind = len(errors)
        return Synced(state="done", documents=result["documents"], behind=behind, errors=told)

    async def sync_knowledge(*, caller: Caller) -> Synced:
        """Bring the knowledge base up to date with its sources on GitHub now. Call it where a page
        was changed a moment ago and is not found yet; by itself it follows within minutes."""
        status = await settled(jobs, await start(None, caller))
        if status is None or status.state in ("failed", "cancelled"):
            raise ToolFailed("not_synced", _FAILED)
        if status.state == "done":
            return await answer(status.result, caller)
        return Synced(state="running", progress=status.message or None, note=_GOES_ON)

    tool = Tool.of(
        sync_knowledge,
        title="Sync the knowledge base",
        annotations=_STORES,
        tier=Tier.MEMBERS,
        floor=Tier.MEMBERS,
        task=ToolTask(SYNC_ALL, start, answer, cancellable=False),
    )
    return [tool]


_GOES_ON = "It goes on by itself. Call sync_knowledge again in a minute to see how far it is."
_FAILED = "The sync did not end well. Try again in a minute; what was served before still is."
