"""Attacks with nonsense: no parameter of any route of access makes the portal fail."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import quote_from_bytes, urlencode

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.limits.limiter import Limiter
from tests.access.attacks import (
    EVERY_WAY,
    REDIRECT,
    TOKEN_NAMES,
    Attacked,
    attacked,
    register,
)
from tests.examples import examples
from tests.gateway.surfaces.oauth.surface import pkce
from tests.gateway.surfaces.pages.browser import Browser, forms

pytestmark = [pytest.mark.heavy, pytest.mark.one_database]

EXAMPLES = settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))


class Target:
    """A portal in a thread of its own, somebody who is signed in there, and a client's id."""

    def __init__(self, blocking: BlockingPortal, portal: Attacked) -> None:
        self.blocking = blocking
        self.portal = portal
        self.http = portal.client()
        self.browser: Browser = blocking.call(self._signed_in)
        self.client_id: str = blocking.call(self._registered)

    async def _signed_in(self) -> Browser:
        browser = self.portal.browser()
        await browser.sign_in()
        return browser

    async def _registered(self) -> str:
        return (await register(self.portal, self.browser)).client_id

    def send(
        self, method: str, path: str, *, signed_in: bool = False, **request: Any
    ) -> httpx2.Response:
        """Send a request; anything but a failure of the portal is an answer."""
        client = self.browser.client if signed_in else self.http

        async def sent() -> httpx2.Response:
            return await client.request(method, path, **request)

        answer = self.blocking.call(sent)
        assert answer.status_code < 500, f"{method} {path[:200]} {request}: {answer.text[:300]}"
        return answer

    def marks(self) -> dict[str, str]:
        """The marks of the forms on the account page and the sign-in page."""

        async def shown() -> str:
            pages = [await self.browser.get(path) for path in ("/account", "/signin?link=1")]
            return "".join(page.text for page in pages)

        return {
            form.action: form.fields["csrf"]
            for form in forms(self.blocking.call(shown))
            if "csrf" in form.fields
        }


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("PORCH_TEST_SECRET", "the-secret")
        config: dict[str, Any] = {"sign_in": EVERY_WAY}
        if request.param == "postgresql":
            url = request.getfixturevalue("postgres_url")
            config["services"] = {"database": stack.enter_context(_database(url))}
        blocking = stack.enter_context(start_blocking_portal())
        portal = stack.enter_context(blocking.wrap_async_context_manager(attacked(**config)))
        _lift_limits(portal)
        yield Target(blocking, portal)


@contextmanager
def _database(url: str) -> Iterator[str]:
    """An empty database, dropped at the end; its address as ``portal.yaml`` has it."""
    server, name = url.replace("+asyncpg", ""), f"porch_{uuid.uuid4().hex}"

    async def run(statement: str) -> None:
        import asyncpg

        connection = await asyncpg.connect(server)
        await connection.execute(statement)
        await connection.close()

    asyncio.run(run(f'CREATE DATABASE "{name}"'))
    yield f"{server.rpartition('/')[0]}/{name}"
    asyncio.run(run(f'DROP DATABASE "{name}" WITH (FORCE)'))


def _lift_limits(portal: Attacked) -> None:
    """So that what is behind the limits is reached; the limits have tests of their own."""
    wide = Limiter(10**9, 60)
    for route in portal.portal.app.router.routes:
        for cell in _cells(getattr(route, "endpoint", None)):
            for holder in (cell, getattr(cell, "_frame", None), getattr(cell, "_parts", None)):
                parts = getattr(holder, "parts", holder)
                if hasattr(parts, "attempts"):
                    object.__setattr__(parts, "attempts", wide)
                if parts is not None and hasattr(parts, "limits"):
                    for name in ("authorize", "register", "fail"):
                        object.__setattr__(parts.limits, name, wide)


def _cells(function: Any) -> Iterator[Any]:
    """What a route's function holds on to, however deep."""
    for cell in getattr(function, "__closure__", None) or ():
        held = cell.cell_contents
        yield getattr(held, "__self__", held)
        if callable(held):
            yield from _cells(held)


ODD = [
    "\0",
    "a\0b",
    "\r\nX: y",
    "\ud7ff\ue000\uffff",
    "\U0010ffff",
    "\u202e\u2066\u200b",
    "é" * 300,
    "%00",
    "%",
    "' OR 1=1 --",
    "{{7*7}}${7*7}#{7*7}",
    "../../etc/passwd",
    "9" * 400,
    "-1",
    "1e999",
    "NaN",
    "https://[",
    "https://[::1",
    "https://x:99999999/y",
    "https://\0/x",
    "https://" + "a" * 300 + "/x",
    "https://xn--/x",
    "http://localhost:x/",
    "//",
    "\\",
    ".",
    "a.b",
    "a.b.c",
    "porch_" + "x" * 43,
    "MTIzNA.x",
]
TEXT = st.one_of(st.sampled_from(ODD), st.text(max_size=40))
BYTES = st.one_of(TEXT.map(lambda text: text.encode("utf-8", "replace")), st.binary(max_size=40))


