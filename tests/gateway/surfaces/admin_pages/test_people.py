"""People, and why somebody may use something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from auth import Tier
from gateway.surfaces.admin_pages import people as module
from tests.gateway.surfaces.admin_pages.conftest import ADMIN, EVIL, Looked


async def test_people_are_listed_found_and_shown_with_why(looked: Looked) -> None:
    browser = await looked.admin()
    person = await looked.person("ana", email="ana@example.org")
    page = await browser.get("/admin/people?text=ANA")
    assert person.id.replace(":", "%3A") in page.text
    assert ADMIN.address not in page.text
    assert "Members" in page.text
    one = await browser.get(f"/admin/people/{person.id}")
    assert "github:1" in one.text
    assert "email: *@example.org" in one.text
    assert "tiers.yaml:" in one.text
    assert "- github: 1" in one.text
    assert f"porch people sign-out {person.id} --tokens" in one.text


async def test_a_token_is_named_and_its_secret_is_not(looked: Looked) -> None:
    browser = await looked.admin()
    person = await looked.person("ana")
    tokens = looked.portal.running.authentication.api_tokens
    end = datetime.now(UTC) + timedelta(days=1)
    token, secret = await tokens.create(person.id, "my laptop", ceiling=Tier.MEMBERS, expires=end)
    text = (await browser.get(f"/admin/people/{person.id}")).text
    assert "my laptop" in text
    assert secret not in text
    assert token.id not in text


async def test_people_are_told_in_pages(looked: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PEOPLE_PER_PAGE", 2)
    browser = await looked.admin()
    ids = [(await looked.person(f"p{n}", n)).id.replace(":", "%3A") for n in range(1, 5)]
    page, seen = await browser.get("/admin/people"), 0
    for _ in range(5):
        seen += sum(each in page.text for each in ids)
        if "Next page" not in page.text:
            break
        link = page.text.partition('href="?after=')[2].partition('"')[0]
        page = await browser.get(f"/admin/people?after={link}")
    assert seen == 4


async def test_names_that_would_run_or_turn_text_around_are_harmless(looked: Looked) -> None:
    browser = await looked.admin()
    person = await looked.person(EVIL, email="ana@example.org")
    tokens = looked.portal.running.authentication.api_tokens
    end = datetime.now(UTC) + timedelta(days=1)
    await tokens.create(person.id, "<script>alert(3)</script>", ceiling=Tier.MEMBERS, expires=end)
    for path in (
        "/admin/people",
        f"/admin/people/{person.id}",
        f"/admin/explain?as={person.id}&item=water",
        "/admin/explain?as=%3Cscript%3Ealert(1)%3C%2Fscript%3E%E2%80%AE",
        "/admin/access?text=%3Cscript%3Ealert(1)%3C%2Fscript%3E%E2%80%AE",
        "/admin/audit?what=%3Cscript%3Ealert(1)%3C%2Fscript%3E%E2%80%AE&outcome=%3Cimg%3E",
        "/admin/usage?item=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ):
        text = (await browser.get(path)).text
        assert "<script>alert" not in text, path
        assert "<img" not in text, path
        assert "\u202e" not in text, path
        assert "\u2066" not in text, path


@pytest.mark.parametrize("id", ["person:nobody", "%00", "%ED%A0%80", "..%2F..%2F", "%E2%80%AE"])
async def test_there_is_no_page_of_who_is_not_there(looked: Looked, id: str) -> None:
    browser = await looked.admin()
    assert (await browser.get(f"/admin/people/{id}")).status_code == 404


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("as=open&item=water", "✗ Refused:"),
        ("as=public&item=garden/water", "✓ Allowed:"),
        ("as=public&item=harvest", "✗ Unknown to them:"),
        ("item=watr", "Nothing here is called watr. Near it: water."),
        ("as=github:nobody", "Nobody known here is github:nobody."),
    ],
)
async def test_it_is_explained(looked: Looked, query: str, said: str) -> None:
    browser = await looked.admin()
    page = await browser.get(f"/admin/explain?{query}")
    assert said in page.text
    assert page.status_code == (404 if "Nothing" in said or "Nobody" in said else 200)
    if page.status_code == 200:
        assert "Lines to change" in page.text
