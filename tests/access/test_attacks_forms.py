"""Attacks on the pages, through the browser of somebody who is signed in there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from eth_account import Account as Key
from starlette.routing import Mount, Route

from tests.access.attacks import (
    BASE,
    SESSIONS,
    Attacked,
    attacked,
    person_of,
    register,
)
from tests.gateway.surfaces.pages.browser import NAVIGATES, Browser, forms

NO_FORMS = {"/mcp", "/members/mcp", "/mcp/{plugin}", "/token", "/register", "/revoke"}
"""What takes POST from programs. None of it knows a cookie; see the tests below."""
NO_FORMS |= {"/authorize", "/admin/tiers-diff", "/admin/credits", "/hooks/garden/weather"}
NO_FORMS |= {"/admin/payments"}
NO_FORMS |= {"/signin/oidc/provider/logout", "/mcp/server-card"}
NO_FORMS |= {"/{page:path}"}  # the forms of views: test_attacks_view_forms.py


def posted(routes: Any, above: str = "") -> Iterator[str]:
    """The path of every route that takes POST, however deep."""
    for route in routes:
        if isinstance(route, Mount):
            yield from posted(route.routes, above + route.path)
        elif isinstance(route, Route) and (route.methods is None or "POST" in route.methods):
            yield above + route.path


def form_paths(portal: Attacked) -> list[str]:
    """Where forms are sent: what takes POST and is not known to be a program's."""
    found = set(posted(portal.portal.app.router.routes))
    return sorted(found - NO_FORMS)


async def test_every_form_that_there_is_is_attacked_below(portal: Attacked) -> None:
    paths = form_paths(portal)
    assert {
        "/account/delete",
        "/account/tokens",
        "/account/unlink",
        "/consent",
        "/signin/github",
        "/signin/oidc/provider",
        "/signin/wallet",
        "/signout",
    } <= set(paths)
    known = ("/account/", "/admin/", "/signin/", "/signout", "/consent", "/approvals/")
    assert all(path.startswith(known) for path in paths)


