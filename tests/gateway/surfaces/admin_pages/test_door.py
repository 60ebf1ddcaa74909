"""Who gets in: admins, and nobody else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from gateway.surfaces.admin_pages.door import SECTIONS
from gateway.surfaces.admin_pages.pages import admin_pages
from tests.gateway.surfaces.admin_pages.conftest import Looked
from tests.gateway.surfaces.pages.browser import NAVIGATES, forms

PATHS = [
    *(each.path for each in SECTIONS),
    "/admin/people/person:nobody",
    "/admin/audit.csv",
    "/admin/models.csv",
]
SECRETS = ("garden/harvest", "tiers.yaml:", "audit", "sqlite")
"""What only admins read."""


def routed(looked: Looked) -> set[str]:
    """The path of every page for admins that there is."""
    routes = looked.portal.app.router.routes
    return {
        route.path
        for route in routes
        if isinstance(route, Route) and route.path.startswith("/admin")
        if route.endpoint.__module__.startswith("gateway.surfaces.pages")
    }


async def test_every_page_is_tried_below(looked: Looked) -> None:
    await looked.browser().get("/")
    assert routed(looked) == {*PATHS} - {"/admin/people/person:nobody"} | {"/admin/people/{person}"}
    assert admin_pages.__doc__


async def test_an_admin_sees_every_page_and_no_shared_cache_keeps_one(looked: Looked) -> None:
    browser = await looked.admin()
    for path in PATHS:
        page = await browser.get(path)
        assert page.status_code == (404 if "nobody" in path else 200), path
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-frame-options"] == "DENY"
        assert len(page.content) < 60_000
        if page.headers["content-type"].startswith("text/html"):
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "style=" not in page.text
            assert "http://" not in page.text.replace("http://localhost", "")


async def test_who_is_not_signed_in_is_led_to_it_and_back(looked: Looked) -> None:
    browser = looked.browser()
    answer = await browser.get("/admin/access?plugin=garden")
    assert answer.status_code == 303
    page = await browser.follow(answer)
    assert "Sign in" in page.text
    assert all(each.fields.get("next") for each in forms(page.text) if "next" in each.fields)
    key = await browser.sign_in(next_page="/admin/access")
    assert key is not None
    assert browser.page is not None
    assert browser.page.status_code == 403
    assert "For admins" in browser.page.text


@pytest.mark.parametrize("path", PATHS)
async def test_a_member_gets_nothing_but_the_reason(looked: Looked, path: str) -> None:
    browser = looked.browser()
    await browser.sign_in()
    page = await browser.get(path)
    assert page.status_code == 403
    assert "the rule admins in tiers.yaml" in page.text
    assert not any(secret in page.text for secret in SECRETS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    path=st.sampled_from(PATHS),
    query=st.dictionaries(
        st.sampled_from(["as", "item", "who", "what", "text", "plugin", "after", "page", "own"]),
        st.text(max_size=20),
        max_size=3,
    ),
    tier=st.sampled_from(["open", "public", "members"]),
    accept=st.sampled_from(["text/html", "*/*", "application/json"]),
)
async def test_no_token_of_any_tier_opens_a_page_whatever_it_asks(
    looked: Looked, path: str, query: dict[str, str], tier: str, accept: str
) -> None:
    answer = await looked.portal.http(tier).get(path, params=query, headers={"accept": accept})
    assert answer.status_code in (303, 403)
    assert not any(secret in answer.text for secret in SECRETS)


async def test_a_token_of_an_admin_carries_no_admins_rights(looked: Looked) -> None:
    await looked.admin()
    people = looked.portal.running.authentication.stores.people
    admin = await anext(aiter(people.everyone()))
    await looked.portal.sign_in("ada", *admin.accounts)
    answer = await looked.portal.http("ada").get("/admin", headers=NAVIGATES)
    assert answer.status_code == 403


async def test_programs_get_json_where_browsers_get_a_page(looked: Looked) -> None:
    browser = await looked.admin()
    page = await browser.get("/admin/explain?as=public&item=water")
    assert page.headers["content-type"].startswith("text/html")
    answer = await looked.portal.http("members").get("/admin/explain")
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "not_allowed"