def encoded(values: Mapping[str, bytes]) -> str:
    """A query or form of whatever bytes."""
    return "&".join(f"{name}={quote_from_bytes(value)}" for name, value in values.items())


def some(*names: str) -> st.SearchStrategy[dict[str, bytes]]:
    """Some of these parameters, each with nonsense."""
    return st.dictionaries(st.sampled_from(names), BYTES, max_size=len(names))


def test_the_limits_hide_nothing_from_these_tests(target: Target) -> None:
    for path in ("/signin/wallet", "/authorize", "/signin/github/callback"):
        assert {target.send("GET", path).status_code for _ in range(65)}.isdisjoint({429}), path
    for path in ("/register", "/token"):
        assert {target.send("POST", path).status_code for _ in range(65)}.isdisjoint({429}), path


PAGES = {
    "/": ("x",),
    "/signin": ("next", "link"),
    "/signin/wallet": ("address", "chain", "next", "link"),
    "/signin/github/callback": ("state", "code", "error", "iss"),
    "/signin/oidc/provider/callback": ("state", "code", "error", "iss"),
    "/account": ("x",),
    "/account/export": ("x",),
    "/consent": ("request", "answer"),
    "/authorize": ("client_id", "redirect_uri", "state", "request", "response_type"),
    "/assets/wallet.js": ("v",),
    "/.well-known/jwks.json": ("x",),
    "/.well-known/oauth-authorization-server": ("x",),
}


@pytest.mark.parametrize("path", PAGES)
@EXAMPLES
@given(data=st.data(), signed_in=st.booleans(), json_=st.booleans())
def test_no_address_with_nonsense_in_it_is_a_failure(
    target: Target, path: str, data: st.DataObject, signed_in: bool, json_: bool
) -> None:
    query = data.draw(some(*PAGES[path]))
    accept = "application/json" if json_ else "text/html"
    target.send("GET", f"{path}?{encoded(query)}", signed_in=signed_in, headers={"accept": accept})


@EXAMPLES
@given(
    changed=some(
        "client_id",
        "redirect_uri",
        "response_type",
        "scope",
        "state",
        "code_challenge",
        "code_challenge_method",
        "resource",
        "nonce",
        "prompt",
    )
)
def test_no_authorization_that_is_almost_good_is_a_failure(
    target: Target, changed: dict[str, bytes]
) -> None:
    good = {
        "response_type": "code",
        "client_id": target.client_id,
        "redirect_uri": REDIRECT,
        "state": "x",
        "code_challenge": pkce()[1],
        "code_challenge_method": "S256",
    }
    values = {name: text.encode() for name, text in good.items()} | changed
    answer = target.send("GET", f"/authorize?{encoded(values)}")
    if answer.status_code == 302 and "/consent?" in answer.headers["location"]:
        # What was let through is shown, and answered, by somebody who is signed in.
        page = target.send("GET", answer.headers["location"], signed_in=True)
        assert page.status_code == 200
        (form,) = [each for each in forms(page.text) if each.action == "/consent"]
        own = {"origin": target.portal.base, "sec-fetch-site": "same-origin"}
        fields = {**form.fields, "answer": "allow"}
        allowed = target.send("POST", "/consent", signed_in=True, data=fields, headers=own)
        assert allowed.status_code == 303
        assert allowed.headers["location"].startswith(REDIRECT)


@pytest.mark.parametrize("path", ["/token", "/revoke"])
@pytest.mark.parametrize("grant_type", ["authorization_code", "refresh_token"])
@EXAMPLES
@given(changed=some(*TOKEN_NAMES), header=st.one_of(st.none(), BYTES))
def test_no_token_request_with_nonsense_in_it_is_a_failure(
    target: Target, path: str, grant_type: str, changed: dict[str, bytes], header: bytes | None
) -> None:
    values = {"grant_type": grant_type.encode(), "client_id": target.client_id.encode()}
    values |= {"code": b"x", "refresh_token": b"x", "token": b"x"}
    values |= {"code_verifier": b"x" * 43} | changed
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"application/x-www-form-urlencoded"),
    ]
    if header is not None:
        headers.append((b"authorization", b"Basic " + base64.b64encode(header)))
    target.send("POST", path, content=encoded(values), headers=headers)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
