"""One address before several portals, and the people and clients who come by it.

Which portal answers is the test's choice, request by request.
"""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

import asyncpg
import httpx2
from eth_account import Account as Key
from eth_account.messages import encode_defunct

from benchmarks.processes import await_port, free_port
from tests.faults.conftest import JSON, Place, Portal, modern
from tests.gateway.surfaces.oauth.surface import pkce, query_of
from tests.gateway.surfaces.pages.browser import forms
from tests.servers import readiness

PUBLIC = "https://portal.example.org"
REDIRECT = "http://127.0.0.1:3118/callback"
NAVIGATES = {"accept": "text/html,application/xhtml+xml", "sec-fetch-site": "none"}
PATIENCE = 60.0
PROVES = {"get_document": "members", "list_groups": "public"}
"""The tool that shows a caller's tier by being listed, highest first."""
TIERS = """
default: members
items:
  knowledge: open
  knowledge/list_groups: public
  knowledge/get_document: members
access:
  public: {{any_of: [signed_in]}}
  members: {{any_of: [{{address: "{address}"}}]}}
"""
"""A ``tiers.yaml`` in which one wallet makes a member, and any other is signed in."""

_peers = itertools.count(1)


def serve(place: Place, data: str = "data", **environment: str) -> Portal:
    """Start a portal with a public address; it may not be ready yet."""
    port = free_port()
    portal = place.serve("--port", str(port), "--data", str(place.root / data), **environment)
    try:
        await_port(portal.process, port)
    except RuntimeError as error:
        error.add_note(portal.printed)
        raise
    return portal


def is_ready(portal: Portal) -> bool:
    """Whether a portal says so; of a public one nobody hears more."""
    return readiness.is_ready(portal.url)


@contextmanager
def empty_database(address: str) -> Iterator[str]:
    """The URL of an empty database of the PostgreSQL server at an address."""
    server = address.replace("+asyncpg", "")
    name = f"porch_{uuid.uuid4().hex}"

    def execute(statement: str) -> None:
        async def run() -> None:
            connection = await asyncpg.connect(server)
            await connection.execute(statement)
            await connection.close()

        asyncio.run(run())

    execute(f'CREATE DATABASE "{name}"')
    # A commit need not reach the disk: what a power cut would lose, no test looks for.
    execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        execute(f'DROP DATABASE "{name}" WITH (FORCE)')


class Running(Protocol):
    """A portal that runs."""

    @property
    def url(self) -> str:
        """Where it listens."""


