"""Attacks on the portal as an authorization server, and on the consent that it asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from auth.oauth.consent import ConsentRequest
from auth.sealer import Sealer
from tests.access.attacks import (
    BASE,
    REDIRECT,
    Attacked,
    OAuthClient,
    attacked,
    opened,
    register,
    resealed,
)
from tests.gateway.surfaces.oauth.surface import query_of
from tests.gateway.surfaces.pages.browser import forms

EVIL = "https://evil.example/callback"


@pytest.fixture
async def portal() -> AsyncIterator[Attacked]:
    async with attacked() as portal:
        yield portal


@pytest.fixture
async def client(portal: Attacked) -> OAuthClient:
    return await register(portal)


async def grants(portal: Attacked) -> int:
    return (await portal.rows())["porch_grants"]


# Consent.


CHANGES = {
    "client_id": "https://evil.example/client.json",
    "client_name": "Your Bank",
    "client_uri": "https://evil.example/",
    "redirect_uri": EVIL,
    "explicit": False,
    "resource": f"{BASE}/mcp",
    "scope": ["public"],
    "challenge": "e" * 43,
    "state": "another",
    "base": "https://evil.example",
}


async def test_no_field_of_a_consent_request_can_be_changed_on_its_way(client: OAuthClient) -> None:
    assert CHANGES.keys() == ConsentRequest.__dataclass_fields__.keys()
    sealed = query_of((await client.authorize()).headers["location"])["request"]
    assert resealed(sealed) == sealed
    for field, value in CHANGES.items():
        assert opened(sealed)[field] != value
        changed = resealed(sealed, **{field: value})
        page = await client.browser.get(f"/consent?request={changed}")
        assert page.status_code == 400, field
        # Nor may the form of the honest page carry it.
        await client.browser.get(f"/consent?request={sealed}")
        answer = await client.browser.submit("/consent", {"answer": "allow", "request": changed})
        assert answer.status_code in {400, 403}, field
        assert "location" not in answer.headers
    assert await grants(client.portal) == 0


async def test_a_request_sealed_for_another_purpose_or_by_another_portal_is_no_consent(
    client: OAuthClient,
) -> None:
    sealed = query_of((await client.authorize()).headers["location"])["request"]
    values = opened(sealed)
    key = client.portal.who.key
    honest = Sealer(key, "consent").seal(values, 60)
    assert (await client.browser.get(f"/consent?request={honest}")).status_code == 200
    for forged in (
        Sealer(b"o" * 32, "consent").seal(values, 60),
        Sealer(key, "client").seal(values, 60),
        Sealer(key, "consent").seal(values, 60, "somebody"),
        Sealer(key, "consent").seal(values, -1),
        client.client_id,
    ):
        assert (await client.browser.get(f"/consent?request={forged}")).status_code == 400


async def test_the_consent_of_another_session_is_not_taken(
    portal: Attacked, client: OAuthClient
) -> None:
    """Mallory opens the page for her own client, and has Alice's browser send the form."""
    alice = portal.browser()
    await alice.sign_in()
    page = await client.consent()
    (form,) = [each for each in forms(page.text) if each.action == "/consent"]
    answer = await alice.post("/consent", {**form.fields, "answer": "allow"})
    assert (answer.status_code, "location" in answer.headers) == (403, False)
    assert await grants(portal) == 0


async def test_a_form_of_before_the_sign_in_does_not_count_after_it(
    portal: Attacked, client: OAuthClient
) -> None:
    page = await client.consent()
    (form,) = [each for each in forms(page.text) if each.action == "/consent"]
    await client.browser.submit("/signout")
    await client.browser.sign_in()
    answer = await client.browser.post("/consent", {**form.fields, "answer": "allow"})
    assert answer.status_code == 403
    assert await grants(portal) == 0


async def test_nothing_is_granted_without_the_person_pressing_allow(client: OAuthClient) -> None:
    """No repetition, no prompt parameter and no GET answers in the person's place."""
    await client.code()
    given = await grants(client.portal)
    for more in ({}, {"prompt": "none"}, {"answer": "allow"}, {"approve": "1"}):
        page = await client.consent(**more)
        assert page.status_code == 200
        assert "Allow “Garden Tools”" in page.text
    sealed = query_of((await client.authorize()).headers["location"])["request"]
    await client.browser.get(f"/consent?request={sealed}&answer=allow")
    assert await grants(client.portal) == given