FORGED = {
    "from another site": {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    "from another site, by an old browser": {"origin": "https://evil.example"},
    "from a sibling site": {"origin": "http://evil.localhost", "sec-fetch-site": "same-site"},
    "from a sandboxed frame": {"origin": "null", "sec-fetch-site": "cross-site"},
    "from another port": {"origin": f"{BASE}:9000", "sec-fetch-site": "same-site"},
    "by another scheme": {"origin": BASE.replace("http:", "https:")},
    "from nowhere": {},
    "typed in": {"sec-fetch-site": "none"},
    "with a lying fetch header": {
        "origin": "https://evil.example",
        "sec-fetch-site": "same-origin",
    },
    "with a lying origin": {"origin": BASE, "sec-fetch-site": "cross-site"},
}


@pytest.mark.parametrize("how", FORGED)
async def test_no_form_is_taken_from_anywhere_else_even_with_the_right_mark(
    portal: Attacked, alice: Browser, how: str
) -> None:
    before = await portal.rows()
    frame = (await alice.get("/account")).text
    marks = {form.action: form.fields for form in forms(frame)}
    for path in form_paths(portal):
        fields = {**marks.get(path, {}), "word": "delete", "answer": "allow", "name": "x"}
        answer = await alice.post(path, fields, {"accept": "text/html", **FORGED[how]})
        assert answer.status_code == 403, path
        assert "location" not in answer.headers, path
    assert await portal.rows() == before
    assert await person_of(portal, alice) is not None


def marks(page: httpx2.Response) -> dict[str, str]:
    """The marks of the forms of a page."""
    return {form.action: form.fields["csrf"] for form in forms(page.text)}


async def test_no_form_is_taken_without_the_mark_of_this_page_and_session(
    portal: Attacked, alice: Browser
) -> None:
    mallory = portal.browser()
    await mallory.sign_in()
    hers, own = marks(await mallory.get("/account")), marks(await alice.get("/account"))
    before = await portal.rows()
    for path in form_paths(portal):
        others = [mark for action, mark in own.items() if action != path]
        for mark in (None, "", "x", "\u00e9", hers.get(path, "x"), *others):
            fields = {"word": "delete", "answer": "allow", "name": "x", "days": "30"}
            if mark is not None:
                fields["csrf"] = mark
            answer = await alice.post(path, fields)
            assert (answer.status_code, "location" in answer.headers) == (403, False), path
        twice = f"csrf={own.get(path, 'x')}&csrf={own.get(path, 'x')}"
        answer = await alice.client.post(path, content=twice, headers=SAME_ORIGIN)
        assert answer.status_code == 403, path
    assert await portal.rows() == before


SAME_ORIGIN = {
    "origin": BASE,
    "sec-fetch-site": "same-origin",
    "content-type": "application/x-www-form-urlencoded",
}


async def test_no_form_is_taken_by_get(portal: Attacked, alice: Browser) -> None:
    before = await portal.rows()
    for path in form_paths(portal):
        answer = await alice.get(f"{path}?word=delete&answer=allow&name=x&days=30")
        assert answer.status_code in {200, 303, 400, 403, 404, 405}, path
    assert await portal.rows() == before
    assert await person_of(portal, alice) is not None


async def test_what_programs_post_to_knows_no_cookie(portal: Attacked, alice: Browser) -> None:
    """So that a page elsewhere, which a browser sends cookies to, gains nothing there."""
    assert await portal.tier(client=alice.client) == "open"
    assert await portal.tier(path="/mcp/garden", client=alice.client) == "open"
    assert await portal.tier(path="/members/mcp", client=alice.client) == "refused"
    for answer in (
        await alice.client.get("/admin/explain?as=anonymous"),
        await alice.client.post("/admin/tiers-diff", content=b"{}"),
    ):
        assert answer.status_code in {401, 403}


async def test_a_session_cookie_is_no_bearer_token(portal: Attacked, alice: Browser) -> None:
    cookie = next(c.value for c in alice.client.cookies.jar if c.name in SESSIONS)
    assert await portal.tier(cookie) == "refused"
    token = await portal.api_token(await portal.person())
    cookies = {"cookie": f"porch_session={token}; authorization={token}; porch={token}"}
    assert await portal.tier(headers=cookies) == "open"
    browser = portal.browser()
    browser.client.cookies.set("porch_session", token)
    assert (await browser.get("/account")).headers["location"].startswith("/signin")


async def test_a_bearer_token_does_not_sign_a_browser_in(portal: Attacked) -> None:
    token = await portal.api_token(await portal.person())
    headers = {"authorization": f"Bearer {token}", **NAVIGATES}
    answer = await portal.client().get("/account", headers=headers)
    assert answer.headers.get("location", "").startswith("/signin")
    answer = await portal.client().get("/account/export", headers=headers)
    assert answer.status_code == 403


# Sessions.


async def test_a_session_that_was_planted_before_the_sign_in_is_worth_nothing(
    portal: Attacked,
) -> None:
    mallory, victim = portal.browser(), portal.browser()
    await mallory.sign_in()
    planted = mallory.client.cookies["porch_session"]
    for value in (planted, "x" * 43):
        victim.client.cookies.clear()
        victim.client.cookies.set("porch_session", value)
        await victim.client.get("/")
        await victim.get("/signin?next=/account&link=")
        if value == planted:  # she is Mallory's guest now, and signs out
            await victim.get("/account")
            await victim.submit("/signout")
        victim.client.cookies.set("porch_session", value)
        await victim.sign_in()
        jar = victim.client.cookies.jar
        values = {c.value for c in jar if c.name == "porch_session" and c.value}
        assert await portal.who.sessions.find(value) is None
        assert values - {value}


async def test_a_session_that_was_planted_ends_where_somebody_signs_in_over_it(
    portal: Attacked,
) -> None:
    mallory, victim = portal.browser(), portal.browser()
    await mallory.sign_in()
    planted = mallory.client.cookies["porch_session"]
    victim.client.cookies.set("porch_session", planted)
    await victim.get("/signin?next=/account&link=1")
    assert (await victim.sign(Key.create(), link="")).status_code == 303
    assert await portal.who.sessions.find(planted) is None


async def test_the_values_of_cookies_are_new_at_each_sign_in(portal: Attacked) -> None:
    browser, seen = portal.browser(), set()
    key = await browser.sign_in()
    for _ in range(3):
        seen.add(browser.client.cookies["porch_session"])
        await browser.get("/account")
        await browser.submit("/signout")
        await browser.sign_in(key)
    assert len(seen) == 3
    for value in seen:
        assert await portal.who.sessions.find(value) is None


@pytest.mark.parametrize("base", [BASE, "https://porch.example"])
async def test_cookies_cannot_be_read_by_scripts_or_sent_from_other_sites(base: str) -> None:
    async with attacked(base=base) as portal:
        browser = portal.browser()
        set_ = []
        await browser.get("/signin")
        answer = await browser.sign(Key.create())
        for each in (browser.page, answer):
            assert each is not None
            set_ += each.headers.get_list("set-cookie")
    assert set_
    for cookie in set_:
        written = cookie.lower()
        assert "httponly" in written
        assert "samesite=lax" in written
        assert "domain=" not in written
        assert ("secure" in written) == base.startswith("https")
        assert cookie.startswith("__Host-") == base.startswith("https")


async def test_signing_out_ends_the_session_itself_and_not_only_the_cookie(
    portal: Attacked, alice: Browser
) -> None:
    cookie = alice.client.cookies["porch_session"]
    await alice.get("/account")
    await alice.submit("/signout")
    alice.client.cookies.set("porch_session", cookie)
    assert (await alice.get("/account")).status_code == 303


async def test_nobody_acts_on_what_is_another_persons(portal: Attacked, alice: Browser) -> None:
    """The id of a token, a grant or an account says nothing about who may end it."""
    client = await register(portal)
    tokens = await client.tokens()
    victim = await person_of(portal, client.browser)
    assert victim is not None
    personal = await portal.api_token(victim)
    (kept,) = await portal.who.api_tokens.of(victim.id)
    (grant,) = await portal.who.stores.grants.of(victim.id)
    await alice.get("/account")
    page = {form.action: form.fields for form in forms((await alice.get("/account")).text)}
    for path, fields in (
        ("/account/tokens/revoke", {"id": kept.id}),
        ("/account/clients/revoke", {"id": grant.id}),
        ("/account/unlink", {"subject": victim.accounts[0].subject}),
    ):
        own = page.get(path) or {"csrf": await _mark(portal, alice, path)}
        answer = await alice.post(path, {**own, **fields})
        assert answer.status_code == 303, path
    assert await portal.tier(personal) == "members"
    assert await portal.tier(tokens["access_token"]) == "members"
    assert await portal.who.stores.people.get(victim.id) == victim


async def _mark(portal: Attacked, browser: Browser, path: str) -> str:
    """The mark that this browser's own page would show."""
    from auth.sealer import Sealer

    session = browser.client.cookies["porch_session"]
    return Sealer(portal.who.key, "csrf").mark(f"session:{session}\n{path}\n")
