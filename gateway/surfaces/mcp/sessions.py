"""Sessions of the legacy era: small, bound to the caller, and known to every replica.

A session id is sealed and carries what a replica needs to know: the negotiated version, the
client's capabilities, how it is told of many tools, whose it is and when it began. Any replica that
holds the same key takes it up; an ended one is remembered in the cache for as long as its id would
live. What a replica keeps beside that (a log level, resource subscriptions, the open stream) is its
own and small.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from auth import Caller
from auth.sealer import BadSeal, Sealer
from gateway.config.tools import Mode
from gateway.contract import Cache
from gateway.discovery.client_table import ClientTable
from gateway.surfaces.mcp.push_stream import Feed
from gateway.toolkit.client_capabilities import name_of

SESSION_LIFETIME_SECONDS = 24 * 3600
"""Seconds after which a session id is no longer taken."""
MAX_SESSIONS = 20_000
"""Sessions whose state one process keeps; the longest unused is dropped first."""
RECHECK_SECONDS = 30
"""Seconds after which a process asks again whether another one has ended a session."""

MAX_UNTOLD = 20
"""Announcements that wait for a client to open a stream; the newest stay."""
ABSENCE_SECONDS = 300.0
"""Seconds for which resources are followed for a client without a stream, which may come back."""

_ENDED = b"ended"
_THEIRS = b"of:"
"""What the cache knows of a session: that it is over, or whose it has become."""

_PRIMES_SINCE = "2025-11-25"
_ASKABLE = {"elicitation": ("form", "url"), "sampling": ("context", "tools"), "roots": ()}
"""What a client may be asked for, and the parts of it that it may declare."""

_SHIPPED = ClientTable()


class Session:
    """A legacy client's session as this process knows it."""

    def __init__(self, session_id: str, claims: Mapping[str, Any]) -> None:
        self.id = session_id
        self.mark = mark_of(session_id)
        self.version: str = claims["v"]
        self.person: str | None = claims["p"]
        self.capabilities: Mapping[str, Any] = claims["c"]
        self.mode: Mode = claims.get("m", "full")  # absent from ids of before there were modes
        self.client: str = claims.get("i", "")  # likewise
        self.began: float = claims["t"]
        self.checked = time.monotonic()
        self.signed_in = False
        self.sees_since = 0
        self.log_level = "info"
        self.subscribed: dict[str, Caller] = {}
        self.streams: list[Feed] = []
        self._untold: deque[Mapping[str, Any]] = deque(maxlen=MAX_UNTOLD)
        self._heard = time.monotonic()

    @property
    def follows(self) -> bool:
        """Whether its client hears of changes, or may come back for them."""
        return bool(self.streams) or time.monotonic() - self._heard < ABSENCE_SECONDS

    @property
    def primes(self) -> bool:
        """Whether its client takes an event without a message (since 2025-11-25, SEP-1699)."""
        return self.version >= _PRIMES_SINCE

    def become(self, person: str) -> None:
        """Make a stranger's session that of a person, who sees more than the stranger did."""
        self.person = person
        self.signed_in = True

    @contextmanager
    def stream(self, feed: Feed) -> Generator[None]:
        """Announce on this feed while the block lasts, or until a newer one is there."""
        self.streams.append(feed)
        while self._untold:
            feed.send(self._untold.popleft())
        try:
            yield
        finally:
            self.streams.remove(feed)
            self._heard = time.monotonic()

    def tell(self, message: Mapping[str, Any]) -> None:
        """Announce something, now or once the client opens a stream."""
        if self.streams:
            self.streams[-1].send(message)
        else:
            self._untold.append(message)

    def close(self) -> None:
        """End the session's streams, so that its client notices."""
        for feed in self.streams:
            feed.close()


class Sessions:
    """Begins, finds and ends sessions.

    Args:
        key: seals the ids; the same on every replica.
        cache: remembers which sessions have ended.
        clients: says how a client is told of many tools.
    """

    def __init__(self, key: bytes, cache: Cache, clients: ClientTable = _SHIPPED) -> None:
        self._sealer = Sealer(key, "mcp-session")
        self._clients = clients
        self._cache = cache
        self.live: OrderedDict[str, Session] = OrderedDict()

    def begin(
        self,
        caller: Caller,
        version: str,
        capabilities: Mapping[str, Any],
        client: Any = None,
    ) -> Session:
        """Start a session for a caller, with what their client says of itself."""
        claims = {
            "v": version,
            "p": caller.person,
            "c": _askable(capabilities),
            "m": self._clients.mode(client, capabilities),
            "i": name_of(client),
            "t": int(time.time()),
            "n": secrets.token_hex(8),
        }
        return self._keep(Session(self._sealer.seal(claims, SESSION_LIFETIME_SECONDS), claims))

    async def find(self, session_id: str, caller: Caller) -> Session | None:
        """The session of that id, or None where it is unknown, over, or somebody else's.

        A session that began without a credential becomes that of the first person who goes on
        with it: clients sign in when a call asks for it, and keep their session.
        """
        session = self.live.get(session_id)
        if session is None or time.monotonic() - session.checked >= RECHECK_SECONDS:
            session = await self._checked(session_id, session)
        if session is not None and session.person is None and caller.person is not None:
            session.become(caller.person)
            session.close()  # its streams were opened by a stranger; the client opens new ones
            await self._cache.set(
                _fate(session_id), _THEIRS + caller.person.encode(), SESSION_LIFETIME_SECONDS
            )
        if session is None or session.person != caller.person:
            return None
        if time.time() - session.began > SESSION_LIFETIME_SECONDS:
            self.live.pop(session_id, None)
            return None
        self.live.move_to_end(session_id)
        return session

    async def end(self, session: Session) -> None:
        """End a session, here at once and on other replicas within ``RECHECK_SECONDS`` seconds."""
        self.live.pop(session.id, None)
        session.close()
        await self._cache.set(_fate(session.id), _ENDED, SESSION_LIFETIME_SECONDS)

    async def _checked(self, session_id: str, session: Session | None) -> Session | None:
        """The session as every replica knows it: ended here or there, or become somebody's."""
        fate = await self._cache.get(_fate(session_id))
        if fate == _ENDED:
            self.live.pop(session_id, None)
            return None
        session = session or self._take_up(session_id)
        if session is not None:
            session.checked = time.monotonic()
            if fate is not None and session.person is None:
                session.become(fate.removeprefix(_THEIRS).decode())
        return session

    def _take_up(self, session_id: str) -> Session | None:
        try:
            return self._keep(Session(session_id, self._sealer.open(session_id)))
        except BadSeal:
            return None

    def _keep(self, session: Session) -> Session:
        self.live[session.id] = session
        while len(self.live) > MAX_SESSIONS:
            self.live.popitem(last=False)[1].close()
        return session


def _askable(capabilities: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    # The id carries this, so nothing of a length that the client chooses may go in.
    declared = {n: capabilities[n] for n in _ASKABLE if isinstance(capabilities.get(n), Mapping)}
    return {n: {part: {} for part in _ASKABLE[n] if part in d} for n, d in declared.items()}


def mark_of(session_id: str) -> str:
    """What replicas call a session among themselves; nobody can use it as the id."""
    return hashlib.sha256(session_id.encode()).hexdigest()


def _fate(session_id: str) -> str:
    return "mcp-session:" + mark_of(session_id)