# Where the answer goes.

NEAR = [
    EVIL,
    f"{REDIRECT}/",
    "https://client.example",
    "https://client.example/Callback",
    "https://client.example/callback/../callback2",
    "https://client.example/callback%2F",
    "https://client.example/callback%00",
    "https://client.example/callback?x=1",
    "https://client.example/callback#x",
    "https://client.example/callback#",
    "https://client.example:8443/callback",
    "https://client.example.evil.example/callback",
    "https://evil.client.example/callback",
    "https://evilclient.example/callback",
    "https://client.example@evil.example/callback",
    "https://user@client.example/callback",
    "https://client.example%40evil.example/callback",
    "https://client.example\\@evil.example/callback",
    "https:\\\\client.example/callback",
    "https:client.example/callback",
    "http://client.example/callback",
    "//client.example/callback",
    "/callback",
    "https://client.example/callback ",
    "https://client.example/callback\r\nX: y",
    "https://client.example/call\tback",
    "https://cl\u0131ent.example/callback",
    "javascript:alert(1)//https://client.example/callback",
    "data:text/html,x",
    "",
]


@pytest.mark.parametrize("number", range(len(NEAR)))
async def test_no_answer_goes_to_a_redirect_uri_that_is_not_registered(
    client: OAuthClient, number: int
) -> None:
    """An address is either refused, or the answer goes to the registered one."""
    given = NEAR[number]
    answer = await client.authorize(redirect_uri=given)
    if answer.status_code == 302:
        sealed = query_of(answer.headers["location"])["request"]
        assert opened(sealed)["redirect_uri"] == REDIRECT
    else:
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "text/html" in answer.headers["content-type"]


async def test_an_error_is_not_sent_to_a_redirect_uri_that_is_not_registered(
    client: OAuthClient,
) -> None:
    """The portal is no open redirector by way of a request that is wrong elsewhere, too."""
    for wrong in (
        {"response_type": "token"},
        {"code_challenge": None},
        {"resource": EVIL},
        {"scope": "\x00"},
    ):
        answer = await client.authorize(redirect_uri=EVIL, **wrong)
        assert (answer.status_code, "location" in answer.headers) == (400, False)


@pytest.mark.parametrize(
    ("registered", "given", "good"),
    [
        ("http://127.0.0.1:4000/cb", "http://127.0.0.1:5000/cb", True),
        ("http://localhost/cb", "http://localhost:5000/cb", True),
        ("http://[::1]/cb", "http://[::1]:5000/cb", True),
        ("http://127.0.0.1:4000/cb", "http://localhost:4000/cb", False),
        ("http://127.0.0.1:4000/cb", "http://127.0.0.2:4000/cb", False),
        ("http://127.0.0.1:4000/cb", "http://127.0.0.1.evil.example/cb", False),
        ("http://127.0.0.1:4000/cb", "http://127.0.0.1:4000@evil.example/cb", False),
        ("http://127.0.0.1:4000/cb", "http://127.0.0.1:4000/cb/x", False),
        ("http://127.0.0.1:4000/cb", "https://127.0.0.1:4000/cb", False),
        ("https://client.example/cb", "https://client.example:444/cb", False),
        ("cursor://cb", "cursor://cb/evil", False),
        ("cursor://cb", "cursor2://cb", False),
    ],
)
async def test_only_the_port_of_a_loopback_listener_may_differ(
    portal: Attacked, registered: str, given: str, good: bool
) -> None:
    client = await register(portal, portal.browser(), redirect_uris=[registered])
    answer = await client.authorize(redirect_uri=given)
    assert answer.status_code == (302 if good else 400)


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://client.example/x",
        "http://client.example/cb",
        "http://192.168.1.1/cb",
        "https://client.example/cb#x",
        "https://user:pass@client.example/cb",
        "https://",
        "/cb",
        "//client.example/cb",
        "ms-settings:x",
        "https://client.example/" + "x" * 500,
    ],
)
async def test_no_client_registers_a_redirect_uri_that_a_browser_would_run_or_leak(
    portal: Attacked, uri: str
) -> None:
    asked = {"redirect_uris": [uri], "token_endpoint_auth_method": "none"}
    answer = await portal.client().post("/register", json=asked)
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_redirect_uri", "invalid_client_metadata"}
