"""Protocols of the stores of people and their credentials, and the records in them.

The gateway implements them; one test suite runs over every database. Secrets are never stored: of a
token, a session or a code there is only the SHA-256 digest of its text, in hexadecimal. Times are
UTC.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from auth.callers import Account, SignedOut
from auth.chain.follower import FollowerStore
from auth.revocations import RevocationStore
from auth.single_use import SingleUseStore
from auth.tiers import Tier


def digest(secret: str) -> str:
    """The SHA-256 digest of a secret in hexadecimal, which is stored in its place."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class StoreUnavailable(Exception):
    """The database does not answer; any operation below may raise it.

    The request is then neither accepted nor refused as unknown: it can be tried again later.
    """


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who has signed in at least once.

    Attributes:
        id: ``person:`` and 20 random characters of base32; never used again for another person.
        name: what to call them: the name of the first account that has one, or None.
        accounts: what they have proved to be theirs, the oldest first; never empty.
        created: when they first signed in.
    """

    id: str
    name: str | None
    accounts: tuple[Account, ...]
    created: datetime

    def account(self, subject: str) -> Account | None:
        """Their account of that subject."""
        return next((each for each in self.accounts if each.subject == subject), None)


class NoSuchPerson(LookupError):
    """There is no such person, or no longer: people may delete their accounts at any moment."""

    def __init__(self) -> None:
        super().__init__("There is no such person.")


class AccountTaken(Exception):
    """The account already signs in as another person."""


class LastAccount(Exception):
    """The person has no other account to sign in with."""


class People(Protocol):
    """The people and their accounts."""

    async def signed_in(self, account: Account) -> Person:
        """The person of an account that was proved just now; created at the first proof.

        Name, email and claims are merged by ``auth.claims.merged``, also if two replicas store
        them at once. Two simultaneous first proofs create one person.
        """
        ...

    async def get(self, person: str) -> Person | None:
        """The person of that id."""

    async def by_subject(self, subject: str) -> Person | None:
        """The person who has the account of that subject."""
        ...

    async def several(self, ids: Collection[str]) -> list[Person]:
        """The people of some ids, those that there are."""

    async def by_address(self, address: str) -> list[Person]:
        """The people with a wallet of an address, as a key or as a contract on any chain."""
        ...

    async def named(self, provider: str, name: str) -> Person | None:
        """The person with an account of this name at a provider; case does not matter."""
        ...

    async def link(self, person: str, account: Account) -> None:
        """Add an account that the person has proved.

        A contract's account replaces an old entry of the same address that does not record who
        signed.

        Raises:
            AccountTaken: it is another person's.
            NoSuchPerson: there is no such person.
        """
        ...

    async def unlink(self, person: str, subject: str) -> None:
        """Take an account away; one that is not there is no error.

        Raises:
            LastAccount: there would be none left.
        """
        ...

    async def delete(self, person: str) -> None:
        """Forget the person: accounts, sessions, tokens, grants and all."""
        ...

    async def matching(self, text: str, *, after: Person | None, limit: int) -> list[Person]:
        """People whose id this is, or of whose accounts a name, email or subject holds the text."""
        ...

    def everyone(self) -> AsyncIterator[Person]:
        """All people, the oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A personal or operator's API token, without its text.

    Attributes:
        id: 16 random characters.
        person: whose it is; ``token:NAME`` for an operator's.
        name: what its owner calls it.
        ceiling: the highest tier that it may be used for.
        granted: the tier that an operator's token carries itself; None for a person's.
        tools: the only tools that it may be used for, or None for all.
        created: when it was made.
        expires: when it ends, or None.
        used: when it was last used, to within a few minutes, or None.
        revoked: when it was revoked, or None.
    """

    id: str
    person: str
    name: str
    ceiling: Tier
    granted: Tier | None
    tools: frozenset[str] | None
    created: datetime
    expires: datetime | None
    used: datetime | None = None
    revoked: datetime | None = None


class ApiTokenStore(Protocol):
    """API tokens, by digest."""

    async def add(self, token: ApiToken, digest: str, *, at_most: int | None = None) -> bool:
        """Store a token; False if the person already has ``at_most`` valid ones.

        Raises:
            NoSuchPerson: it is a person's, and there is no such person.
        """
        ...

    async def by_digest(self, digest: str) -> ApiToken | None:
        """The token of that digest, even if it is expired or revoked."""
        ...

    async def of(self, person: str, *, ended: bool = False) -> list[ApiToken]:
        """A person's tokens, the newest first; revoked ones only with ``ended``."""
        ...

    async def operators(self) -> list[ApiToken]:
        """The operators' tokens that are not revoked, by name."""
        ...

    async def used(self, uses: Mapping[str, datetime]) -> None:
        """Store when tokens were used, by their ids."""
        ...

    async def revoke(self, token_id: str, person: str) -> bool:
        """Revoke a person's token; False if there is none. Revoking twice is no error."""
        ...

    async def revoke_all(self, person: str) -> None:
        """Revoke all tokens of a person."""
        ...


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which a person is signed in to the portal's own pages.

    Attributes:
        digest: of the cookie's value.
        person: who.
        created: when they signed in.
        expires: when the session ends.
        agent: what the browser calls itself, shortened.
        account: the subject of the account that they signed in with; None in old entries.
        sid: the session at that account's provider, if it has one.
    """

    digest: str
    person: str
    created: datetime
    expires: datetime
    agent: str
    account: str | None = None
    sid: str | None = None


class SessionStore(Protocol):
    """Browser sessions, by digest."""

    async def add(self, session: Session) -> None:
        """Store a session.

        Raises:
            NoSuchPerson: there is no such person.
        """
        ...

    async def get(self, digest: str) -> Session | None:
        """The session of that digest, where it has not ended."""
        ...

    async def of(self, person: str) -> list[Session]:
        """A person's sessions that have not ended, the newest first."""
        ...

    async def end(self, digest: str) -> None:
        """End a session."""
        ...

    async def end_all(self, person: str) -> None:
        """End all sessions of a person."""
        ...

    async def end_of(self, who: SignedOut) -> None:
        """End the sessions that began with a provider's session that ended there.

        Sessions of unknown origin that may have begun with it are ended too.
        """
        ...


