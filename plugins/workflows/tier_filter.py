"""Which published workflows a caller's tier does not see, by the lines of ``tiers.yaml``.

Everything that the plugin offers runs inside :meth:`TierFilter.of` its caller, and every query
of the playbook carries the condition (``store/visibility.py``). Imported late, for SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import select

from gateway.contract import Caller, Database, RowKind, Rows
from plugins.workflows.model import PORTAL, Visibility
from plugins.workflows.store.tables import workflows
from plugins.workflows.store.visibility import hide_workflows

Run = Callable[..., Awaitable[Any]]

_ROW = "workflow"
_PUBLISHED = select(workflows.c.id, workflows.c.key, workflows.c.owner).where(
    workflows.c.visibility == Visibility.PUBLIC, workflows.c.deleted.is_(None)
)


class TierFilter:
    """Hides a workflow from callers below the tier that a line of ``tiers.yaml`` gives it.

    A row of the portal's own is called by its key, one of a person's by its id. Its owner always
    sees it.

    Args:
        database: the plugin's database.
        rows: what ``tiers.yaml`` says.
    """

    def __init__(self, database: Database, rows: Rows) -> None:
        self._database, self._rows = database, rows
        self._names: list[str] = []

    def row_kind(self) -> RowKind:
        """What ``tiers.yaml`` calls a workflow."""
        summary = "a workflow, by its key if it is the portal's, else by its id"
        return RowKind(_ROW, summary, lambda: self._names)

    @asynccontextmanager
    async def of(self, caller: Caller) -> AsyncGenerator[None]:
        """Hide what the caller's tier does not see, for as long as the block lasts."""
        with hide_workflows(await self._withheld(caller)):
            yield

    async def _withheld(self, caller: Caller) -> tuple[str, ...]:
        if not self._rows.ruled:
            return ()
        async with self._database.read() as connection:
            found = (await connection.execute(_PUBLISHED)).all()
        names = {row.id: row.key if row.owner == PORTAL else row.id for row in found}
        self._names = sorted(names.values())
        return tuple(
            id
            for id, name in names.items()
            if not caller.tier.allows(self._rows.tier(f"{_ROW}:{name}"))
        )

    def applied(self, run: Run, place: int = -1) -> Run:
        """A function that sees as its caller does, who is its last argument or at a place."""

        async def applied(*given: Any) -> Any:
            async with self.of(given[place]):
                return await run(*given)

        return applied
