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
from plugins.workflows.backend_errors import BackendErrors
from plugins.workflows.bin import Bin
from plugins.workflows.call_guard import CallGuard
from plugins.workflows.config import WorkflowsConfig
from plugins.workflows.files.starter import import_starter
from plugins.workflows.history import History
from plugins.workflows.maintenance import Maintenance
from plugins.workflows.notifications import Notifications
from plugins.workflows.personal_data import PersonalRecords
from plugins.workflows.plans.plans import Plans
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.embedding import make_embed
from plugins.workflows.search.search import Search
from plugins.workflows.shared import SharedWorkflows
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.library import Library
from plugins.workflows.store.links import Links
from plugins.workflows.store.notes import Notes
from plugins.workflows.store.ratings import Ratings
from plugins.workflows.store.runs import Runs
from plugins.workflows.store.workflow_prompts import PromptWorkflows
from plugins.workflows.tier_filter import TierFilter
from plugins.workflows.tools import (
    bin,
    duplicates,
    edits,
    execution,
    folders,
    library,
    links,
    previews,
    ratings,
    run_details,
    runs,
    search,
    versions,
)
from plugins.workflows.views import views

MIGRATIONS = Path(__file__).with_name("migrations")
INSTRUCTIONS = (
    "Before work that takes several steps, look for a workflow with get_available_workflows, "
    "select it with select_workflow, and do what get_next_step says, step by step."
)


@dataclass(frozen=True, slots=True)
class Parts:
    """The services that the tools share."""

    playbook: Playbook
    runs: Runs
    plans: Plans
    search: Search
    notifications: Notifications
    bin: Bin
    ratings: Ratings
    links: Links

    @classmethod
    def of(cls, config: WorkflowsConfig, host: Host) -> Parts:
        """The services of a portal, put together."""
        embed = make_embed(host.embedder, host.log)
        playbook = Playbook(host.database, host.objects, embed, now)
        runs_store = Runs(host.database, now, config.keep_runs)
        finder = Search(host.database, playbook, host.embedder, host.log)
        plans = Plans(playbook, runs_store)
        kept = Bin(host.database, playbook, config.keep_deleted)
        return cls(
            playbook,
            runs_store,
            plans,
            finder,
            Notifications(host),
            kept,
            Ratings(host.database, now),
            Links(host.database, now),
        )


@asynccontextmanager
async def open_offer(config: WorkflowsConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve the playbook for as long as the block lasts."""
    await host.database.migrate(MIGRATIONS)
    parts = Parts.of(config, host)
    # Without vectors, so that it takes no time; they follow with those that others lack.
    plain = Playbook(host.database, host.objects, make_embed(None, host.log), now)
    take_in = partial(import_starter, plain, Notes(host.database), config.starter)
    maintenance = Maintenance(
        host,
        take_in,
        parts.search.backfill,
        parts.notifications,
        parts.playbook.sweep,
        lambda: parts.bin.purge(now()),
        parts.links.sweep,
    )
    listed = prompts.family(PromptWorkflows(host.database), parts.plans)
    tiers = TierFilter(host.database, host.rows)
    guard = CallGuard(tiers, BackendErrors(host))
    pages = resources.templates(parts.playbook, parts.plans)
    try:
        async with maintenance.running():
            yield Offer(
                tools=guard.tools(list(_tools(parts, host))),
                templates=guard.templates(pages),
                prompt_families=(guard.family(listed),),
                rows=(tiers.row_kind(),),
                views=views(),
                health=maintenance.health,
                personal=PersonalRecords(
                    host.database, parts.playbook, parts.runs, parts.ratings, parts.links
                ).declared(),
                instructions=INSTRUCTIONS,
            )
    finally:
        parts.notifications.close()


def _tools(parts: Parts, host: Host) -> Iterator[Tool]:
    """The tools, in the order in which a model should consider them."""
    lists = FolderLists(host.database)
    history = History(host.database, host.objects, parts.playbook)
    yield from search.tools(parts.search)
    yield from execution.tools(parts.playbook, parts.plans, parts.runs, parts.ratings, history)
    yield from runs.tools(parts.plans, parts.runs)
    yield run_details.tool(parts.plans, parts.runs)
    yield from edits.tools(
        parts.playbook, lists, host.exchange, parts.notifications, parts.bin.keep
    )
    yield from previews.tools(parts.playbook, host.exchange)
    yield duplicates.tool(parts.playbook, host.exchange, parts.notifications)
    yield from bin.tools(parts.bin, host.exchange, parts.notifications)
    yield from versions.tools(history, host.exchange, parts.notifications)
    yield from folders.tools(lists, FolderEdits(host.database, now), host.exchange)
    yield ratings.tool(parts.ratings)
    shared = SharedWorkflows(
        parts.playbook, parts.links, host.people, host.rows, host.exchange, now
    )
    yield from links.tools(shared, host.exchange)
    yield from library.tools(Library(host.database, now), parts.notifications.lists_changed)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)
