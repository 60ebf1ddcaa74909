"""Requests for a person's yes, as the portal holds them together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from auth.sealer import Sealer
from gateway.approvals.deciders import Deciders
from gateway.catalog.approval_rule import CONFIRMED, ApprovalRule
from gateway.catalog.catalog import Catalog
from gateway.config.tiers_file import TierRulesFile
from gateway.identity.authentication import Authentication
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background, every

if TYPE_CHECKING:
    import asyncio

    from gateway.approvals.request import ApprovalRequest
    from gateway.approvals.store import ApprovalStore
    from gateway.approvals.upkeep import Upkeep
    from gateway.contract import Database

Tell = Callable[["ApprovalRequest", str], None]
UPKEEP_INTERVAL_SECONDS, FIRST_UPKEEP_SECONDS = 3600.0, 30.0
"""Seconds between two looks for what has expired, and before the first."""

log = get_logger(__name__)


class Approvals:
    """The parts of it; what needs the database is loaded when a tool first waits.

    Args:
        catalog: says which tools wait, and for whom.
        authentication: says who people are, and judges them.
        tiers: says who is an admin.
        database: where requests are kept.

    Attributes:
        deciders: says who may decide.
        people: who has signed in, for what the pages and requests say of them.
        sealer: makes the digests of arguments.
        tell: told of each request that begins to wait, and the address of its page.
    """

    def __init__(
        self,
        catalog: Catalog,
        authentication: Authentication,
        tiers: TierRulesFile,
        database: Database,
    ) -> None:
        self._catalog = catalog
        self._database = database
        self.deciders = Deciders(
            authentication.resolver, lambda: catalog.approvals, lambda: tiers.access
        )
        self.people = authentication.stores.people
        self.sealer = Sealer(authentication.key, "approval")
        self.tell: Tell = lambda request, page: None
        self._store: ApprovalStore | None = None
        self._upkeep: Upkeep | None = None
        self._voiding: set[asyncio.Task[None]] = set()

    @property
    def rules(self) -> Mapping[str, ApprovalRule]:
        """The rules in force, by the keys of the tools that wait; mostly there are none."""
        return self._catalog.approvals

    def asks_first(self, key: str) -> bool:
        """Whether each run of a tool, by its key, waits for somebody's yes."""
        return key in self.rules

    @property
    def store(self) -> ApprovalStore:
        """The requests."""
        if self._store is None:
            from gateway.approvals.store import ApprovalStore

            self._store = ApprovalStore(self._database)
        return self._store

    def rules_changed(self) -> None:
        """Void what was asked under other rules; returns at once."""
        import asyncio

        task = asyncio.get_running_loop().create_task(self._void())
        self._voiding.add(task)
        task.add_done_callback(self._voiding.discard)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """End and forget requests in the background for as long as the block lasts."""
        work = every(UPKEEP_INTERVAL_SECONDS, self._keep_up, _failed, first_s=FIRST_UPKEEP_SECONDS)
        async with background(work):
            yield
        for task in self._voiding:
            task.cancel()

    async def _void(self) -> None:
        # A request of another version never runs (BoundCall.rule); this says so where it is shown.
        try:
            lasting = self.deciders.version(CONFIRMED)
            await self._kept_up.void(self.deciders.versions(), self.store.clock(), lasting)
        except Exception as error:
            _failed(error)

    async def _keep_up(self) -> None:
        now = self.store.clock()
        await self._kept_up.expire(now)
        await self._kept_up.forget(now)
        await self._void()

    @property
    def _kept_up(self) -> Upkeep:
        if self._upkeep is None:
            from gateway.approvals.upkeep import Upkeep

            self._upkeep = Upkeep(self._database)
        return self._upkeep


def _failed(error: Exception) -> None:
    log.warning("approvals_not_kept_up", reason=str(error))