METADATA = (
    "client_name",
    "redirect_uris",
    "token_endpoint_auth_method",
    "grant_types",
    "response_types",
    "scope",
    "client_uri",
    "logo_uri",
    "jwks",
    "software_id",
)


@EXAMPLES
@given(
    metadata=st.dictionaries(st.sampled_from(METADATA), VALUES, max_size=6),
    uris=st.lists(TEXT, max_size=3),
)
def test_no_registration_with_nonsense_in_it_is_a_failure(
    target: Target, metadata: dict[str, Any], uris: list[str]
) -> None:
    for asked in (metadata, {"redirect_uris": [REDIRECT], **metadata}, {"redirect_uris": uris}):
        content = json.dumps(asked, ensure_ascii=True)
        answer = target.send("POST", "/register", content=content)
        if answer.status_code == 201:
            client_id = answer.json()["client_id"]
            target.send("GET", "/authorize?" + urlencode({"client_id": client_id}))


@EXAMPLES
@given(body=st.one_of(st.binary(max_size=200), st.sampled_from([b'{"client_name":"\\ud800"}'])))
@pytest.mark.parametrize("path", ["/register", "/token", "/revoke", "/authorize"])
def test_no_body_of_nonsense_is_a_failure(target: Target, path: str, body: bytes) -> None:
    for kind in ("application/json", "application/x-www-form-urlencoded", "\xff"):
        headers = [(b"content-type", kind.encode("latin-1"))]
        target.send("POST", path, content=body, headers=headers)


FORMS = (
    "/account/tokens",
    "/account/tokens/revoke",
    "/account/clients/revoke",
    "/account/unlink",
    "/signin/wallet",
    "/signin/github",
    "/signin/oidc/provider",
)
FIELDS = ("name", "days", "ceiling", "tool", "id", "subject", "message", "signature", "next")


@pytest.mark.parametrize("path", FORMS)
@EXAMPLES
@given(data=st.data())
def test_no_form_of_ours_with_nonsense_in_it_is_a_failure(
    target: Target, path: str, data: st.DataObject
) -> None:
    from auth.sealer import Sealer

    session = target.browser.client.cookies["porch_session"]
    mark = Sealer(target.portal.who.key, "csrf").mark(f"session:{session}\n{path}\n")
    values = {"days": b"30", "ceiling": b"members", "csrf": mark.encode()}
    values |= data.draw(some(*FIELDS))
    headers = {
        "origin": target.portal.base,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
    }
    answer = target.send("POST", path, signed_in=True, content=encoded(values), headers=headers)
    assert answer.status_code in {303, 400, 403, 429}


@EXAMPLES
@given(token=BYTES, agent=BYTES, cookie=BYTES, origin=BYTES, name=st.sampled_from(["", "session"]))
def test_no_header_of_nonsense_is_a_failure(
    target: Target, token: bytes, agent: bytes, cookie: bytes, origin: bytes, name: str
) -> None:
    headers = [
        (b"authorization", b"Bearer " + token),
        (b"user-agent", agent),
        (b"cookie", f"porch_{name}=".encode() + cookie),
        (b"origin", origin),
        (b"accept", agent),
    ]
    for path in ("/mcp", "/account", "/authorize", "/api/v1/garden/beds/north"):
        target.send("GET", path, headers=headers)
        target.send("GET", path, headers=headers[1:3])
        target.send("GET", path, headers=headers[3:])


@EXAMPLES
@given(claims=st.dictionaries(st.text(max_size=10), VALUES, max_size=5), sub=TEXT, name=TEXT)
def test_no_claim_of_a_providers_breaks_what_is_shown(
    target: Target, claims: dict[str, Any], sub: str, name: str
) -> None:
    """What a provider says of its people is theirs to choose."""
    from auth import BadCredential
    from auth.issuers import oidc_claims

    try:
        account = oidc_claims.account(
            "https://id.example", {**claims, "sub": sub + uuid.uuid4().hex, "name": name}, at=1.0
        )
    except BadCredential:
        return

    async def linked() -> None:
        who = target.portal.who
        person = await who.accounts.sign_in(account)
        cookie = await who.sessions.begin(person.id, name)
        for path in ("/account", "/account/export", "/"):
            headers = {"cookie": f"porch_session={cookie}"}
            page = await target.http.get(path, headers=headers)
            assert page.status_code == 200, (path, page.text[:300])
        await who.accounts.delete(person.id)

    target.blocking.call(linked)
