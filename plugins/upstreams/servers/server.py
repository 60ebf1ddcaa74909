"""One configured server: asked through kept connections, watched, and known by its catalogue."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from gateway.contract import Caller, Exchange, RelayedError, ToolFailed
from gateway.toolkit.bulkhead import Full, Places
from gateway.toolkit.client_capabilities import ELICITATION
from gateway.toolkit.retry import backoff
from plugins.upstreams.catalogue.entries import fetch
from plugins.upstreams.config import Server as ServerConfig
from plugins.upstreams.credentials.credential import EVERYBODY, Credential, Lacking
from plugins.upstreams.servers.link import Link
from plugins.upstreams.servers.offered import Offered
from plugins.upstreams.servers.pool import SHARED, Pool
from plugins.upstreams.servers.reach import Reach
from plugins.upstreams.servers.refusals import busy, closed, down, failed
from plugins.upstreams.servers.state import State
from plugins.upstreams.servers.stderr_log import Said
from plugins.upstreams.servers.subscriptions import Following
from plugins.upstreams.servers.url_questions import UrlQuestions
from plugins.upstreams.store.store import Store
from plugins.upstreams.wire import (
    GAP,
    NO_HEADERS,
    Back,
    Connection,
    ConnectionLost,
    HeaderSource,
    HttpRefused,
    NoCredential,
    RpcError,
    SessionExpired,
    Unauthorized,
    Unreachable,
    WireError,
)

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 30.0
"""Seconds until a server that is down is asked again: at first, and at most."""
SETTLE_SECONDS = 0.2
"""Seconds from a server's word that a list has changed to the next look: it may say so often."""
STEADY_SECONDS = 10.0
"""Seconds that a connection lasts at least where its end is looked into at once; a server whose
connections end sooner is left alone for as long as one that is down."""
REFRESH_TIMEOUT_SECONDS = 60.0
"""Seconds that reading all lists of a server may take."""
_UPDATED = "notifications/resources/updated"
_ROOTS = "roots/list"
_LINK_DONE = "notifications/elicitation/complete"
_OF_CONNECTIONS = (Unreachable, ConnectionLost, SessionExpired)
"""Errors after which a connection is of no more use."""


