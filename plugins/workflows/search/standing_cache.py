"""How all workflows stand, as searches know it: counted anew now and then, and not for each."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from gateway.contract import Database
from plugins.workflows.store.ratings import Standing, all_standings

REFRESH_INTERVAL_S = 60.0
"""How old what a search knows may be: counting takes longer than a search does."""


class StandingCache:
    """The standings of all workflows that anybody has rated or walked.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: float | None = None
        self._known: Mapping[str, Standing] = {}

    async def current(self) -> Mapping[str, Standing]:
        """The standings, by workflow; while they are counted, others have the old ones."""
        now = monotonic()
        before = self._counted
        if before is None or now - before >= REFRESH_INTERVAL_S:
            self._counted = now
            try:
                self._known = await all_standings(self._database)
            except BaseException:
                self._counted = before
                raise
        return self._known
