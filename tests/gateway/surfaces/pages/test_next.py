"""Where someone is led after a sign-in: to a page of ours, and nowhere else (open redirect)."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest
from eth_account import Account as Key
from hypothesis import given
from hypothesis import strategies as st

from gateway.surfaces.pages.forms import own_page
from tests.gateway.surfaces.pages.browser import Browser


@pytest.mark.parametrize(
    "evil",
    [
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/account@evil.example",
        "https:/account",
        "https:account",
        "javascript:alert(1)",
        "/account\r\nset-cookie: a=b",
        "/account#x",
        "/ account",
        "/signin",
        "/signout",
        "/mcp",
        "/account/../mcp",
        "/%2f%2fevil.example",
        "http://[",
        "/account\u2028",
        "",
    ],
)
async def test_nobody_is_led_elsewhere(browser: Browser, evil: str) -> None:
    assert own_page(evil) == "/account"
    await browser.get(f"/signin?next={quote(evil)}")
    response = await browser.sign(Key.create(), next=evil)
    assert response.headers["location"] == "/account"


@given(st.text())
def test_whatever_is_asked_for_the_way_leads_to_a_page_of_ours(text: str) -> None:
    led = urlsplit(own_page(text))
    assert (led.scheme, led.netloc) == ("", "")
    assert led.path in {"/", "/account", "/consent"}


@pytest.mark.parametrize("good", ["/", "/account", "/consent?request=a.b-c_d%2E"])
def test_a_page_of_ours_may_be_next(good: str) -> None:
    assert own_page(good) == good


def test_a_view_of_a_plugin_may_be_next() -> None:
    views = {"/knowledge/document"}
    page = "/knowledge/document?contentType=file&id=water"
    assert own_page(page, views=views) == page
    for other in ("//knowledge/document", "/knowledge/document/x", "/knowledge/documents"):
        assert own_page(other, views=views) == "/account"
