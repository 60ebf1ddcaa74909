"""A portal below a path of its host, behind a proxy that takes the path and TLS away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Place, Portal, eventually
from tests.gateway.surfaces.oauth.surface import query_of
from tests.journeys.balancer import TIERS, Client, Member, is_ready, serve
from tests.servers.identity_provider import IdentityProvider

pytestmark = pytest.mark.heavy

BASE = "https://example.org/porch"
PORTAL = """
public_url: https://example.org/porch
trusted_proxies: [127.0.0.1]
services: {{embedding: none}}
sign_in:
  oidc:
    - {{name: Provider, issuer: "{issuer}", client_id: "{client}", client_secret: "env:SECRET"}}
"""
LINKS = re.compile(r"""\b(?:href|src|action|formaction|poster|data-[a-z-]+)="([/.?#][^"]*)\"""")


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def portal(
    provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Portal]:
    root: Path = tmp_path_factory.mktemp("below")
    place = Place(root)
    place.configure(PORTAL.format(issuer=provider.issuer, client=provider.client_id))
    place.page("garden", "Garden")
    (root / "config" / "tiers.yaml").write_text(TIERS.format(address="0x" + "11" * 20))
    portal = serve(place, SECRET=str(provider.client_secret))
    try:
        eventually(lambda: is_ready(portal), "it is ready")
        yield portal
        assert portal.stop() == 0
        assert "Traceback" not in portal.printed
    finally:
        portal.process.kill()
        portal.process.wait()


@pytest.fixture
def member(portal: Portal) -> Iterator[Member]:
    with Member(portal, BASE) as member:
        yield member


def test_a_client_finds_its_way_from_the_challenge_to_tokens(member: Member) -> None:
    client = Client(member)
    found = client.discover()
    assert found["issuer"] == BASE
    addresses = [value for name, value in found.items() if name.endswith(("_endpoint", "_uri"))]
    assert len(addresses) >= 5
    assert all(address.startswith(BASE + "/") for address in addresses)
    assert member.http.get(found["jwks_uri"]).json()["keys"]
    member.sign_in()
    tokens = client.tokens()
    for path in ("/mcp", "/members/mcp", "/mcp/knowledge"):
        assert member.tier(tokens["access_token"], path) == "public"
    assert client.refresh(tokens["refresh_token"]).is_success


@pytest.mark.parametrize("below", ["", "/mcp", "/members/mcp", "/mcp/knowledge"])
def test_metadata_is_at_the_hosts_root(member: Member, below: str) -> None:
    kind = "https://example.org/.well-known/"
    resource = member.http.get(f"{kind}oauth-protected-resource/porch{below}").json()
    assert resource["resource"] == BASE + below
    assert resource["authorization_servers"] == [BASE]
    server = member.http.get(f"{kind}oauth-authorization-server/porch{below}").json()
    assert server["issuer"] == BASE


@pytest.mark.parametrize("path", ["/", "/signin", "/account"])
def test_every_link_of_a_page_is_below_the_path(member: Member, path: str) -> None:
    if path != "/signin":
        member.sign_in()
    links = LINKS.findall(member.get(path).text)
    assert len(links) > 3
    for link in links:
        assert link.startswith(("/porch/", "#")), link
        if link.endswith((".css", ".js", ".svg")):
            assert member.get("https://example.org" + link).status_code == 200


def test_redirections_and_cookies_stay_below_the_path(member: Member) -> None:
    page = member.get("/signin")
    answer = member.send("/signin/wallet", member.signed(page))
    assert answer.headers["location"] == "/porch/account"
    cookies = [*page.headers.get_list("set-cookie"), *answer.headers.get_list("set-cookie")]
    assert {cookie.partition("=")[0] for cookie in cookies} == {
        "__Secure-porch",
        "__Secure-porch_browser",
    }
    for cookie in cookies:
        assert "; Path=/porch;" in cookie
        assert "; Secure" in cookie
        assert "; HttpOnly" in cookie
    account = member.get("/account")
    assert account.status_code == 200
    left = member.submit(account, "/signout")
    assert left.headers["location"] == "/porch/"
    assert member.get("/account").headers["location"] == "/porch/signin?next=/account"


def test_the_message_of_a_wallet_names_the_host_and_the_path(member: Member) -> None:
    message = member.signed(member.get("/signin"))["message"]
    assert message.startswith("example.org wants you to sign in")
    assert f"\nURI: {BASE}/signin\n" in message


def test_a_provider_is_told_to_come_back_below_the_path(
    member: Member, provider: IdentityProvider
) -> None:
    page = member.get("/signin")
    asked = member.submit(page, "/signin/oidc/provider")
    assert asked.status_code == 303, asked.text
    there = asked.headers["location"]
    assert there.startswith(provider.issuer)
    assert query_of(there)["redirect_uri"] == f"{BASE}/signin/oidc/provider/callback"


def test_a_form_of_another_page_of_the_same_host_is_refused(member: Member) -> None:
    member.sign_in()
    action = f"{BASE}/account/sign-out-everywhere"
    own = {"origin": "https://example.org", "sec-fetch-site": "same-origin"}
    assert member.http.post(action, data={"csrf": "x"}, headers=own).status_code == 403
    assert member.is_signed_in()


def test_a_token_for_one_endpoint_is_good_there_alone(member: Member) -> None:
    member.sign_in()
    client = Client(member).register()
    tokens = client.exchange(client.allow(client.authorize(resource=f"{BASE}/mcp/knowledge")))
    token = tokens.json()["access_token"]
    assert member.tier(token, "/mcp/knowledge") == "public"
    assert member.tier(token, "/mcp") == "refused"