class Balancer(httpx2.BaseTransport):
    """What holds the certificate and hands requests on, to a portal below a path without it.

    Attributes:
        portal: who answers next.
        prefix: the path that is taken away.
    """

    def __init__(self, portal: Running, prefix: str = "") -> None:
        self.portal = portal
        self.prefix = prefix
        self._peer = f"192.0.2.{next(_peers) % 250}"
        self._forward = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Hand a request on; the host at the root knows nothing but what is well-known."""
        path = request.url.raw_path.decode()
        if not path.startswith(("/.well-known/", self.prefix + "/")):
            return httpx2.Response(404, text="The host has no such page.")
        target = httpx2.URL(self.portal.url).copy_with(
            raw_path=path.removeprefix(self.prefix).encode()
        )
        forwarded = {"x-forwarded-for": self._peer, "x-forwarded-proto": "https"}
        headers = {**dict(request.headers), **forwarded}
        onward = httpx2.Request(
            request.method,
            target,
            headers=headers,
            content=request.read(),
            extensions=request.extensions,
        )
        return self._forward.handle_request(onward)

    def close(self) -> None:
        """Let go of the connections."""
        self._forward.close()


class Member:
    """Someone with a browser, a wallet and programs of their own.

    Args:
        portal: which portal answers first.
        base: the portal's public address.

    Attributes:
        http: the browser.
        key: the wallet.
    """

    def __init__(self, portal: Running, base: str = PUBLIC) -> None:
        self.base = base
        self.key = Key.create()
        self._balancer = Balancer(portal, urlsplit(base).path)
        self.http = httpx2.Client(
            transport=self._balancer, headers={"user-agent": "Test Browser"}, timeout=PATIENCE
        )

    def __enter__(self) -> Member:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def go_to(self, portal: Running) -> None:
        """Everything goes to this portal from now on."""
        self._balancer.portal = portal

    @contextmanager
    def at(self, portal: Running) -> Iterator[Member]:
        """Everything goes to this portal while the block lasts."""
        before, self._balancer.portal = self._balancer.portal, portal
        try:
            yield self
        finally:
            self._balancer.portal = before

    # Pages.

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Open a page, by a path below the base or a whole address."""
        return self.http.get(self.url(path), headers={**NAVIGATES, **headers})

    def submit(
        self, page: httpx2.Response, action: str, number: int = 0, **fields: str
    ) -> httpx2.Response:
        """Send a form of a page, with what the person fills in."""
        address = urlsplit(self.base).path + action
        found = [form for form in forms(page.text) if form.action == address]
        assert found, f"The page has no form for {address}: {page.text[:3000]}"
        return self.send(action, {**found[number].fields, **fields})

    def send(self, action: str, fields: Mapping[str, str]) -> httpx2.Response:
        """Send a form as a browser does."""
        url = urlsplit(self.base)
        own = {"origin": f"{url.scheme}://{url.netloc}", "sec-fetch-site": "same-origin"}
        return self.http.post(self.url(action), data=fields, headers=NAVIGATES | own)

    def url(self, path: str) -> str:
        """The address of a path below the base."""
        return path if path.startswith("http") else self.base + path

    def signed(self, page: httpx2.Response, key: Any = None) -> dict[str, str]:
        """The fields of the wallet's form of a page, signed."""
        key = key or self.key
        asked = self.http.get(
            self.url("/signin/wallet"),
            params={"address": key.address, "chain": "1"},
            headers={"accept": "application/json"},
        )
        message = asked.json()["message"]
        signature = key.sign_message(encode_defunct(text=message)).signature.hex()
        address = urlsplit(self.base).path + "/signin/wallet"
        form = next(form for form in forms(page.text) if form.action == address)
        return {**form.fields, "message": message, "signature": "0x" + signature}

    def sign_in(self, following: str = "/account", key: Any = None, link: str = "") -> None:
        """Prove the wallet, and be signed in."""
        page = self.get(f"/signin?next={following}&link={link}")
        answer = self.send("/signin/wallet", self.signed(page, key))
        assert answer.status_code == 303, answer.text

    def is_signed_in(self) -> bool:
        """Whether the account page is shown."""
        return self.get("/account").status_code == 200

    def api_token(self, name: str = "script") -> str:
        """A new API token of theirs, as the page shows it."""
        made = self.submit(
            self.get("/account"), "/account/tokens", name=name, ceiling="members", days="30"
        )
        assert made.status_code == 303, made.text
        shown = self.get("/account").text
        start = shown.index("porch_", shown.index("Copy it now"))
        return shown[start : start + len("porch_") + 43]

    # Programs.

    def tier(self, token: str | None = None, path: str = "/mcp") -> str:
        """The tier that a token gives, ``refused`` for a 401, or ``unavailable`` for a 503."""
        request = modern("tools/list")
        headers = {**request["headers"], "authorization": f"Bearer {token}"}
        if token is None:
            del headers["authorization"]
        answer = self.http.post(self.url(path), json=request["json"], headers=headers)
        if answer.status_code == 401:
            return "refused"
        if answer.status_code == 503:
            return "unavailable"
        assert answer.status_code == 200, answer.text
        names = {tool["name"] for tool in answer.json()["result"]["tools"]}
        return next((tier for tool, tier in PROVES.items() if tool in names), "open")

    @contextmanager
    def listening(self, token: str) -> Iterator[Iterator[str]]:
        """The lines of a stream of changes, opened with a token."""
        about = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
        headers = {**JSON, "authorization": f"Bearer {token}"}
        begun = self.http.post(self.url("/mcp"), json=message, headers=headers)
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "accept": "text/event-stream"}
        with self.http.stream("GET", self.url("/mcp"), headers=headers | session) as stream:
            assert stream.status_code == 200
            yield stream.iter_lines()


