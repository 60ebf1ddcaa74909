"""Whether the database answers, for whoever asks whether the portal can do its work."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.contract.services import Database

CHECK_INTERVAL_SECONDS = 1.0
"""Seconds between two questions, however many ask for the portal's health."""
TIMEOUT_SECONDS = 2.0
"""Seconds that the database has to answer."""
WAITS_FOR_DATABASE = "It waits for the database, which does not answer."
"""What health says of a plugin that is well but for that."""
_AWAY = "The database has not answered for"


class DatabaseWatch:
    """Asks the database for nothing, and remembers since when it does not answer.

    Args:
        database: the portal's own.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._last_check = -math.inf
        self._away_since: float | None = None
        self._asking: asyncio.Task[None] | None = None

    async def there(self, anew: bool = False) -> bool:
        """Whether the database answers; those who ask at once share one answer.

        Args:
            anew: whether to ask it now, also where it has just answered.
        """
        is_due = anew or self._clock() - self._last_check >= CHECK_INTERVAL_SECONDS
        if self._asking is None and is_due:
            self._last_check = self._clock()
            self._asking = asyncio.create_task(self._ask())
            self._asking.add_done_callback(self._answered)
        if self._asking is not None:
            # A dead connection may not even let itself be given up: nobody waits for that.
            await asyncio.wait({self._asking}, timeout=TIMEOUT_SECONDS)
        if self._asking is not None:
            self._missed()
        return self._away_since is None

    def notices(self) -> Iterator[str]:
        """Notices for admins, from the first check without an answer on."""
        if self._away_since is not None:
            yield (
                f"{_AWAY} {self.away_seconds:.0f} s. Check that it is up "
                "and can be reached. What is open and needs no database is served; nobody can "
                "sign in or use a token."
            )

    @property
    def away_seconds(self) -> float:
        """For how long it has not answered; 0 while it does."""
        return 0.0 if self._away_since is None else self._clock() - self._away_since

    async def _ask(self) -> None:
        from sqlalchemy import text

        async with asyncio.timeout(TIMEOUT_SECONDS), self._database.engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    def _answered(self, asking: asyncio.Task[None]) -> None:
        self._asking = None
        if not asking.cancelled() and asking.exception() is None:
            self._away_since = None
        else:
            self._missed()

    def _missed(self) -> None:
        if self._away_since is None:
            self._away_since = self._last_check


def tells_of_database(notice: str) -> bool:
    """Whether a notice says no more than that the database is away."""
    return notice.startswith(_AWAY)
