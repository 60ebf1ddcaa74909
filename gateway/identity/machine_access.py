"""Builds what takes signed assertions from what ``portal.yaml`` declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from auth.account_service import AccountService
from auth.document_fetcher import Document
from auth.issuers.discovery import Discovery, Fetch
from auth.issuers.jwks import Jwks
from auth.oauth.authorization_server import MachineAccess
from auth.oauth.declared_clients import DeclaredClient, DeclaredClients
from auth.oauth.identity_assertions import AssertedGrants, AssertingIssuer, IdentityAssertions
from auth.oauth.machine_tokens import MachineTokens
from auth.stores import Stores
from auth.tiers import Tier
from auth.tokens.signing_keys import SigningKeys
from gateway.config import access
from gateway.config.addresses import TOKENS_PATH
from gateway.config.portal import Portal


def declared_clients(portal: Portal) -> Mapping[str, DeclaredClient]:
    """The clients that ``sign_in.clients`` declares, by their ids."""
    return {each.id: _client(each) for each in portal.config.sign_in.clients}


def machine_access(
    portal: Portal,
    tokens: MachineTokens,
    stores: Stores,
    accounts: AccountService,
    is_resource: Callable[[str], bool],
) -> MachineAccess | None:
    """What takes signed assertions at the token endpoint; None where nothing is declared.

    Args:
        portal: the configuration.
        tokens: issues the tokens that declared clients have for themselves.
        stores: keep grants, and which assertions were used.
        accounts: find the person of an account.
        is_resource: whether tokens may be for a path below the base.
    """
    config, site, clients = portal.config.sign_in, portal.config.site, tokens.clients
    if not clients and not config.identity_assertions:
        return None
    issuers = {each.issuer: _issuer(each) for each in config.identity_assertions}
    return MachineAccess(
        clients=DeclaredClients(clients, site, TOKENS_PATH, stores.spent),
        tokens=tokens,
        assertions=IdentityAssertions(issuers, site, is_resource, stores.spent),
        grants=AssertedGrants(stores.grants, accounts.recognise),
        by_themselves=any(each.tier is not None for each in clients.values()),
        for_people=bool(issuers),
    )


def machine_tokens(
    portal: Portal, clients: Mapping[str, DeclaredClient], keys: SigningKeys
) -> MachineTokens:
    """What issues and recognises the tokens of these clients."""
    config = portal.config
    return MachineTokens(keys, config.site, clients, config.sign_in.tokens.access.total_seconds())


def _client(declared: access.DeclaredClient) -> DeclaredClient:
    keys = Jwks(declared.jwks_url) if declared.jwks_url else _given(declared.jwks or {})
    return DeclaredClient(
        id=declared.id,
        name=declared.name or declared.id,
        keys=keys,
        algorithms=declared.algorithms,
        tier=None if declared.tier is None else Tier(declared.tier),
        tools=None if declared.tools is None else frozenset(declared.tools),
    )


def _issuer(declared: access.AssertingIssuer) -> AssertingIssuer:
    return AssertingIssuer(
        issuer=declared.issuer,
        keys=Jwks(declared.jwks_url or Discovery(declared.issuer).jwks_uri),
        algorithms=declared.algorithms,
        clients=None if declared.clients is None else frozenset(declared.clients),
    )


def _given(key_set: Mapping[str, Any]) -> Jwks:
    async def fetched(_: str) -> Document:
        return Document(key_set)

    fetch: Fetch = fetched
    return Jwks("portal.yaml", fetch)
