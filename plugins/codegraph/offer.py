"""What the plugin offers, gathered for ``plugin.py``; imported late."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gateway.contract import Host, Offer, Tier
from plugins.codegraph.api import routes
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.indexing.index import Indexer
from plugins.codegraph.indexing.scan import Limits
from plugins.codegraph.repositories.declaring import declare
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.jobs import RepositoryJobs
from plugins.codegraph.repositories.keeper import Keeper
from plugins.codegraph.repositories.making import Making
from plugins.codegraph.repositories.purging import Kept, KeptFiles, KeptObjects, Purger
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.work import Work
from plugins.codegraph.scip.checking import Checking
from plugins.codegraph.shadow.personal import Personal
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.tools.offered import Parts

MIGRATIONS = Path(__file__).with_name("migrations")
INSTRUCTIONS = (
    "Repositories of code, indexed as a graph: before you change a function, ask get_callers or "
    "analyze_impact what depends on it; find code by name with search_code and by purpose with "
    "semantic_search; send uncommitted work with sync_local_diff, so that answers include it."
)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Repositing:
    """The parts that need no portal: what a command works with too.

    Attributes:
        repositories: the registry.
        work: who works on what.
        store: the graphs.
        indexer: makes them.
        indexes: describes them.
        making: makes the index of a repository.
        copies: where working copies lie.
        checking: runs the SCIP indexers.
    """

    repositories: Repositories
    work: Work
    store: GraphStore
    indexer: Indexer
    indexes: Indexes
    making: Making
    copies: Path
    checking: Checking

    @classmethod
    def of(cls, config: CodegraphConfig, host: Host) -> Repositing:
        """The parts over a portal's services, or over those of a command."""
        store = GraphStore(host.database)
        limits = Limits(file=int(config.largest_file), files=config.most_files)
        indexer = Indexer(store, host.data_dir / "indexing", limits)
        indexes = Indexes(indexer, store, host.scrub, host.log)
        work = Work(host.database, now, host.data_dir / "holders")
        copies = host.data_dir / "checkouts"
        making = Making(config, copies, host.secret, work, indexes)
        default = config.default_tier or (Tier.OPEN if host.local else Tier.MEMBERS)
        repositories = Repositories(host.database, now, default, host.rows)
        checking = Checking(store)
        return cls(repositories, work, store, indexer, indexes, making, copies, checking)

    def kept(self) -> Mapping[str, Kept]:
        """What keeps things of repositories, as far as a command may purge it."""
        return {"rows": self.store, "index files": self.indexes, "files": KeptFiles(self.copies)}


@asynccontextmanager
async def opened(config: CodegraphConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve the graphs for as long as the block lasts.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    await host.database.migrate(MIGRATIONS)
    base = Repositing.of(config, host)
    problems = await declare(base.repositories, config)
    parts = Parts.of(host, base.repositories, base.store, base.indexes, config.workspace_hours)
    jobs = _jobs(config, host, base, parts)
    # Most portals serve no code, and every client of theirs would carry these tools in vain; who
    # connected before the first repository, with a client that is deaf to list_changed, connects
    # once more, and `add` says so.
    useful = Offer(tools=parts.tools(), instructions=INSTRUCTIONS)
    shown = useful if await base.repositories.all() else Offer()
    first = None if shown is useful else lambda: host.reoffer(useful)
    keeper = Keeper(config, host, jobs, now, problems, first)
    try:
        async with keeper.running():
            yield replace(
                shown,
                routes=routes(config, base.repositories, base.work),
                jobs=jobs.declared(),
                health=keeper.health,
                rows=(base.repositories.row_kind(),),
                personal=Personal(host.database, parts.workspaces).declared(),
            )
    finally:
        await base.indexer.close()


def _jobs(config: CodegraphConfig, host: Host, base: Repositing, parts: Parts) -> RepositoryJobs:
    kept = {
        **base.kept(),
        "vectors": parts.embedding,
        "workspaces": parts.workspaces,
        "objects": KeptObjects(host.objects),
    }
    has_vectors = config.embeddings and host.embedder is not None
    return RepositoryJobs(
        host=host,
        repositories=base.repositories,
        work=base.work,
        making=base.making,
        purger=Purger(host.database, base.work, kept, now),
        embed=parts.embedding.embed if has_vectors else None,
        sweeps=(base.store.sweep, parts.workspaces.sweep),
        check=base.checking.check if config.scip == "auto" else None,
    )