@dataclass
class Client:
    """An OAuth client of a member, which is told nothing but the portal's address.

    Attributes:
        member: whose it is.
        client_id: its id, once it is registered.
    """

    member: Member
    client_id: str = ""
    redirect_uri: str = REDIRECT
    verifier: str = field(default="", repr=False)
    metadata: dict[str, Any] = field(default_factory=dict)

    def discover(self) -> dict[str, Any]:
        """The authorization server's metadata, found from the challenge of the members' address."""
        http, base = self.member.http, self.member.base
        request = modern("tools/list")
        headers = {n: v for n, v in request["headers"].items() if n != "authorization"}
        refused = http.post(f"{base}/members/mcp", json=request["json"], headers=headers)
        assert refused.status_code == 401, refused.text
        said = refused.headers["www-authenticate"]
        resource = said.partition('resource_metadata="')[2].partition('"')[0]
        issuer = http.get(resource).json()["authorization_servers"][0]
        url = urlsplit(issuer)
        address = f"{url.scheme}://{url.netloc}/.well-known/oauth-authorization-server"
        self.metadata = http.get(address + url.path.rstrip("/")).json()
        assert self.metadata["issuer"] == issuer
        return self.metadata

    def register(self) -> Client:
        """Register."""
        metadata = {
            "client_name": "Garden Tools",
            "redirect_uris": [self.redirect_uri],
            "token_endpoint_auth_method": "none",
        }
        answer = self.member.http.post(self._endpoint("registration"), json=metadata)
        assert answer.status_code == 201, answer.text
        self.client_id = answer.json()["client_id"]
        return self

    def authorize(self, **more: str) -> str:
        """Send the browser to the portal: the address of the consent page."""
        self.verifier, challenge = pkce()
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "its own",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **more,
        }
        answer = self.member.http.get(
            self._endpoint("authorization"), params=asked, headers=NAVIGATES
        )
        assert answer.status_code == 302, answer.text
        address: str = answer.headers["location"]
        return address

    def allow(self, consent: str) -> str:
        """The member agrees: the code."""
        page = self.member.get(consent)
        assert page.status_code == 200, (page.status_code, page.headers, page.text)
        answer = self.member.submit(page, "/consent", answer="allow")
        assert answer.status_code == 303, answer.text
        return query_of(answer.headers["location"])["code"]

    def exchange(self, code: str) -> httpx2.Response:
        """Ask for the tokens of a code."""
        return self.post(
            "token",
            grant_type="authorization_code",
            code=code,
            redirect_uri=self.redirect_uri,
            code_verifier=self.verifier,
        )

    def refresh(self, token: str) -> httpx2.Response:
        """Ask for new tokens."""
        return self.post("token", grant_type="refresh_token", refresh_token=token)

    def revoke(self, token: str) -> httpx2.Response:
        """Give a token back."""
        return self.post("revocation", token=token)

    def post(self, endpoint: str, **form: str) -> httpx2.Response:
        """Send a form to an endpoint, as this client."""
        form = {"client_id": self.client_id, **form}
        return self.member.http.post(self._endpoint(endpoint), data=form)

    def tokens(self) -> dict[str, Any]:
        """All of it."""
        if not self.client_id:
            self.register()
        answer = self.exchange(self.allow(self.authorize()))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def _endpoint(self, name: str) -> str:
        address: str = (self.metadata or self.discover())[f"{name}_endpoint"]
        return address
