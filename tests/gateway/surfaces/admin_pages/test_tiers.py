"""What another tiers.yaml would change, on a page."""

from __future__ import annotations

from html import unescape

import yaml

from tests.gateway.surfaces.admin_pages.conftest import TIERS, Looked
from tests.gateway.surfaces.pages.browser import forms


def changed(**items: object) -> str:
    return yaml.safe_dump({**TIERS, "items": {**TIERS["items"], **items}})


async def pasted(looked: Looked, text: str, status: int = 200) -> str:
    browser = await looked.admin()
    await browser.get("/admin/tiers")
    answer = await browser.submit("/admin/tiers", {"text": text}, number=0)
    assert answer.status_code == status, answer.text
    return unescape(answer.text)


async def test_it_says_who_gains_and_loses_what_by_which_line_and_saves_nothing(
    looked: Looked,
) -> None:
    person = await looked.person("ana")
    before = (looked.portal.config_dir / "tiers.yaml").read_bytes()
    text = await pasted(looked, changed(**{"garden/water": "members"}))
    assert "1 item changes" in text
    assert "garden/water: members" in text
    assert "lost by public" in text
    assert f"/admin/people/{person.id}" in text.replace("%3A", ":")
    assert (looked.portal.config_dir / "tiers.yaml").read_bytes() == before
    assert (await pasted(looked, changed())).count("Nothing, for any item") == 1


async def test_problems_are_told_by_file_and_line(looked: Looked) -> None:
    text = await pasted(looked, "items:\n  garden: everyone\n")
    assert "It would not come into force" in text
    assert "pasted:2" in text
    text = await pasted(looked, changed(**{"garden/digg": "open", "gardn/dig": "open"}))
    assert "matches nothing that garden offers" in text
    assert "1 line has no effect now" in text
    assert "no key" in await pasted(looked, "items: {'<script>': open}")


async def test_the_file_on_disk_is_compared_with_what_is_served(looked: Looked) -> None:
    browser = await looked.admin()
    page = await browser.get("/admin/tiers")
    fields = next(each.fields for each in forms(page.text) if each.fields.get("from") == "disk")
    (looked.portal.config_dir / "tiers.yaml").write_text("items: {garden: everyone}\n")
    answer = await browser.post("/admin/tiers", fields)
    assert "on disk would change" in answer.text
    assert "It would not come into force" in answer.text
    assert "tiers.yaml:1" in answer.text


async def test_what_is_too_large_is_refused_and_a_large_file_is_compared(looked: Looked) -> None:
    large = changed() + "#" * 60_000
    text = await pasted(looked, large)
    assert "Nothing, for any item" in text
    assert "It is too long to be shown here" in text
    await pasted(looked, "#" * 256 * 1024, status=413)


async def test_a_form_of_another_site_or_of_a_member_is_not_taken(looked: Looked) -> None:
    browser = await looked.admin()
    page = await browser.get("/admin/tiers")
    fields = {**forms(page.text)[-1].fields, "text": changed()}
    elsewhere = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert (await browser.post("/admin/tiers", fields, elsewhere)).status_code == 403
    assert (await browser.post("/admin/tiers", {**fields, "csrf": "x"})).status_code == 403
    member = looked.browser()
    await member.sign_in()
    assert (await member.post("/admin/tiers", fields)).status_code == 403


async def test_a_yes_that_calls_would_wait_for_is_a_change(looked: Looked) -> None:
    asks = {"tier": "public", "approve": {"by": "admins", "quorum": 2}}
    text = await pasted(looked, changed(**{"garden/water": asks}))
    assert "waits for a yes by 2 admins, within 1d" in text
    (looked.portal.config_dir / "tiers.yaml").write_text(changed(**{"garden/water": asks}))
    assert looked.portal.running.tiers._reload()
    looked.portal.running.catalog.apply(looked.portal.running.tiers.current)
    browser = await looked.admin()
    for page in ("/admin/access?text=water", "/admin/explain?as=public&item=water"):
        shown = unescape((await browser.get(page)).text)
        assert "Each run waits for a yes by 2 admins" in shown
        assert "garden/water: {tier: members, approve: {by: admins, quorum: 2}}" in shown