class Server:
    """A server of ``portal.yaml``.

    Args:
        config: what is said of it there.
        reach: makes connections.
        credential: whose credential a request carries.
        store: keeps its catalogue and its pins.
        refresh_seconds: how often it is asked what it offers.
        changed: called when what it offers has changed, or with the followed resource that has.
        log: tells of what goes wrong.

    Attributes:
        state: whether it answers.
        offered: what it offers.
        problem: why its lists could not be read last, or nothing.
        url_questions: the links that it has callers open.
    """

    def __init__(
        self,
        config: ServerConfig,
        reach: Reach,
        credential: Credential,
        store: Store,
        refresh_seconds: float,
        changed: Callable[[str | None], None],
        log: FilteringBoundLogger,
    ) -> None:
        self.config = config
        self.state = State()
        self.problem = ""
        self._reach = reach
        self.credential = credential
        self._refresh_seconds = refresh_seconds
        self._changed = partial(changed, None)
        self._log = log.bind(server=config.name)
        self.offered = Offered(config, store, self._log)
        self._said = Said(self._log)
        self.url_questions = UrlQuestions()
        self._pool = Pool(self._made_link, config.max_sessions)
        self._keeps_clients_apart = config.session == "per-client"
        self._places = Places(config.calls, config.queue)
        self._wake = asyncio.Event()
        self._has_ended = False
        self.following = Following(lambda: self._pool.shared(EVERYBODY).get(), changed, self._log)
        self._lists_through: Link | None = None
        self._shown_down = False

    @property
    def name(self) -> str:
        """Its name in ``portal.yaml``."""
        return self.config.name

    @property
    def era(self) -> str:
        """``modern`` or ``legacy``; nothing until it was first reached."""
        return self.offered.era

    @property
    def asks_at_once(self) -> bool:
        """Whether it asks in the middle of a call, as servers of the older era do."""
        return self.offered.era == "legacy"

    # What it offers.

    async def lacking(self, caller: Caller) -> Lacking | None:
        """What a caller has to do before it can be asked for them; None for nothing."""
        return await self.credential.lacking(caller)

    async def keep_fresh(self) -> None:
        """Ask it what it offers, again and again until cancelled, and whether it is back."""
        pauses = backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        while True:
            await asyncio.sleep(self.state.pause)
            self._wake.clear()
            self._has_ended, begun = False, time.monotonic()
            try:
                await self._refresh()
            except Exception as error:
                self._not_refreshed(error)
                pause = next(pauses)
            else:
                pause = self._refresh_seconds
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
                    await asyncio.sleep(SETTLE_SECONDS)
            if time.monotonic() - begun >= STEADY_SECONDS:
                pauses = backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
            elif self._has_ended:
                await asyncio.sleep(next(pauses))

    async def _refresh(self) -> None:
        async with asyncio.timeout(REFRESH_TIMEOUT_SECONDS):
            link = self._lists_through = self._pool.shared(await self.credential.lister())
            connection = await self._listing(link)

            async def ask(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
                return await connection.request(method, params)

            try:
                offers, most = connection.server.capabilities, self.config.max_tools
                found = await fetch(ask, offers, most, self.offered.catalogue)
            except WireError as error:
                link.lost(connection)
                if isinstance(error, Unauthorized):
                    await link.refused(error)
                raise
        self.state.answered()
        self.problem = "; ".join(f"{kind}s: {why}" for kind, why in found.failed.items())
        is_news = await self.offered.take(found, connection) or self._shown_down
        try:
            await self.offered.keep()
        finally:
            if is_news:
                self._shown_down = False
                self._changed()

    async def _listing(self, link: Link) -> Connection:
        """A connection to list through; a credential that is refused is renewed at once."""
        try:
            return await link.get()
        except Unauthorized as error:
            if not await link.refused(error):
                raise
            return await link.get()

    def _not_refreshed(self, error: Exception) -> None:
        late = f"its lists took longer than {REFRESH_TIMEOUT_SECONDS:g} s"
        reason = late if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        self.problem = reason
        link = self._lists_through
        of_one = link is not None and (
            link.is_closed or (isinstance(error, Unauthorized) and link.holder != EVERYBODY)
        )
        if of_one or isinstance(error, ToolFailed | NoCredential):
            return  # of one person's connection, which says nothing of the server
        if not isinstance(error, WireError | TimeoutError):
            self._log.error("server_not_refreshed", exc_info=error)
        else:
            self._is_down(self.state.failed(reason, getattr(error, "retry_after", 0.0)))

    # What it is asked.

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        caller: Caller,
        client: str,
        back: Back | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Mapping[str, Any]:
        """Its result, as it wrote it.

        Args:
            method: the MCP method.
            params: its parameters.
            caller: who asks, which decides whose credential goes along.
            client: stands for the caller's client, where that has a session of its own.
            back: what it may say and ask meanwhile.
            headers: those that mirror the arguments of a tool.

        Raises:
            RelayedError: it answers with a JSON-RPC error.
            ToolFailed: it is down or busy, it has answered what is no answer, or the caller has to
                connect first.
        """
        if self.state.is_down:
            raise down(self.name, self.state)
        holder = self.credential.holder(caller)
        await self.credential.headers(holder)  # who has to connect first is told before all else
        client = client if self._keeps_clients_apart else SHARED
        try:
            async with self._places.one():
                with self._pool.lent(holder, client) as link:
                    return await self._asked(
                        link, lambda to: to.request(method, params, headers=headers, back=back)
                    )
        except Full:
            raise busy(self.name, self._places) from None

    async def _asked(
        self, link: Link, ask: Callable[[Connection], Awaitable[Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        for may_repeat in (True, False):
            connection, started = None, asyncio.get_running_loop().time()
            try:
                connection = await link.get()
                result = await ask(connection)
            except RpcError as error:
                self.state.answered()
                raise RelayedError(error.code, error.message, error.data) from None
            except WireError as error:
                if connection is not None and isinstance(error, _OF_CONNECTIONS):
                    link.lost(connection)
                if may_repeat and await self._is_worth_another_try(error, connection, link):
                    continue
                raise self._failed(error, link) from None
            except asyncio.CancelledError:
                self._on_cancelled(asyncio.get_running_loop().time() - started)
                raise
            self.state.answered()
            return result
        raise AssertionError("unreachable")  # pragma: no cover

    async def _is_worth_another_try(
        self, error: WireError, connection: Connection | None, link: Link
    ) -> bool:
        """Whether a request provably did not run, and may fare better with another connection."""
        if isinstance(error, Unauthorized):
            return await link.refused(error)
        return connection is not None and isinstance(error, SessionExpired | Unreachable)

    def note_question(self, method: str, params: Mapping[str, Any], exchange: Exchange) -> None:
        """Take note of what it asks a caller's client, before that is asked.

        Args:
            method: of the question.
            params: its parameters.
            exchange: the call that it is asked in.
        """
        if method == ELICITATION:
            self.url_questions.asked(params, exchange)
        elif method == _ROOTS:
            self._part_clients()

    def _part_clients(self) -> None:
        """What it asks a client for it may keep for the session, which is one client's own then."""
        if self.config.session is None and self.asks_at_once and not self._keeps_clients_apart:
            self._keeps_clients_apart = True
            self._pool.part()
            self._wake.set()  # what lists, and what tells of changes, gets a session of its own
            self._log.info("server_asks_for_roots", session="per-client")

    def _made_link(self, holder: str) -> Link:
        async def connect(headers: HeaderSource) -> Connection:
            config, era = self.config, self.offered.era
            made = await self._reach(config, era, headers, self._on_notification, self._said)
            if holder == EVERYBODY:
                self.following.anew()
            return made

        return Link(holder, self.credential, connect, self._on_end)

    def _on_end(self, reason: WireError) -> None:
        """A connection has ended by itself: whether the server is back is found out at once."""
        self._log.info("connection_ended", reason=str(reason))
        self.state.broke(str(reason))
        self._has_ended = True
        self._wake.set()

    async def _on_notification(self, method: str, params: Mapping[str, Any]) -> None:
        """The server says something of its own accord."""
        if method == GAP or method.endswith("/list_changed"):
            self._wake.set()
        if method == GAP:
            self.following.missed()
        elif method == _UPDATED and isinstance(uri := params.get("uri"), str):
            self.following.told(uri)
        elif method == _LINK_DONE:
            self.url_questions.done(params)

    # What goes wrong.

    def _failed(self, error: WireError, link: Link) -> ToolFailed:
        if link.is_closed:
            return closed(self.name, error)
        if isinstance(error, Unreachable | ConnectionLost):
            self._is_down(self.state.failed(str(error)))
            self._wake.set()
            if not error.may_have_run:
                return down(self.name, self.state)
        if isinstance(error, HttpRefused) and self.state.refused(error.status, error.retry_after):
            self._is_down(True)
        cause = error.__cause__
        return cause if isinstance(cause, ToolFailed) else failed(self.name, error)

    def _on_cancelled(self, seconds: float) -> None:
        """A call was given up: by its client, or by its deadline, which counts."""
        limit = self.config.timeout.total_seconds()
        if seconds >= limit and self.state.timed_out(limit):
            self._is_down(True)

    def _is_down(self, is_news: bool) -> None:
        if is_news:
            self._shown_down = True
            self._wake.set()
            self._log.warning("server_down", reason=self.state.reason)
            self._changed()

    def people_changed(self, holder: str) -> None:
        """A person has connected or disconnected: what was opened for them is of no more use."""
        self.credential.forget(holder)
        self._pool.forget(holder)
        self._wake.set()

    async def close(self) -> None:
        """Close its connections."""
        await self._pool.close()
