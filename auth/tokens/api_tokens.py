"""API tokens, which people and operators make for programs to call with.

A token's text is ``porch_`` and 256 random bits. It is shown once and stored as its SHA-256
digest: so many bits need no slower hash, and the time of a look-up by digest reveals nothing.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from auth.callers import Identity
from auth.credentials import BadCredential
from auth.revocations import Revocations
from auth.stores import ApiToken, ApiTokenStore, People, digest, utc_now
from auth.tiers import Tier

PREFIX = "porch_"
"""The prefix of every API token, by which people and secret scanners recognise one."""
LAST_USE_INTERVAL = timedelta(minutes=5)
"""How often the time of a token's last use is written."""
MAX_UNWRITTEN_USES = 5_000
"""So many tokens' uses wait to be written; of more, the next use of each is."""
MAX_NAME_LENGTH = 60
"""Characters of a personal token's name."""

_TEXT = re.compile(r"porch_[A-Za-z0-9_-]{43}")
_OPERATOR = re.compile(r"[a-z0-9-]{1,40}")


class TooManyTokens(Exception):
    """The person has as many API tokens as they may have; the message says how many."""


class NameTaken(Exception):
    """An operator's token of that name is still good."""


@dataclass(eq=False, repr=False)
class ApiTokens:
    """Makes, revokes and recognises API tokens; a ``Verifier``.

    Attributes:
        store: stores them.
        people: looks up their owners.
        revocations: notified of each that is revoked.
        per_person: how many valid ones a person may have.
        clock: the time, in UTC; replaced in tests.
        failed: called with the error when the last use could not be written.
    """

    store: ApiTokenStore
    people: People
    revocations: Revocations
    per_person: int = 20
    clock: Callable[[], datetime] = utc_now
    failed: Callable[[Exception], None] = lambda _: None
    _uses: dict[str, datetime] = field(default_factory=dict, init=False)
    _writing: asyncio.Task[None] | None = field(default=None, init=False)

    async def create(
        self,
        person: str,
        name: str,
        *,
        ceiling: Tier,
        tools: Iterable[str] | None = None,
        expires: datetime,
    ) -> tuple[ApiToken, str]:
        """Make a personal token.

        Args:
            person: whose it will be.
            name: what they call it.
            ceiling: the highest tier that it may be used for; the person's own tier counts too.
            tools: the only tools that it may be used for, or None for all.
            expires: when it ends.

        Returns:
            The token, and its text, which is not known to anybody afterwards.

        Raises:
            TooManyTokens: the person has as many as they may have.
            ValueError: the name is empty, too long or not printable, or the end is past.
            NoSuchPerson: there is no such person.
        """
        name = name.strip()
        if not (0 < len(name) <= MAX_NAME_LENGTH and name.isprintable()):
            raise ValueError(f"Give the token a name of at most {MAX_NAME_LENGTH} characters.")
        token = self._new(person, name, ceiling, tools, expires)
        text = _new_text()
        if not await self.store.add(token, digest(text), at_most=self.per_person):
            raise TooManyTokens(
                f"You have {self.per_person} API tokens, as many as one person may have here. "
                "Revoke one that you no longer use."
            )
        return token, text

    async def create_operator(
        self,
        name: str,
        tier: Tier,
        *,
        tools: Iterable[str] | None = None,
        expires: datetime | None = None,
    ) -> tuple[ApiToken, str]:
        """Make an operator's token, which carries its tier by itself.

        Args:
            name: what it is for; its person id is ``token:NAME``.
            tier: what it grants.
            tools: the only tools that it may be used for, or None for all.
            expires: when it ends, or None.

        Returns:
            The token, and its text, which is not known to anybody afterwards.

        Raises:
            NameTaken: one of that name is still good.
            ValueError: the name is not allowed, or the end is past.
        """
        if not _OPERATOR.fullmatch(name):
            raise ValueError("A name is up to 40 lower-case letters, digits and hyphens.")
        token = self._new(f"token:{name}", name, tier, tools, expires, granted=tier)
        text = _new_text()
        if not await self.store.add(token, digest(text), at_most=1):
            raise NameTaken(f"There is a token {name} already. Revoke it, or take another name.")
        return token, text

    async def of(self, person: str) -> list[ApiToken]:
        """A person's tokens that are not revoked, the newest first."""
        return await self.store.of(person)

    async def operators(self) -> list[ApiToken]:
        """The operators' tokens that are not revoked, by name."""
        return await self.store.operators()

    async def revoke(self, person: str, token_id: str) -> bool:
        """Revoke a person's token, at once here and within seconds in every replica.

        Returns:
            False where the person has no such token.
        """
        if not await self.store.revoke(token_id, person):
            return False
        await self.revocations.revoke(f"token:{token_id}")
        return True

    async def identify(self, token: str, path: str) -> Identity | None:
        """The identity that a token proves, at any path, or None where it is no API token.

        Raises:
            BadCredential: it is unknown, revoked or expired, or its owner is gone.
        """
        if not token.startswith(PREFIX):
            return None
        found = await self.store.by_digest(digest(token)) if _TEXT.fullmatch(token) else None
        if found is None or found.revoked is not None:
            raise BadCredential(
                "The API token is not known here, or was revoked. Check it, or make a new one."
            )
        if found.expires is not None and found.expires <= self.clock():
            raise BadCredential("The API token has expired. Make a new one.")
        identity = await self._identity(found)
        self._note(found)
        return identity

    async def _identity(self, token: ApiToken) -> Identity:
        identity = Identity(
            person=token.person,
            provider="operator-token",
            name=token.name,
            granted=token.granted,
            ceiling=token.ceiling,
            tools=token.tools,
            tags=frozenset({f"token:{token.id}", token.person}),
            expires=None if token.expires is None else token.expires.timestamp(),
        )
        if token.granted:
            return identity
        owner = await self.people.get(token.person)
        if owner is None:
            raise BadCredential("The API token's owner has no account here any more.")
        return replace(
            identity,
            provider="api-token",
            name=owner.name,
            accounts=owner.accounts,
            client=token.name,
        )

    def _note(self, token: ApiToken) -> None:
        """Write the time of a use without keeping the call waiting."""
        now = self.clock()
        if token.used is not None and now - token.used < LAST_USE_INTERVAL:
            return
        if len(self._uses) < MAX_UNWRITTEN_USES:
            self._uses.setdefault(token.id, now)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_uses())

    async def _write_uses(self) -> None:
        """Write the uses until none is left; those of a while together, as writes wait in line."""
        while self._uses:
            uses, self._uses = self._uses, {}
            try:
                await self.store.used(uses)
            except Exception as error:
                self.failed(error)

    async def settled(self) -> None:
        """Wait until every use is written; call it before the database is closed."""
        if self._writing is not None:
            await self._writing

    def _new(
        self,
        person: str,
        name: str,
        ceiling: Tier,
        tools: Iterable[str] | None,
        expires: datetime | None,
        granted: Tier | None = None,
    ) -> ApiToken:
        now = self.clock()
        if expires is not None and expires <= now:
            raise ValueError("The token would have expired already.")
        return ApiToken(
            id=secrets.token_urlsafe(12),
            person=person,
            name=name,
            ceiling=ceiling,
            granted=granted,
            tools=None if tools is None else frozenset(tools),
            created=now,
            expires=expires,
        )


def _new_text() -> str:
    return PREFIX + secrets.token_urlsafe(32)
