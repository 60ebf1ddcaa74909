"""All parts of the plugin together: the servers, what they offer, and what an admin decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from gateway.contract import Change, Host, Offer, Tier, Tool
from plugins.upstreams.catalogue.names import key_of
from plugins.upstreams.catalogue.pins import Quarantined, State
from plugins.upstreams.config import CommonsSettings, UpstreamsConfig
from plugins.upstreams.config import Server as ServerConfig
from plugins.upstreams.credential_settings import TokenExchange
from plugins.upstreams.credentials.credential import Credential, Shared
from plugins.upstreams.credentials.exchanged import ExchangedTokens
from plugins.upstreams.credentials.member import MemberAccounts, Target
from plugins.upstreams.credentials.oauth_http import OAuthHttp
from plugins.upstreams.credentials.people import connections, personal_data
from plugins.upstreams.credentials.registration import Registration
from plugins.upstreams.health import health_of
from plugins.upstreams.missing_items import absent
from plugins.upstreams.offer import Declarations
from plugins.upstreams.pending import pending_requests
from plugins.upstreams.relay.apps import own_uri, shown_uri
from plugins.upstreams.relay.parked import Parked
from plugins.upstreams.reviews import routes
from plugins.upstreams.servers.reach import reach, target_of
from plugins.upstreams.servers.server import Server
from plugins.upstreams.servers.servers import Servers
from plugins.upstreams.store.connections import ConnectionStore
from plugins.upstreams.store.store import Store
from plugins.upstreams.tools.commons_search import commons_search_tool
from plugins.upstreams.tools.why_missing import why_missing_tool

_CONNECTED = "connected"
"""The channel on which replicas tell each other who has connected or disconnected."""
_REVIEWED = "reviewed"
"""The channel on which replicas tell each other whose tools were decided about."""


class Upstreams:
    """The open plugin.

    Args:
        host: what the gateway gives to it.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._store = Store(host.database)
        self._connections = ConnectionStore(host.database, host.vault)
        self._accounts: dict[str, MemberAccounts] = {}
        self._parked = Parked()
        self._refresh_seconds = 0.0
        self._commons = CommonsSettings()
        self._followed: Mapping[str, str] = {}
        self._servers = Servers(self._store, self._made, host.log)
        self._declarations = Declarations(host.exchange, self._parked)
        self._own: list[Tool] = []

    async def open(self, config: UpstreamsConfig) -> None:
        """Bring the tables up to date, and begin with the servers of a section."""
        await self._store.open()
        await self._take(config)

    async def close(self) -> None:
        """End all calls that wait, and all connections."""
        await self._parked.close()
        await self._servers.close()

    def offer(self) -> Offer:
        """All that the plugin offers."""
        return replace(
            self._offered(),
            routes=routes(self._servers, self._decide),
            pending=pending_requests(self._servers, self._decide),
            health=lambda: health_of(self._servers),
            configure=self._configure,
            personal=personal_data(self._connections, self._personal, self._publish_connection),
            connections=connections(self._open_accounts),
            absent=lambda caller: absent(self._servers, caller),
            follow=self._follow,
        )

    async def follow_reviews(self) -> None:
        """Hear what is decided at other replicas, until cancelled."""
        async with self._host.cache.listen(_REVIEWED) as names:
            async for name in names:
                if server := self._servers.get(name.decode()):
                    await self._review(server)

    async def _review(self, server: Server) -> None:
        """Take in what was decided; what cannot be read now is read with the next decision."""
        try:
            await server.offered.review()
        except Exception:
            self._host.log.exception("reviews_not_read", server=server.name)
        else:
            self._reoffer()

    async def follow_connections(self) -> None:
        """Hear who has connected or disconnected at other replicas, until cancelled."""
        async with self._host.cache.listen(_CONNECTED) as messages:
            async for message in messages:
                server, _, person = message.decode().partition(" ")
                self._changed(person, server)

    async def _publish_connection(self, person: str, server: str) -> None:
        self._changed(person, server)
        await self._host.cache.publish(_CONNECTED, f"{server} {person}".encode())

    def _changed(self, person: str, name: str) -> None:
        if server := self._servers.get(name):
            server.people_changed(person)

    def _open_accounts(self) -> list[tuple[MemberAccounts, Tier]]:
        return [
            (self._accounts[each.name], each.config.tier or Tier.MEMBERS)
            for each in self._servers
            if each.name in self._accounts
        ]

    def _personal(self) -> list[str]:
        return [each.name for each in self._servers if each.config.is_personal]

    async def _configure(self, config: UpstreamsConfig) -> None:
        await self._take(config)
        self._reoffer()

    async def _take(self, config: UpstreamsConfig) -> None:
        self._refresh_seconds = config.refresh.total_seconds()
        self._commons = config.commons
        await self._servers.configure(config)
        self._own = self._own_tools()
        self._follow(self._followed)

    def _follow(self, followed: Mapping[str, str]) -> None:
        """Have each server tell of the resources that clients follow (``Offer.follow``).

        Where each member has an account of their own, one member's subscription must not tell
        others, so there is none.
        """
        self._followed = followed
        for server in self._servers:
            begins = key_of(server.name, "")
            mine = [uri for uri, key in followed.items() if key.startswith(begins)]
            if not server.config.is_personal:
                server.following.follow([own_uri(server.name, each) for each in mine])

    def _news(self, server: str, uri: str | None) -> None:
        """A server offers something else, or a resource there that is followed has changed."""
        if uri is None:
            self._reoffer()
        else:
            self._host.changed(Change(self._host.plugin, "resource", shown_uri(server, uri)))

    async def _decide(
        self, server: Server, tools: Sequence[Quarantined], decision: State, by: str | None
    ) -> None:
        await self._store.decide(server.name, [each.entry for each in tools], decision, by)
        await server.offered.review()
        self._reoffer()
        await self._host.cache.publish(_REVIEWED, server.name.encode())

    def _made(self, config: ServerConfig) -> Server:
        return Server(
            config,
            reach,
            self._credential(config),
            self._store,
            self._refresh_seconds,
            partial(self._news, config.name),
            self._host.log,
        )

    def _offered(self) -> Offer:
        offered = self._declarations.of(list(self._servers))
        return replace(offered, tools=[*self._own, *offered.tools])

    def _own_tools(self) -> list[Tool]:
        """The plugin's own."""
        servers, exchange = list(self._servers), self._host.exchange
        own = [why_missing_tool(exchange)] if servers else []
        if commons := [each for each in servers if each.config.commons]:
            own.append(commons_search_tool(commons, self._commons, exchange))
        return own

    def _reoffer(self) -> None:
        self._host.reoffer(self._offered())

    def _credential(self, server: ServerConfig) -> Credential:
        self._accounts.pop(server.name, None)
        given, url = server.credential, server.url
        if given is not None and given.exchange is not None and url is not None:
            return self._exchanged(server.name, url, given.exchange)
        if given is None or given.member_oauth is None or url is None:
            return Shared((given and given.header) or {})
        config, http = given.member_oauth, OAuthHttp(url)
        host, store = self._host, self._connections
        registration = Registration(http, store, config, host.secret, host.portal)
        made = self._accounts[server.name] = MemberAccounts(
            Target(server.name, url, target_of(server)),
            config,
            store,
            registration,
            http,
            self._publish_connection,
        )
        return made

    def _exchanged(self, name: str, url: str, config: TokenExchange) -> ExchangedTokens:
        if config.audience is None and config.resource is None:
            config = config.model_copy(update={"resource": url})
        http, host = OAuthHttp(url, frozenset({config.token_endpoint})), self._host
        return ExchangedTokens(name, config, http, host.secret, host.exchange, host.log)
