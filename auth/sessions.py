"""Browser sessions: who is signed in to the portal's own pages, and never to ``/mcp``.

The cookie's value is 256 random bits, of which only the digest is stored. Each sign-in makes a new
value and never takes one from the browser, so that nobody can plant a session (session fixation).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from auth.callers import Account
from auth.stores import Session, SessionStore, digest, utc_now

MAX_AGENT_LENGTH = 200
"""Characters of a User-Agent header that are stored."""


@dataclass(eq=False, repr=False)
class BrowserSessions:
    """Begins, finds and ends sessions.

    Attributes:
        store: stores them.
        lifetime: how long one lasts.
        clock: the time, in UTC; replaced in tests.
    """

    store: SessionStore
    lifetime: timedelta
    clock: Callable[[], datetime] = utc_now

    async def begin(self, person: str, agent: str = "", account: Account | None = None) -> str:
        """Begin a session of a person who has just proved who they are.

        Args:
            person: their id.
            agent: what the browser calls itself.
            account: what they have just proved, with the provider's session.

        Returns:
            The cookie's value: 43 URL-safe characters.

        Raises:
            NoSuchPerson: there is no such person.
        """
        value = secrets.token_urlsafe(32)
        now = self.clock()
        await self.store.add(
            Session(
                digest(value),
                person,
                now,
                now + self.lifetime,
                agent[:MAX_AGENT_LENGTH],
                account.subject if account else None,
                account.sid if account else None,
            )
        )
        return value

    async def find(self, value: str) -> Session | None:
        """The session of a cookie's value, where it has not ended."""
        return await self.store.get(digest(value)) if value else None

    async def end(self, value: str) -> None:
        """End the session of a cookie's value; one that is not known is no error."""
        await self.store.end(digest(value))
