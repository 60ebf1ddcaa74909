"""Every form: only the person, from one of our pages, in the session that it was shown to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from auth.sign_in.oidc import OidcSignIn
from gateway.contract import Caller, Connection, Connections, Departure, Offer, Place
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import GITHUB, PagesPortal, open_pages

ORIGIN = {"origin": "http://127.0.0.1:8321", "sec-fetch-site": "same-origin"}
FORMS = {
    "/signout": {},
    "/signin/wallet": {"message": "m", "signature": "0x"},
    "/signin/oidc/example": {"next": "/account"},
    "/account/unlink": {"subject": GITHUB.subject},
    "/account/tokens": {"name": "a", "ceiling": "members", "days": "30"},
    "/account/tokens/revoke": {"id": "x"},
    "/account/clients/revoke": {"id": "x"},
    "/account/connections/connect": {"plugin": "post", "name": "box"},
    "/account/connections/disconnect": {"plugin": "post", "name": "box"},
    "/account/sign-out-everywhere": {},
    "/account/delete": {"word": "delete"},
    "/consent": {"answer": "allow"},
}


async def _listed(caller: Caller) -> list[Connection]:
    return [Connection("box", "connected")]


async def _begin(name: str, caller: Caller, place: Place) -> Departure:
    return Departure("https://box.example/authorize")


async def _finish(*_: object) -> None:
    return None


async def _end(*_: object) -> None:
    raise AssertionError("A form that was not ours has disconnected somebody.")


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncIterator[PagesPortal]:
    nobody = OidcSignIn("Example ID", "http://127.0.0.1:9", "portal")
    offers = {"post": Offer(connections=Connections(_listed, _begin, _finish, _end))}
    async with open_pages(tmp_path, redirects={"oidc/example": nobody}, offers=offers) as portal:
        yield portal


async def test_every_form_is_tested(portal: PagesPortal) -> None:
    routes = [route for route in portal.app.routes if isinstance(route, Route)]
    posted = {route.path for route in routes if "POST" in (route.methods or ())}
    assert posted - {"/signin/oidc/example/logout"} == set(FORMS)  # no form: a provider calls it


async def _mark(browser: Browser, portal: PagesPortal, action: str) -> dict[str, str]:
    """The hidden fields of a form, from a page that shows it."""
    for path in ("/account", "/signin?link=1", f"/consent?request={portal.asked()}"):
        page = await browser.get(path)
        for each in forms(page.text):
            if each.action == action and each.method == "post":
                return each.fields
    return {}


@pytest.fixture
async def signed_in(browser: Browser, portal: PagesPortal) -> Browser:
    """Someone who has everything that the forms could take away."""
    await browser.sign_in()
    (person,) = [person async for person in portal.stores.people.everyone()]
    await portal.stores.people.link(person.id, GITHUB)
    await portal.connect_client(person.id)
    await browser.get("/account")
    fields = {"name": "kept", "ceiling": "members", "days": "30"}
    await browser.submit("/account/tokens", fields)
    return browser


async def _untouched(browser: Browser, portal: PagesPortal) -> None:
    (person,) = [person async for person in portal.stores.people.everyone()]
    assert len(person.accounts) == 2
    assert len(await portal.parts.tokens.of(person.id)) == 1
    assert len(await portal.stores.grants.of(person.id, ended=True)) == 1
    assert (await browser.get("/account")).status_code == 200


@pytest.mark.parametrize("action", FORMS)
async def test_a_form_that_is_forged_changes_nothing(
    signed_in: Browser, portal: PagesPortal, browse: Opening, action: str
) -> None:
    good = {**await _mark(signed_in, portal, action), **FORMS[action]}
    assert good["csrf"]
    stranger = browse(portal)
    await stranger.sign_in()
    theirs = await _mark(stranger, portal, "/signout")
    other = await _mark(
        signed_in, portal, "/signout" if action != "/signout" else "/account/tokens"
    )
    attacks: dict[str, dict[str, Any]] = {
        "no mark": {**good, "csrf": ""},
        "a made-up mark": {**good, "csrf": "A" * 43},
        "an altered mark": {**good, "csrf": good["csrf"][:-1] + "é"},
        "another person's mark": {**good, "csrf": theirs["csrf"]},
        "another form's mark": {**good, "csrf": other["csrf"]},
        "two marks": {**good, "csrf": [good["csrf"], good["csrf"]]},
    }
    for attack, fields in attacks.items():
        answer = await signed_in.post(action, fields)
        assert answer.status_code == 403, attack
        assert "out of date" in answer.text, attack


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:8321", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://127.0.0.1:8321"},
        {"origin": "http://127.0.0.1:8321.evil.example"},
    ],
)
async def test_a_form_from_elsewhere_changes_nothing(
    signed_in: Browser, portal: PagesPortal, headers: dict[str, str]
) -> None:
    for action, fields in FORMS.items():
        good = {**await _mark(signed_in, portal, action), **fields}
        answer = await signed_in.post(action, good, headers)
        assert answer.status_code == 403
        assert "not sent from here" in answer.text
    await _untouched(signed_in, portal)


@pytest.mark.parametrize("action", FORMS)
async def test_a_form_is_never_a_link(signed_in: Browser, portal: PagesPortal, action: str) -> None:
    await signed_in.get(action)
    await _untouched(signed_in, portal)


@pytest.mark.parametrize("headers", [ORIGIN, {"origin": ORIGIN["origin"]}])
async def test_a_form_of_ours_is_taken(signed_in: Browser, headers: dict[str, str]) -> None:
    await signed_in.get("/account")
    mark = forms(signed_in.page.text)[0].fields if signed_in.page else {}
    assert (await signed_in.post("/signout", mark, headers)).status_code == 303


async def test_a_browser_that_says_only_where_it_is_going_is_taken(signed_in: Browser) -> None:
    await signed_in.get("/account")
    mark = forms(signed_in.page.text)[0].fields if signed_in.page else {}
    headers = {"sec-fetch-site": "same-origin"}
    assert (await signed_in.post("/signout", mark, headers)).status_code == 303


async def test_what_is_too_large_or_no_form_is_refused(signed_in: Browser) -> None:
    send = signed_in.client.post
    large = await send("/signout", content=b"a=" + b"b" * 70_000, headers=ORIGIN)
    assert large.status_code == 413
    many = await send("/signout", content=b"a=1&" * 400, headers=ORIGIN)
    assert many.status_code == 400
    garbled = await send("/signout", content=b"\xff\xfe=\xff", headers=ORIGIN)
    assert garbled.status_code == 400
    encoded = await send("/signout", content=b"csrf=%FF", headers=ORIGIN)
    assert encoded.status_code == 400


async def test_an_answer_to_a_form_is_a_redirection(
    signed_in: Browser, portal: PagesPortal
) -> None:
    for action, fields in FORMS.items():
        mark = await _mark(signed_in, portal, action)
        if not mark:
            continue  # an earlier form has ended the session
        answer = await signed_in.post(action, {**mark, **fields})
        assert answer.status_code == 303, action
        assert answer.headers["cache-control"] == "no-store"
