"""What the plugin offers, gathered for ``plugin.py``; imported late."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gateway.contract import Host, Offer, Tool
from plugins.workflows import prompts, resources
from plugins.workflows.config import WorkflowsConfig
from plugins.workflows.files.starter import take_in_starter
from plugins.workflows.history import History
from plugins.workflows.notifications import Notifications
from plugins.workflows.outages import Outages
from plugins.workflows.personal import Personal
from plugins.workflows.plans.plans import Plans
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.embedding import embed_with
from plugins.workflows.search.search import Search
from plugins.workflows.sight import Sight
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.library import Library
from plugins.workflows.store.notes import Notes
from plugins.workflows.store.runs import Runs
from plugins.workflows.store.workflow_prompts import Shortlist
from plugins.workflows.tools import finding, folders, keeping, runs, versions, walking, writing
from plugins.workflows.upkeep import Upkeep

MIGRATIONS = Path(__file__).with_name("migrations")
INSTRUCTIONS = (
    "Before work that takes several steps, look for a workflow with get_available_workflows, "
    "select it with select_workflow, and do what get_next_step says, step by step."
)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the tools stand on."""

    playbook: Playbook
    runs: Runs
    plans: Plans
    search: Search
    notifications: Notifications

    @classmethod
    def of(cls, config: WorkflowsConfig, host: Host) -> Parts:
        """The parts over a portal's services."""
        embed = embed_with(host.embedder, host.log)
        playbook = Playbook(host.database, host.objects, embed, now)
        kept = Runs(host.database, now, config.keep_runs)
        search = Search(host.database, playbook, host.embedder, host.log)
        return cls(playbook, kept, Plans(playbook, kept), search, Notifications(host))


@asynccontextmanager
async def opened(config: WorkflowsConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve the playbook for as long as the block lasts.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    await host.database.migrate(MIGRATIONS)
    parts = Parts.of(config, host)
    # Without vectors, so that it takes no time; they follow with those that others lack.
    plain = Playbook(host.database, host.objects, embed_with(None, host.log), now)
    take_in = partial(take_in_starter, plain, Notes(host.database), config.starter)
    upkeep = Upkeep(host, take_in, parts.search.backfill, parts.notifications, parts.playbook.sweep)
    outages = Outages(host)
    listed = prompts.family(Shortlist(host.database), parts.plans)
    sight = Sight(host.database, host.rows)
    pages = resources.templates(parts.playbook, parts.plans)
    try:
        async with upkeep.running():
            yield Offer(
                tools=outages.tools(sight.tools(list(_tools(parts, host)))),
                templates=outages.templates(sight.templates(pages)),
                prompt_families=(outages.family(sight.family(listed)),),
                rows=(sight.row_kind(),),
                health=upkeep.health,
                personal=Personal(host.database, parts.playbook, parts.runs).declared(),
                instructions=INSTRUCTIONS,
            )
    finally:
        parts.notifications.close()


def _tools(parts: Parts, host: Host) -> Iterator[Tool]:
    """The tools, in the order in which a model should consider them."""
    lists, edits = FolderLists(host.database), FolderEdits(host.database, now)
    yield from finding.tools(parts.search)
    yield from walking.tools(parts.playbook, parts.plans, parts.runs)
    yield from runs.tools(parts.plans, parts.runs)
    yield from writing.tools(parts.playbook, lists, host.exchange, parts.notifications)
    history = History(host.database, host.objects, parts.playbook)
    yield from versions.tools(history, host.exchange, parts.notifications)
    yield from folders.tools(lists, edits, host.exchange)
    yield from keeping.tools(Library(host.database, now), parts.notifications.listed)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)
