"""The pages with real parts behind them: stores on SQLite, real seals, rules and wallets."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from auth.account_service import AccountService
from auth.callers import Account
from auth.facts import Facts, Question, Source, SourceUnavailable
from auth.oauth.consent import ConsentRequest, Consents
from auth.portal_addresses import Site
from auth.resolver import Resolver
from auth.revocations import Revocations
from auth.rules import AccessRules
from auth.sealer import Sealer
from auth.sessions import BrowserSessions
from auth.sign_in.redirects import RedirectSignIn
from auth.sign_in.wallet import WalletSignIn
from auth.stores import RefreshToken, Stores
from auth.tiers import Tier
from auth.tokens.api_tokens import ApiTokens
from gateway.catalog.catalog import Catalog
from gateway.catalog.missing_items import Absences
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.config.access import SignIn
from gateway.contract import Offer, Prompt, Tool
from gateway.identity.stores import open_stores
from gateway.limits.limiter import Limiter
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import open_database
from gateway.surfaces.pages import PageParts, Pages

KEY = b"k" * 32
LOCAL = "http://127.0.0.1:8321"
ORG = {"members": {"any_of": [{"claim": {"name": "groups", "value": "core"}}]}}


class SilentSource:
    """A source of roles that does not answer."""

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, Any]:
        raise SourceUnavailable("The RPC of chain 10 does not answer")


@dataclass(frozen=True, slots=True)
class PagesPortal:
    """The assembled pages.

    Attributes:
        app: the ASGI application.
        parts: what the pages are made of.
        stores: what they remember in.
        resolver: decides tiers.
        consents: what OAuth clients ask people for.
        tried: the attempts to sign in: the way and what came of each.
    """

    app: Starlette
    parts: PageParts
    stores: Stores
    resolver: Resolver
    consents: Consents
    tried: list[tuple[str, str]]

    def asked(self, **changes: Any) -> str:
        """A sealed consent request, as ``/authorize`` makes it."""
        request = {
            "client_id": "https://client.example.org/mcp.json",
            "client_name": "Example Client",
            "client_uri": None,
            "redirect_uri": "http://127.0.0.1:7777/callback",
            "explicit": True,
            "resource": f"{self.parts.site.url}/mcp",
            "scope": ("public", "members"),
            "challenge": "c" * 43,
            "state": "the-state",
            "base": self.parts.site.url,
        }
        return self.consents.seal(ConsentRequest(**{**request, **changes}))

    async def connect_client(self, person: str, **changes: Any) -> None:
        """Let a client finish connecting: consent, code and first refresh token."""
        request = self.consents.open(self.asked(**changes))
        await self.consents.approve(request, person)
        (grant,) = [g for g in await self.stores.grants.of(person, ended=True) if not g.used]
        end = datetime(2100, 1, 1, tzinfo=UTC)
        await self.stores.grants.add_refresh(RefreshToken(grant.id, end), f"digest-{grant.id}")


@asynccontextmanager
async def open_pages(
    data_dir: Path,
    url: str = LOCAL,
    *,
    rules: Mapping[str, Any] | None = None,
    sources: Mapping[str, Source] | None = None,
    redirects: Mapping[str, RedirectSignIn] | None = None,
    sign_in: Mapping[str, Any] | None = None,
    attempts: int = 1000,
    believed: float = 300,
    name: str = "The Commons",
    offers: Mapping[str, Offer] | None = None,
) -> AsyncGenerator[PagesPortal]:
    """Assemble the pages of a portal at an address."""
    config = SignIn.model_validate(sign_in or {})
    site = Site(url, local=url.startswith("http://"))
    database = open_database("sqlite", data_dir)
    owned = database.for_owner("gateway")
    await owned.migrate(MIGRATIONS)
    stores = open_stores(owned)
    revocations = Revocations(stores.revocations)
    await revocations.begin()
    facts = Facts(sources or {}, believed)
    resolver = Resolver(AccessRules.model_validate(rules or ORG), facts)
    consents = Consents(Sealer(KEY, "consent"), stores.grants)
    tokens = ApiTokens(stores.tokens, stores.people, revocations, config.tokens.per_person)
    wallet = WalletSignIn(
        site, Sealer(KEY, "wallet"), stores.spent, config.wallet.chains, f"Sign in to {name}."
    )
    tried: list[tuple[str, str]] = []
    there = catalog()
    parts = PageParts(
        name=name,
        site=site,
        key=KEY,
        catalog=there,
        missing=Absences(there, {}).visible_to,
        stores=stores,
        sessions=BrowserSessions(stores.sessions, config.tokens.session),
        accounts=AccountService(stores, revocations),
        tokens=tokens,
        resolver=resolver,
        consents=consents,
        attempts=Limiter(attempts, 60),
        sign_in=config,
        wallet=wallet if config.wallet.enabled else None,
        redirects=redirects or {},
        offers=offers or {},
        tried=lambda way, outcome: tried.append((way, outcome)),
    )
    try:
        yield PagesPortal(_app(parts), parts, stores, resolver, consents, tried)
    finally:
        await tokens.settled()
        await facts.close()
        await database.close()


def _app(parts: PageParts) -> Starlette:
    pages = Pages(parts)

    async def refused(request: Request, error: Any) -> Response:
        return pages.error_page(request, error.status_code, error.detail, "Look at the address.")

    return Starlette(routes=pages.routes(), exception_handlers={HTTPException: refused})


async def _run(*_: object) -> str:
    return ""


def catalog() -> Catalog:
    """Tools of each tier, one of them hidden."""
    rules = TierRules(
        (
            Rule("library/search", Tier.OPEN),
            Rule("library/ask", Tier.PUBLIC),
            Rule("library/draft", Tier.MEMBERS),
            Rule("library/prompt:research", Tier.OPEN),
            Rule("library/treasury", Tier.MEMBERS, hidden=True),
        )
    )
    made = Catalog(rules)
    made.add(
        "library",
        Offer(
            tools=[
                _tool(
                    "search",
                    "Search the library",
                    "Find documents by what they mean. Takes `words` and </code> of a `path/to",
                ),
                _tool("ask", "Ask a question", "Answers from the library, with sources."),
                _tool("draft", "Draft a proposal", "Writes the first version of a proposal."),
                _tool("treasury", "Move the treasury", "Nobody may know of it."),
            ],
            prompts=[Prompt("research", "Begin a piece of research.", _run)],
        ),
    )
    return made


def _tool(name: str, title: str, summary: str) -> Tool:
    return Tool(name, summary, _run, title=title, input_schema={"type": "object"})


GITHUB = Account("github:583231", "github", "octo-cat", None, {"login": "octo-cat"})
