"""The page on which people pay, as a browser without scripts uses it."""

from __future__ import annotations

from gateway.testing import TestPortal
from tests.gateway.payments.conftest import deliver_all
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.servers.stripe_api import StripeServer

BASE, PAGE = "http://localhost", "/payments/overview"


async def sent(browser: Browser, **wanted: str) -> str:
    """Send the form of the page that has these fields; the page that it leads to."""
    page = await browser.get(PAGE)
    fields = next(
        each.fields
        for each in forms(page.text)
        if each.method == "post" and wanted.items() <= each.fields.items()
    )
    answer = await browser.post(PAGE, fields)
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"].startswith((PAGE, BASE + PAGE))
    return (await browser.get(PAGE)).text


async def test_credit_and_a_plan_are_bought_by_forms_and_shown(
    portal: TestPortal, stripe: StripeServer
) -> None:
    browser = Browser(portal.app, BASE)
    await browser.sign_in()
    shown = await sent(browser, amount="5")
    session = next(each for each in stripe.objects if each.startswith("cs_"))
    assert f'href="{stripe.url}/c/{session}"' in shown
    stripe.pay(session)
    await deliver_all(portal, stripe)
    shown = await sent(browser, plan="pro")
    session = [each for each in stripe.objects if each.startswith("cs_")][-1]
    assert f'href="{stripe.url}/c/{session}"' in shown
    stripe.pay(session)
    await deliver_all(portal, stripe)
    shown = (await browser.get(PAGE)).text
    assert stripe.url not in shown  # both were used up
    for text in ("Your subscription", "Manage payment", "$5.00", "active"):
        assert text in shown
    usage = (await browser.get("/usage/month?month=")).text
    assert "$10.00" in usage
    await browser.aclose()