@dataclass(frozen=True, slots=True)
class Grant:
    """A person's consent to one client, on which all its tokens depend.

    Attributes:
        id: 20 random characters.
        person: who consented.
        client_id: the OAuth client.
        client_name: what it calls itself.
        resource: the audience of its tokens, a URL.
        scope: the tiers asked for, the highest of which is the ceiling.
        created: when.
        used: when a token was last issued, or None.
        revoked: when it was revoked, or None.
        account: as in :class:`Session`, of the session in which the person consented.
        sid: likewise.
    """

    id: str
    person: str
    client_id: str
    client_name: str
    resource: str
    scope: tuple[str, ...]
    created: datetime
    used: datetime | None = None
    revoked: datetime | None = None
    account: str | None = None
    sid: str | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code, without its text (RFC 6749, section 4.1.2).

    Attributes:
        grant: the id of its grant.
        redirect_uri: where it was sent.
        explicit: whether the client named the redirect URI.
        challenge: the S256 code challenge (RFC 7636).
        expires: when it ends.
    """

    grant: str
    redirect_uri: str
    explicit: bool
    challenge: str
    expires: datetime


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A refresh token, without its text: its grant and when it ends."""

    grant: str
    expires: datetime


class GrantStore(Protocol):
    """Grants, with their codes and refresh tokens."""

    async def add(self, grant: Grant, code: Code | None = None, digest: str = "") -> None:
        """Store a grant together with its code, or without where its client proved it otherwise.

        Raises:
            NoSuchPerson: there is no such person.
        """
        ...

    async def get(self, grant_id: str) -> Grant | None:
        """The grant of that id, even if it is revoked."""
        ...

    async def of(self, person: str, *, ended: bool = False) -> list[Grant]:
        """A person's grants that have been used and are not revoked, the newest first.

        Args:
            person: whose.
            ended: whether to include those that were revoked or never used.
        """
        ...

    async def revoke(self, grant_ids: Iterable[str]) -> None:
        """Revoke grants, with all their tokens."""
        ...

    async def revoke_all(self, person: str) -> None:
        """Revoke all grants of a person, including those whose code was not used yet."""
        ...

    async def revoke_of(self, who: SignedOut) -> list[str]:
        """Revoke the grants that began with a provider's session that ended, as for sessions.

        Returns:
            The ids of those that were revoked now.
        """
        ...

    async def code(self, digest: str) -> tuple[Code, bool] | None:
        """A code, and whether it was used already; None also if its grant was revoked."""
        ...

    async def spend_code(self, digest: str) -> bool:
        """Use a code; only the first attempt, on whichever replica, gets True.

        A code of a revoked grant cannot be used; its expiry is not checked here.
        """
        ...

    async def add_refresh(self, token: RefreshToken, digest: str) -> None:
        """Store a refresh token, and when its grant was used.

        Raises:
            LookupError: the grant is not there, or was revoked.
        """
        ...

    async def refresh(self, digest: str) -> tuple[RefreshToken, bool] | None:
        """A refresh token, and whether it was used already; None if its grant was revoked."""
        ...

    async def spend_refresh(self, digest: str) -> bool:
        """Use a refresh token; only the first attempt, on whichever replica, gets True.

        As with a code, one of a revoked grant cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores."""

    people: People
    tokens: ApiTokenStore
    sessions: SessionStore
    grants: GrantStore
    spent: SingleUseStore
    revocations: RevocationStore
    followed: FollowerStore
