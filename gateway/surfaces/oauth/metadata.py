"""The documents that tell clients how to sign in (RFC 8414 and RFC 9728).

The module imports ``mcp``, so it is imported only when the first document is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

from auth.oauth.authorization_server import MachineAccess
from auth.oauth.identity_assertions import PROFILE
from auth.oauth.sdk_client import SCOPES
from gateway.config.addresses import AUTHORIZATION_PATH, TOKENS_PATH
from gateway.surfaces.oauth.assertion_grants import grant_types

_CLIENT_AUTHENTICATION = ["none", "client_secret_post", "client_secret_basic"]


def server_metadata(base: str, machines: MachineAccess | None = None) -> dict[str, Any]:
    """The authorization server's metadata (RFC 8414, section 2).

    Args:
        base: the portal's address as the client sees it, which is the issuer.
        machines: what takes signed assertions, if anything does.
    """
    document = {
        "issuer": base,
        "authorization_endpoint": base + AUTHORIZATION_PATH,
        "token_endpoint": base + TOKENS_PATH,
        "registration_endpoint": f"{base}/register",
        "revocation_endpoint": f"{base}/revoke",
        "jwks_uri": f"{base}/.well-known/jwks.json",
        "service_documentation": f"{base}/",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
        "revocation_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
    if machines is not None:
        document |= _for_machines(document, machines)
    return _validated(OAuthMetadata, document)


def _for_machines(document: Mapping[str, Any], machines: MachineAccess) -> dict[str, Any]:
    """What the metadata says besides where clients or issuers are declared."""
    more: dict[str, Any] = {
        "grant_types_supported": [*document["grant_types_supported"], *grant_types(machines)]
    }
    if clients := machines.clients.clients:
        methods = [*document["token_endpoint_auth_methods_supported"], "private_key_jwt"]
        algorithms = sorted({name for each in clients.values() for name in each.algorithms})
        more["token_endpoint_auth_methods_supported"] = methods
        more["token_endpoint_auth_signing_alg_values_supported"] = algorithms
    if machines.for_people:
        more["authorization_grant_profiles_supported"] = [PROFILE]
    return more


def resource_metadata(base: str, resource: str, name: str) -> dict[str, Any]:
    """The metadata of one protected resource (RFC 9728, section 2).

    It names both scopes, though the specification of MCP wants the fewest. Many clients ask for
    exactly these at their first sign-in and for nothing ever after, and a scope here is a ceiling
    and no right: what the person may do is decided by the rules at each call. A client held to
    ``public`` would be of no use to a member, and safer for nobody.

    Args:
        base: the portal's address as the client sees it.
        resource: the resource's URL, exactly as the client uses it.
        name: what the portal is called.
    """
    document = {
        "resource": resource,
        "authorization_servers": [base],
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": name,
        "resource_documentation": f"{base}/",
    }
    return _validated(ProtectedResourceMetadata, document)


def _validated(
    model: type[OAuthMetadata] | type[ProtectedResourceMetadata], document: dict[str, Any]
) -> dict[str, Any]:
    # The model says whether the document is a good one. What is sent are our own texts: the
    # model would drop what it does not know, and clients compare issuers letter by letter.
    model.model_validate(document)
    return document
