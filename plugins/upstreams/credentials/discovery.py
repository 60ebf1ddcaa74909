"""Finds out where a server's members sign in (MCP authorization: RFC 9728, RFC 8414, OIDC)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plugins.upstreams.credentials.oauth_http import OAuthFailed, OAuthHttp

_PROBE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "ping",
    "params": {},
}
"""What is sent without a credential, to hear where to get one."""


@dataclass(frozen=True, slots=True)
class Issuer:
    """A server's authorization server.

    Attributes:
        issuer: exactly as it writes itself.
        resource: the server, as tokens for it name it (RFC 8707).
        metadata: what it says of itself.
        scope: what the server asks for, separated by spaces.
    """

    issuer: str
    resource: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    scope: str = ""

    def endpoint(self, name: str) -> str:
        """An address out of the metadata, such as ``token_endpoint``.

        Raises:
            OAuthFailed: it does not say it.
        """
        if not isinstance(url := self.metadata.get(name), str):
            raise OAuthFailed(f"The authorization server of the server publishes no {name}.")
        return url

    def says(self, name: str) -> bool:
        """Whether the metadata says yes to something."""
        return self.metadata.get(name) is True

    def methods(self) -> list[str]:
        """How clients may prove themselves at the token endpoint (RFC 8414, section 2)."""
        found = self.metadata.get("token_endpoint_auth_methods_supported")
        return [str(each) for each in found] if isinstance(found, list) else ["client_secret_basic"]


async def discover(http: OAuthHttp, server: str) -> Issuer:
    """Find the authorization server of a server.

    Args:
        http: asks.
        server: the server's MCP endpoint.

    Raises:
        OAuthFailed: there is none to be found, or it is not one that can be used safely.
    """
    from mcp.client.auth import utils

    challenge = (await http.post_json(server, _PROBE)).bearer
    named = challenge.get("resource_metadata")
    urls = utils.build_protected_resource_metadata_discovery_urls(named, server)
    resource = await _first(http, urls[:1] if named else urls)
    where, issuers = server, resource.get("authorization_servers")
    if resource:
        where = _checked_resource(resource, server)
    issuer = next((each for each in issuers or () if isinstance(each, str)), None)
    if issuer is None:
        # Before 2025-06-18 a server was its own authorization server.
        issuer = utils.build_oauth_authorization_server_metadata_discovery_urls(None, server)[0]
        issuer = issuer.removesuffix("/.well-known/oauth-authorization-server")
    metadata = await _metadata(http, issuer, server)
    scope = challenge.get("scope") or " ".join(_texts(resource.get("scopes_supported")))
    return Issuer(str(metadata["issuer"]), where, metadata, scope)


def _checked_resource(document: Mapping[str, Any], server: str) -> str:
    """What the server calls itself (RFC 9728, section 3.3): it must be the one that was asked."""
    from mcp.shared.auth_utils import check_resource_allowed

    named = document.get("resource")
    if not isinstance(named, str) or not check_resource_allowed(server, named):
        raise OAuthFailed("The server's metadata is about another resource, so it is not believed.")
    return named


async def _metadata(http: OAuthHttp, issuer: str, server: str) -> Mapping[str, Any]:
    from mcp.client.auth import utils

    urls = utils.build_oauth_authorization_server_metadata_discovery_urls(issuer, server)
    metadata = await _first(http, urls)
    named = metadata.get("issuer")
    if not isinstance(named, str) or named.rstrip("/") != issuer.rstrip("/"):
        raise OAuthFailed(
            "The authorization server has no metadata in its own name, so it is not believed."
        )
    if "S256" not in _texts(metadata.get("code_challenge_methods_supported")):
        raise OAuthFailed("The authorization server does not say that it takes PKCE with S256.")
    for name in ("authorization_endpoint", "token_endpoint"):
        if not http.allows(str(metadata.get(name))):
            raise OAuthFailed(f"The authorization server names no {name} that can be used.")
    return metadata


async def _first(http: OAuthHttp, urls: Iterable[str]) -> Mapping[str, Any]:
    """The first document there is; empty where there is none."""
    for url in urls:
        answer = await http.get(url)
        if answer.status == 200 and answer.content:
            return answer.content
    return {}


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
