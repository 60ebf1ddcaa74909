"""Why code exists is corrected on its page: by one person, by two at once, and taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.plugins.codegraph.justification.opinions.asked import context, written

BASE = "http://localhost"
PAGE = "/codegraph/context?name=connect"


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncIterator[TestPortal]:
    """A portal over the shop, justified."""
    tree = written(tmp_path / "shop")
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(tree)}]}}}
    rules = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with open_test_portal(plugin, config=config, tiers=rules, wait_ready=False) as made:
        await context(made, "connect", lambda found: True)
        yield made


async def signed_in(portal: TestPortal) -> Browser:
    """Somebody at the pages."""
    person = Browser(portal.app, BASE)
    await person.sign_in()
    return person


def form_of(page: str, button: str) -> tuple[str, dict[str, str]]:
    """Where the form with a button goes, and its fields."""
    begin = page.rindex("<form", 0, page.index(button))
    (form,) = forms(page[begin : page.index("</form>", begin) + len("</form>")])
    return form.action.removeprefix(BASE), dict(form.fields)


async def sent(person: Browser, page: str, button: str, **typed: Any) -> Any:
    """A form, filled in and sent; and where it leads."""
    action, fields = form_of(page, button)
    answer = await person.post(action, {**fields, **typed})
    return await person.follow(answer) if answer.status_code == 303 else answer


async def test_of_two_people_at_once_the_second_is_told_and_loses_nothing(
    portal: TestPortal,
) -> None:
    ana, ben = await signed_in(portal), await signed_in(portal)
    first, second = (await ana.get(PAGE)).text, (await ben.get(PAGE)).text
    assert "Is that wrong?" in first
    purpose = {"correction.purpose": "Begins all work."}
    done = await sent(ana, first, "Say so", **purpose, **{"correction.type": "UTILITY"})
    assert "That is said of connect now" in done.text
    assert "Begins all work." in done.text
    late = await sent(ben, second, "Say so", **{"correction.purpose": "Ends <all> work."})
    assert late.status_code == 400
    assert "was corrected" in late.text
    assert "Ends &lt;all&gt; work." in late.text
    again = await sent(
        ben, (await ben.get(PAGE)).text, "Say so", **{"correction.purpose": "Opens it."}
    )
    assert "Opens it." in again.text
    assert "UTILITY" in again.text  # what ana said beside it stays
    back = await sent(ben, again.text, "Take back all")
    assert back.status_code == 200, back.text
    async with asyncio.timeout(60):
        while "Open the database." not in (await ana.get(PAGE)).text:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    for each in (ana, ben):
        await each.aclose()


async def test_who_has_not_signed_in_reads_and_has_no_form(portal: TestPortal) -> None:
    page = await portal.http("open").get(PAGE)
    assert "Why connect exists" in page.text
    assert "Is that wrong?" not in page.text
