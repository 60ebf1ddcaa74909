"""What the pages are made of; the portal hands it in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.errors import NotFound
from gateway.identity.personal_archive import Archive
from gateway.pipeline.call import Call, Outcome

if TYPE_CHECKING:
    from auth import Caller, Identity
    from auth.account_service import AccountService
    from auth.oauth.consent import Consents
    from auth.portal_addresses import Site
    from auth.resolver import Resolver
    from auth.sessions import BrowserSessions
    from auth.sign_in.redirects import RedirectSignIn
    from auth.sign_in.wallet import WalletSignIn
    from auth.stores import Stores
    from auth.tokens.api_tokens import ApiTokens
    from gateway.catalog.catalog import Catalog
    from gateway.config.access import SignIn
    from gateway.contract import Absent, Offer
    from gateway.limits.call_limits import CallLimits
    from gateway.limits.limiter import Limiter
    from gateway.observability.audit_record import AuditRecord


async def _no_one_waits(identity: Identity, caller: Caller) -> int:
    return 0


async def _nothing(caller: Caller) -> Sequence[Absent]:
    return ()


async def _run_nothing(call: Call) -> Outcome:
    return Outcome(error=NotFound(f"There is no {call.kind} {call.name!r} here."))


async def _no_calls(person: str, most: int) -> Sequence[AuditRecord]:
    return ()


@dataclass(frozen=True, slots=True)
class PageParts:
    """The parts of the portal that the pages show and use.

    Attributes:
        name: what the portal is called.
        site: its own addresses.
        key: the portal's signing key; what the pages seal derives from it.
        catalog: the tier gate.
        stores: people, their sessions and their grants.
        sessions: the browsers that are signed in.
        accounts: what people may do with their accounts.
        tokens: personal API tokens.
        resolver: decides tiers, and says why.
        consents: what OAuth clients ask people for.
        attempts: how often one peer may try to sign in.
        sign_in: ``sign_in:`` of ``portal.yaml``.
        wallet: proves wallets, or None where it is turned off.
        redirects: proves accounts elsewhere, by the path below ``/signin/``: ``github``,
            ``oidc/SLUG``; in the order of their buttons.
        believed: how long a role is believed before it is looked up again.
        offers: what the plugins that are open offer, by their names.
        missing: says what somebody does not see, and why.
        archive: writes what people take with them.
        calls_of: the newest calls that a person has made, at most so many.
        run: takes a call of a tool through the pipeline.
        limits: counts the calls of each caller; None where nothing does.
        asks_first: whether each run of a tool, by its key, waits for a person's yes.
        waiting: counts what waits for somebody's word (:mod:`.waiting`).
        deleted: told that somebody deleted their account; returns at once.
        connected: told of each connection that a person has made, as ``connect_purpose`` says it.
        chats: whether there is an assistant to chat with.
        tried: told of each attempt to sign in: by which way, and how it ended.
    """

    name: str
    site: Site
    key: bytes
    catalog: Catalog
    stores: Stores
    sessions: BrowserSessions
    accounts: AccountService
    tokens: ApiTokens
    resolver: Resolver
    consents: Consents
    attempts: Limiter
    sign_in: SignIn
    wallet: WalletSignIn | None = None
    redirects: Mapping[str, RedirectSignIn] = field(default_factory=dict)
    believed: timedelta = timedelta(minutes=5)
    offers: Mapping[str, Offer] = field(default_factory=dict)
    missing: Callable[[Caller], Awaitable[Sequence[Absent]]] = _nothing
    archive: Archive = field(default_factory=Archive)
    calls_of: Callable[[str, int], Awaitable[Sequence[AuditRecord]]] = _no_calls
    run: Callable[[Call], Awaitable[Outcome]] = _run_nothing
    limits: CallLimits | None = None
    asks_first: Callable[[str], bool] = lambda key: False
    waiting: Callable[[Identity, Caller], Awaitable[int]] = _no_one_waits
    deleted: Callable[[], None] = lambda: None
    connected: Callable[[str], None] = lambda purpose: None
    chats: bool = False
    tried: Callable[[str, str], None] = lambda way, outcome: None
