"""The account page says what somebody does not see, and why."""

from __future__ import annotations

from pathlib import Path

from tests.gateway.surfaces.pages.conftest import Opening
from tests.gateway.surfaces.pages.portal import open_pages


async def test_it_says_what_one_does_not_see_and_nothing_that_is_hidden(
    tmp_path: Path, browse: Opening
) -> None:
    async with open_pages(tmp_path) as portal:
        browser = browse(portal)
        await browser.sign_in()
        page = (await browser.get("/account")).text
        assert "What you do not see" in page
        assert "draft" in page
        assert "It asks for members access; the caller has public." in page
        assert "treasury" not in page
