"""Builds authentication from its parts: credentials, ways to sign in, rules and facts.

``auth`` knows how; this file gives it the portal's configuration, database and signing key.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from auth import Authenticator, StaticTokens, Verifier
from auth.account_service import AccountService
from auth.chain.followers import Followers
from auth.facts import Facts
from auth.oauth.machine_tokens import MachineTokens
from auth.portal_addresses import Site
from auth.proof_expiry import ProofExpiry
from auth.resolver import Resolver
from auth.revocations import Revocations
from auth.rules import AccessRules
from auth.sessions import BrowserSessions
from auth.stores import Stores
from auth.tokens.access_tokens import AccessTokens
from auth.tokens.api_tokens import ApiTokens
from auth.tokens.assertions import Assertions
from auth.tokens.external_tokens import CloudflareAccess, ExternalTokens
from auth.tokens.signing_keys import SigningKeys
from gateway.config.portal import Portal
from gateway.identity.machine_access import declared_clients, machine_tokens
from gateway.identity.sign_in import SignInMethods
from gateway.identity.stores import open_stores, purge
from gateway.observability.logs import get_logger
from gateway.services import Services
from gateway.toolkit.background import background, every

PURGE_INTERVAL_SECONDS, FIRST_PURGE_SECONDS = 3600.0, 60.0
"""Seconds between two looks for what has long ended, and before the first."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Authentication:
    """The parts of authentication, for the surfaces and the command line.

    Attributes:
        site: the portal's own addresses.
        key: the portal's signing key.
        stores: people and their credentials.
        revocations: what must be looked up again.
        facts: what others know about people.
        followers: what makes facts forgotten when a chain says that they changed.
        resolver: the only place where a tier is decided.
        authenticator: turns requests into callers.
        accounts: what people may do with their accounts.
        sessions: browsers that are signed in to the portal's pages.
        api_tokens: personal and operators' tokens.
        access_tokens: tokens of OAuth clients.
        machine_tokens: tokens that declared clients have for themselves.
        keys: what signs them.
        methods: the ways to sign in.
    """

    site: Site
    key: bytes
    stores: Stores
    revocations: Revocations
    facts: Facts
    followers: Followers
    resolver: Resolver
    authenticator: Authenticator
    accounts: AccountService
    sessions: BrowserSessions
    api_tokens: ApiTokens
    access_tokens: AccessTokens
    machine_tokens: MachineTokens
    keys: SigningKeys
    methods: SignInMethods

    @property
    def assertions(self) -> Assertions:
        """What is said of callers to authorization servers of others."""
        return Assertions(self.keys, self.site)


@asynccontextmanager
async def open_authentication(
    portal: Portal,
    services: Services,
    rules: AccessRules,
    static: StaticTokens | None = None,
) -> AsyncGenerator[Authentication]:
    """Open it for as long as the block lasts.

    Args:
        portal: the configuration.
        services: the database and the signing key.
        rules: ``access:`` of ``tiers.yaml``.
        static: static tokens, for development.

    Raises:
        ConfigError: a secret that ``portal.yaml`` names cannot be read.
    """
    parts = _put_together(portal, services, rules, static)
    await parts.revocations.begin()
    database = services.shared_database
    purging = every(
        PURGE_INTERVAL_SECONDS,
        lambda: purge(database),
        _purge_failed,
        first_s=FIRST_PURGE_SECONDS,
    )
    try:
        async with background(parts.revocations.follow(), purging):
            yield parts
    finally:
        await parts.followers.close()
        await parts.api_tokens.settled()
        await parts.facts.close()
        await parts.methods.close()


def _put_together(
    portal: Portal, services: Services, rules: AccessRules, static: StaticTokens | None
) -> Authentication:
    key, config = services.signing_key(), portal.config
    stores = open_stores(services.shared_database)
    methods = SignInMethods(portal, config.site, key, stores)
    revocations, followers, facts = _what_is_remembered(methods, stores, config.roles.cache)
    proof_expiry = ProofExpiry(config.sign_in.wallet.contract_proof)
    claims_age = config.roles.claims.total_seconds()
    resolver = Resolver(rules, facts, claims_age=claims_age, proof_expiry=proof_expiry)
    accounts = AccountService(stores, revocations)
    keys, lives = SigningKeys(key), config.sign_in.tokens
    api_tokens = ApiTokens(
        stores.tokens, stores.people, revocations, lives.per_person, failed=_use_not_noted
    )
    access, grant = lives.access.total_seconds(), lives.grant.total_seconds()
    access_tokens = AccessTokens(
        keys, config.site, stores.people, stores.grants, access, grant_lifetime=grant
    )
    # Issuers that an admin named come first: to a portal on this machine any address here is its
    # own, and so would be that of an issuer beside it.
    machines = machine_tokens(portal, declared_clients(portal), keys)
    known = [api_tokens, *_named(portal, accounts, static), machines, access_tokens]
    return Authentication(
        site=config.site,
        key=key,
        stores=stores,
        revocations=revocations,
        facts=facts,
        followers=followers,
        resolver=resolver,
        authenticator=Authenticator(resolver, revocations, known, _assertions(portal, accounts)),
        accounts=accounts,
        sessions=BrowserSessions(stores.sessions, lives.session),
        api_tokens=api_tokens,
        access_tokens=access_tokens,
        machine_tokens=machines,
        keys=keys,
        methods=methods,
    )


def _what_is_remembered(
    methods: SignInMethods, stores: Stores, believed: timedelta
) -> tuple[Revocations, Followers, Facts]:
    """The stores, and the revocations that invalidate caches in every replica."""
    revocations = Revocations(
        stores.revocations,
        failed=_revocations_unread,
        on_revoked=lambda tags: facts.forget(followers.concerned(tags)),
    )
    followers = methods.followers(stores, lambda tags: revocations.revoke(*tags), _look_failed)
    facts = Facts(
        methods.sources(),
        believed.total_seconds(),
        unwatched=followers.unwatched,
        failed=_source_broke,
    )
    return revocations, followers, facts


def _named(
    portal: Portal, accounts: AccountService, static: StaticTokens | None
) -> Iterator[Verifier]:
    """What an admin names: static tokens, and issuers whose JWTs are taken as bearer tokens."""
    if static:
        yield static
    from auth.issuers.discovery import Discovery
    from auth.issuers.jwks import Jwks

    for each in portal.config.sign_in.accept:
        jwks = Jwks(each.jwks_url or Discovery(each.issuer).jwks_uri)
        yield ExternalTokens(each.issuer, each.audience, jwks, each.algorithms, accounts.recognise)


def _assertions(portal: Portal, accounts: AccountService) -> Mapping[bytes, Verifier]:
    """The verifiers of other headers; a header without one is not a credential."""
    cloudflare = portal.config.sign_in.cloudflare_access
    if cloudflare is None:
        return {}
    return {
        CloudflareAccess.HEADER: CloudflareAccess(
            cloudflare.team, cloudflare.audience, accounts.recognise
        )
    }


def _purge_failed(error: Exception) -> None:
    log.warning("purge_failed", reason=type(error).__name__)


def _source_broke(source: str, error: Exception) -> None:
    log.error("roles_source_broke", source=source, exc_info=error)


def _look_failed(chain: int, error: Exception) -> None:
    log.warning("chain_not_followed", chain=chain, reason=type(error).__name__)


def _use_not_noted(error: Exception) -> None:
    log.warning("token_unnoted", reason=type(error).__name__)


def _revocations_unread(error: Exception) -> None:
    log.warning(
        "revocations_unread", reason=type(error).__name__, effect="every credential is looked up"
    )
