"""Builds everything that the plugin offers, for ``plugin.py``; imported late."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gateway.contract import Host, Offer, Tier, rebuildable
from plugins.codegraph.api import routes
from plugins.codegraph.branches.branches import Branches
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.health.reports import HealthReports
from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.scan import Limits
from plugins.codegraph.jobs import RepositoryJobs
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.opinions.parts import OpinionParts
from plugins.codegraph.repositories.build import IndexBuilder
from plugins.codegraph.repositories.declarations import declare
from plugins.codegraph.repositories.index_loop import IndexLoop
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.leases import Leases
from plugins.codegraph.repositories.purge import Purgeable, PurgeableFiles, PurgeableObjects, Purger
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.scip.merge import ScipMerge
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.tools import refresh
from plugins.codegraph.tools.parts import ToolParts
from plugins.codegraph.tools.refresh import IndexRequests
from plugins.codegraph.views import views
from plugins.codegraph.webhooks import PushWebhook
from plugins.codegraph.workspaces.personal_data import WorkspacePersonalData

MIGRATIONS = Path(__file__).with_name("migrations")
INSTRUCTIONS = (
    "Repositories of code, indexed as a graph: before you change a function, ask get_callers or "
    "analyze_impact what depends on it; find code by name with search_code and by purpose with "
    "semantic_search; get_blueprint says what the system does for whom; send uncommitted work with "
    "sync_local_diff, so that answers include it."
)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class CoreParts:
    """The parts that need no running portal, so that commands can use them too.

    Attributes:
        repositories: the registry.
        leases: the leases on repositories.
        store: the graphs.
        indexer: makes the graphs.
        indexes: connects indexer and store to repositories.
        builder: makes the index of a repository.
        copies: the directory of working copies.
        scip_merge: runs the SCIP indexers.
        health: makes and keeps health reports.
        justifier: says why the code exists.
        opinions: asks models and members' agents why it does.
    """

    repositories: Repositories
    leases: Leases
    store: GraphStore
    indexer: Indexer
    indexes: Indexes
    builder: IndexBuilder
    copies: Path
    scip_merge: ScipMerge
    health: HealthReports
    justifier: Justifier
    opinions: OpinionParts

    @classmethod
    def of(cls, config: CodegraphConfig, host: Host) -> CoreParts:
        """Build the parts on a portal's services, or on those of a command."""
        store = GraphStore(host.database)
        limits = Limits(file=int(config.largest_file), files=config.most_files)
        indexer = Indexer(store, host.data_dir / "indexing", limits)
        indexes = Indexes(indexer, store, host.scrub, host.log)
        leases = Leases(host.database, now, host.data_dir / "holders")
        copies = host.data_dir / "checkouts"
        builder = IndexBuilder(config, copies, host.secret, leases, indexes)
        default = config.default_tier or (Tier.OPEN if host.local else Tier.MEMBERS)
        repositories = Repositories(host.database, now, default, host.rows)
        scip_merge = ScipMerge(store)
        health = HealthReports(host.database, store, now)
        justifier, rules = Justifier(host.database, store), config.justification
        return cls(
            *(repositories, leases, store, indexer, indexes, builder, copies, scip_merge, health),
            justifier=justifier,
            opinions=OpinionParts.of(rules, host, repositories, (store, justifier), now),
        )

    def kept(self) -> Mapping[str, Purgeable]:
        """Everything that stores data of repositories, as far as a command can purge it."""
        return {
            "rows": self.store,
            "health": self.health,
            "index files": self.indexes,
            "files": PurgeableFiles(self.copies),
        }


@asynccontextmanager
async def opened(config: CodegraphConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve the graphs for the duration of the block.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    await host.database.migrate(MIGRATIONS)
    rebuildable(host.data_dir)
    base = CoreParts.of(config, host)
    problems = await declare(base.repositories, config)
    hours = config.workspace_hours
    graphs = base.repositories, base.store, base.indexes
    parts = ToolParts.of(host, *graphs, hours, now, base.builder)
    jobs = _jobs(config, host, base, parts)
    # Most portals serve no code, so without repositories their clients are spared these tools.
    # A client that ignores list_changed must reconnect after the first repository is added;
    # `add` says so.
    requests = IndexRequests(base.repositories, base.leases, host.jobs, now)
    tools = [*parts.tools(), *refresh.tools(parts.access, requests)]
    pushes = requests, parts.access.branches
    webhook = PushWebhook.of(config, host.secret, host.cache, base.repositories, *pushes)
    useful = Offer(tools=tools, views=views(), instructions=INSTRUCTIONS)
    shown = useful if await base.repositories.all() else Offer()
    first = None if shown is useful else lambda: host.reoffer(useful)
    loop = IndexLoop(config, host, jobs, now, problems, first)
    try:
        async with loop.running():
            yield replace(
                shown,
                routes=routes(config, base.repositories, base.leases),
                jobs=(*jobs.declared(), *base.opinions.jobs(), *parts.jobs()),
                work=base.opinions.work(),
                health=loop.health,
                webhooks=webhook.declared(),
                rows=(base.repositories.row_kind(),),
                personal=WorkspacePersonalData(host.database, parts.workspaces).declared(),
            )
    finally:
        await base.indexer.close()


def _jobs(config: CodegraphConfig, host: Host, base: CoreParts, parts: ToolParts) -> RepositoryJobs:
    kept = {
        **base.kept(),
        "vectors": parts.embedder,
        "workspaces": parts.workspaces,
        "branches": Branches(host.database),
        "objects": PurgeableObjects(host.objects),
    }
    if base.opinions.agents is not None:
        kept["work"] = base.opinions.agents
    has_vectors = config.embeddings and host.embedder is not None
    return RepositoryJobs(
        host=host,
        repositories=base.repositories,
        leases=base.leases,
        builder=base.builder,
        purger=Purger(host.database, base.leases, kept, now),
        embed=parts.embedder.embed if has_vectors else None,
        sweeps=(parts.embedder.sweep, base.store.sweep, parts.workspaces.sweep),
        check=base.scip_merge.check if config.scip == "auto" else None,
        health=base.health,
        justifier=base.justifier,
        opinions=base.opinions if base.opinions.asks else None,
    )
