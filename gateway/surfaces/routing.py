"""Which surface answers which path."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from auth.document_fetcher import Fetcher
from auth.oauth.authorization_server import AuthorizationServer
from auth.oauth.cimd import ClientDocuments
from auth.oauth.clients import Clients
from auth.oauth.consent import Consents
from auth.sealer import Sealer
from auth.stores import Grant
from gateway.assistant.personal import with_conversations
from gateway.config.addresses import MCP_PATH, MEMBERS_PATH
from gateway.contract.offers import Offer
from gateway.identity.keepers import keepers
from gateway.identity.machine_access import machine_access
from gateway.identity.personal_archive import Archive
from gateway.limits.call_limits import CallLimits
from gateway.limits.limiter import Limiter
from gateway.limits.rate_counter import RateCounter
from gateway.limits.route_limits import RouteLimits, unknown_operations
from gateway.limits.shared_windows import open_windows
from gateway.limits.stream_shares import StreamShares
from gateway.observability.audit_record import AuditRecord
from gateway.observability.health import health_routes, is_loopback
from gateway.observability.logs import get_logger
from gateway.open_portal import OpenPortal
from gateway.pipeline.call import Call
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.admin.budgets import BudgetAdmin
from gateway.surfaces.admin.explaining import Explaining
from gateway.surfaces.admin.payments import PaymentAdmin
from gateway.surfaces.admin.routes import Admin, admin_routes
from gateway.surfaces.admin.status import Status
from gateway.surfaces.admin.tiers_diff import Comparing
from gateway.surfaces.admin.tool_costs import ToolCosts
from gateway.surfaces.admin_pages.pages import admin_pages
from gateway.surfaces.assistant.routes import assistant_routes
from gateway.surfaces.http.error_formats import ErrorFormats
from gateway.surfaces.http.open_streams import OpenStreams
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.http.upstream_credentials import Upstreams
from gateway.surfaces.mcp.about import About
from gateway.surfaces.mcp.approval_news import ApprovalNews
from gateway.surfaces.mcp.calls import Calls
from gateway.surfaces.mcp.calls_of_tools import CallsOfTools
from gateway.surfaces.mcp.elicitations import Elicitations
from gateway.surfaces.mcp.endpoint import Endpoint
from gateway.surfaces.mcp.legacy import Legacy
from gateway.surfaces.mcp.lists import Listing
from gateway.surfaces.mcp.methods import Methods
from gateway.surfaces.mcp.modern import Modern
from gateway.surfaces.mcp.relay import Relay
from gateway.surfaces.mcp.replies import Replies
from gateway.surfaces.mcp.request_state import StateSigner
from gateway.surfaces.mcp.resumption import Resumption
from gateway.surfaces.mcp.sessions import Sessions
from gateway.surfaces.mcp.step_up import StepUp
from gateway.surfaces.mcp.subscriptions import Subscriptions
from gateway.surfaces.mcp.task_news import TaskNews
from gateway.surfaces.mcp.tasks import Tasks
from gateway.surfaces.oauth.parts import OAuthSurface
from gateway.surfaces.oauth.routes import oauth_routes, resources_of
from gateway.surfaces.pages import PageParts, Pages
from gateway.surfaces.pages.approvals import ApprovalPages
from gateway.surfaces.pages.view_pages import ViewPages
from gateway.surfaces.pages.view_writes import ViewWrites
from gateway.surfaces.pages.waiting import Waiting
from gateway.surfaces.rest.openapi import Document
from gateway.surfaces.rest.routes import Rest, described_routes
from gateway.surfaces.server_card import discovery_routes
from gateway.surfaces.webhooks import webhook_routes

SIGN_IN_ATTEMPTS_PER_MINUTE = 60
"""Attempts to sign in that one peer may make in a minute."""

_VERSION = version("porch")

log = get_logger(__name__)


class Surfaces:
    """Everything that answers requests of an open portal.

    Args:
        running: the open portal.

    Attributes:
        streams: the streams of changes and of plugins' APIs, which end when the portal stops.
        upstreams: callers' credentials for the plugins' upstreams.
        dialects: how what lies at a path says what is no result.
    """

    def __init__(self, running: OpenPortal) -> None:
        self._running = running
        self._who = running.authentication
        cache, clients = running.services.shared_cache, running.discovery.clients
        self._sessions = Sessions(self._who.key, cache, clients)
        self._relay = Relay(self._who.key, cache)
        self._elicitations = Elicitations(self._who.key, cache, self._sessions.live)
        live, approvals = self._sessions.live, running.approvals
        self._approval_news = ApprovalNews(self._who.key, cache, live, approvals)
        approvals.tell = self._approval_news.asked
        self._replies = Replies(self._who.key, cache)
        self.upstreams = Upstreams(running.plugins.offers)
        self.dialects = ErrorFormats(())
        self._operations: frozenset[str] = frozenset()
        self.streams = OpenStreams(StreamShares(running.portal.config.limits.streams))
        self._subscriptions = Subscriptions(
            running.catalog,
            running.changes,
            self.streams,
            running.plugins.offers,
            self._sessions.live,
        )
        self._resumption = Resumption(self._replies, self.streams)
        running.pipeline.inner.make = self._call_of_a_tool
        self._consents = Consents(Sealer(self._who.key, "consent"), self._who.stores.grants)

    def listening(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """What hears from other replicas what is for clients of the legacy era here."""
        return self._relay.listen(), self._elicitations.listen(), self._approval_news.listen()

    def error_page(self, request: Request, status: int, title: str, text: str) -> Response:
        """A page that tells a person what went wrong."""
        return self._pages.error_page(request, status, title, text)

    def routes(self) -> list[Any]:
        """The routes of all surfaces; to be asked for again where a plugin has opened late."""
        running, config = self._running, self._running.portal.config
        offers, limit = running.plugins.offers, int(config.limits.body)
        self.dialects = ErrorFormats(offers.values())
        described = list(described_routes(offers))
        self._operations = frozenset(each.operation for each in described)
        about = Document(config.name, _VERSION, config.url)
        serving = (running.catalog, running.pipeline, about, limit, self._route_limits)
        rest = Rest(described, offers, *serving, self.streams)
        wire, others = self._own_routes
        views = ViewPages(self._pages.frame, self._view_writes)
        return [*wire, *rest.routes(), *webhook_routes(offers, limit), *others, *views.routes()]

    def is_mcp(self, scope: Scope) -> bool:
        """Whether a request, which the HTTP guard has let in, is for the MCP endpoint."""
        path = scope["path"]
        is_known = path in (MCP_PATH, MEMBERS_PATH) or context_of(scope).only is not None
        return is_known and scope["type"] == "http"

    @cached_property
    def _own_routes(self) -> tuple[list[Any], list[Any]]:
        """The portal's own routes, whatever plugins offer: before theirs, and after."""
        running = self._running
        running.board.notices(self._unknown_operations)
        running.board.notices(self._unknown_favourites)
        wire = [
            *discovery_routes(running.portal.config.name, _VERSION),
            *(
                Route(path, endpoint=self.mcp)
                for path in (MCP_PATH, MEMBERS_PATH, MCP_PATH + "/{plugin}")
            ),
            *assistant_routes(self._pages.frame, running, self.streams),
        ]
        admin, status = self._admin(), self._status()
        return wire, [
            *admin_pages(self._pages.frame, running, admin, status),
            *health_routes(running.board, running.metrics, self._may_see, running.workers),
            *admin_routes(admin, status.answer, self._tool_costs.answer),
            *oauth_routes(self._oauth()),
            *self._pages.routes(),
            *ApprovalPages(self._pages.frame, running.approvals, self._view_writes).routes(),
        ]

    @cached_property
    def _view_writes(self) -> ViewWrites:
        return ViewWrites(self._pages.frame, self._running.approvals)

    def _unknown_operations(self) -> list[str]:
        """What ``portal.yaml`` limits and no plugin that is open, or may open still, has."""
        running = self._running
        if running.board.opening:
            return []
        return [str(each) for each in unknown_operations(running.portal, self._operations)]

    def _unknown_favourites(self) -> list[str]:
        return [] if self._running.board.opening else self._running.discovery.notices()

    @cached_property
    def _route_limits(self) -> RouteLimits:
        return RouteLimits(self._running.portal.config.limits, self._counting)

    def _may_see(self, request: Request) -> bool:
        context: CallContext = context_of(request.scope)
        if context.local or context.caller.admin:
            return True
        # A proxy on the same machine also comes from loopback, so a portal that has another
        # public address or a trusted proxy shows details to admins alone.
        return self._running.portal.config.is_local and is_loopback(request)

    @cached_property
    def _about(self) -> About:
        config = self._running.portal.config
        return About(config.name, _VERSION, config.url, self._running.catalog)

    @cached_property
    def _calls(self) -> Calls:
        running = self._running
        catalog, pipeline = running.catalog, running.pipeline
        signer = StateSigner(self._who.key)
        limits, tasks = self._call_limits, self._tasks
        return Calls(catalog, running.discovery, pipeline, self.upstreams, signer, limits, tasks)

    @cached_property
    def _tasks(self) -> Tasks:
        running, sealer = self._running, Sealer(self._who.key, "task")
        return Tasks(running.catalog, running.services.jobs.for_owner, sealer)

    @cached_property
    def _call_limits(self) -> CallLimits:
        limits, budgets = self._running.portal.config.limits, self._running.budgets
        given = (limits, self._counting, self._who.key, budgets.calls_of)
        return CallLimits(*given, lambda: bool(budgets.file.plans))

    @cached_property
    def _calls_of_tools(self) -> CallsOfTools:
        return CallsOfTools(self._running.catalog, self._calls)

    def _call_of_a_tool(self, context: CallContext, key: str, arguments: Mapping[str, Any]) -> Call:
        return self._calls_of_tools.make(context, key, arguments)

    @cached_property
    def _methods(self) -> Methods:
        running = self._running
        listing = Listing(running.catalog, StateSigner(self._who.key), running.discovery)
        running.board.notices(listing.listers.notices)
        challenged = running.portal.config.sign_in.challenge
        step_up = StepUp(challenged, can_sign_in=self._who.methods.any)
        return Methods(
            self._calls, running.pipeline, listing, self._about, step_up, self._elicitations
        )

    @cached_property
    def _counting(self) -> RateCounter:
        running = self._running
        counting = RateCounter(open_windows(running.services.cache))
        running.board.notices(counting.notices)
        return counting

    @cached_property
    def _legacy(self) -> Legacy:
        return Legacy(
            self._methods,
            self._about,
            self._sessions,
            self._subscriptions,
            self._relay,
            self._elicitations,
            self._resumption,
        )

    @cached_property
    def mcp(self) -> Endpoint:
        """The MCP endpoint, which answers at each path of :meth:`is_mcp`."""
        running, config = self._running, self._running.portal.config
        live = self._sessions.live
        streams, clients = self.streams, running.discovery.clients
        shown = running.metrics
        surface = ("surface",)
        shown.gauges("streams", "Streams that are open.", surface, lambda: streams.by_surface)
        refused = "Streams that were refused because all places were taken."
        shown.counters("streams_refused", refused, surface, lambda: streams.refused)
        shown.gauge("mcp_sessions", "Legacy sessions that are held.", lambda: len(live))
        room, resumption = self._replies.room, self._resumption
        kept = "Bytes of replies to legacy clients that are kept for those who come back."
        shown.gauge("mcp_kept_bytes", kept, lambda: room.used.bytes)
        resumed = "Replies that a legacy client came back for: told, or lost."
        shown.counters("mcp_resumptions", resumed, ("outcome",), lambda: resumption.outcomes)
        return Endpoint(
            Modern(
                self._methods,
                self._subscriptions,
                self._about.server,
                clients,
                TaskNews(self._tasks, self._methods.answer),
            ),
            self._legacy,
            running.catalog,
            self.upstreams,
            int(config.limits.body),
        )

    async def _calls_of(self, person: str, most: int) -> Sequence[AuditRecord]:
        return await self._running.audit.read({"person": person}, most)

    def _status(self) -> Status:
        live = self._sessions.live
        return Status(self._running, self.streams, lambda: len(live))

    @cached_property
    def _tool_costs(self) -> ToolCosts:
        return ToolCosts(self._running.discovery)

    def _admin(self) -> Admin:
        running, resolver, stores = self._running, self._who.resolver, self._who.stores
        explaining = Explaining(running.catalog, running.absences, resolver, stores)
        comparing = Comparing(running.catalog, resolver, stores)
        budgets = BudgetAdmin(running.budgets, explaining.people)
        payments = PaymentAdmin(running.payments)
        return Admin(
            running.catalog, explaining, comparing, budgets, running.plugins.closed, payments
        )

    def _oauth(self) -> OAuthSurface:
        who, config = self._who, self._running.portal.config
        fetcher = Fetcher(config.sign_in.private_hosts)
        is_resource = resources_of(self._running.catalog.plugins)
        machines = machine_access(
            self._running.portal, who.machine_tokens, who.stores, who.accounts, is_resource
        )
        server = AuthorizationServer(
            clients=Clients(Sealer(who.key, "client"), ClientDocuments(fetcher.fetch)),
            consents=self._consents,
            grants=who.stores.grants,
            people=who.stores.people,
            tokens=who.access_tokens,
            revocations=who.revocations,
            site=who.site,
            is_resource=is_resource,
            refresh_lifetime=config.sign_in.tokens.refresh,
            grant_lifetime=config.sign_in.tokens.grant,
            reused=_reused,
            machines=machines,
        )
        audit = self._running.audit.write
        return OAuthSurface(server, who.keys, config.name, self.error_page, audit=audit)

    @property
    def _archive(self) -> Archive:
        running = self._running
        kept = with_conversations(self._keepers(), running.assistant)
        return Archive(kept, running.plugins.closed)

    @cached_property
    def _pages(self) -> Pages:
        who, config = self._who, self._running.portal.config
        parts = PageParts(
            name=config.name,
            site=who.site,
            key=who.key,
            catalog=self._running.catalog,
            stores=who.stores,
            sessions=who.sessions,
            accounts=who.accounts,
            tokens=who.api_tokens,
            resolver=who.resolver,
            consents=self._consents,
            attempts=Limiter(SIGN_IN_ATTEMPTS_PER_MINUTE, 60),
            sign_in=config.sign_in,
            wallet=who.methods.wallet,
            redirects=who.methods.redirects,
            believed=config.roles.cache,
            offers=self._running.plugins.offers,
            missing=self._running.absences.visible_to,
            asks_first=self._running.approvals.asks_first,
            waiting=Waiting(self._running.approvals, self._running.plugins.offers).count,
            archive=self._archive,
            chats=self._running.assistant.is_there,
            calls_of=self._calls_of,
            run=self._running.pipeline.call,
            limits=self._call_limits,
            deleted=self._running.erasures.soon,
            connected=self._elicitations.complete,
            tried=self._running.metrics.count(
                "sign_ins",
                "Attempts to sign in: signed_in, linked, refused or too_many.",
                "way",
                "outcome",
            ).add,
        )
        return Pages(parts)

    def _keepers(self) -> Mapping[str, Offer]:
        """Who has something of people for their archive."""
        offers, models = self._running.plugins.offers, self._running.services.models
        return keepers(offers, models if models.config.roles else None, self._running.work.offers)


def _reused(what: str, grant: Grant) -> None:
    log.warning("credential_reused", what=what, person=grant.person, client=grant.client_name)
