"""The pages in Chromium: wallets, providers, consent, and whether everybody can read them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from eth_account import Account as Key
from playwright.async_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route

from auth.sign_in.github import GithubSignIn
from auth.sign_in.oidc import OidcSignIn
from tests.browser.chromium import Wallet
from tests.browser.conftest import Serving
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.gateway.surfaces.pages.portal import GITHUB, PagesPortal, SilentSource
from tests.servers.github import Github
from tests.servers.identity_provider import IdentityProvider
from tests.servers.serving import bound, serving

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

RULES = {
    "members": {
        "any_of": [{"hat": "30.3.1"}, {"all_of": [{"github": "octo-cat"}, {"email": "*@a.org"}]}]
    }
}


async def sign_in(page: Page, portal: PagesPortal, path: str = "/signin") -> None:
    await page.goto(portal.parts.site.url + path)
    await page.get_by_role("button", name="Continue with Test Wallet").click()
    await page.wait_for_url("**/account")


# Wallets.


@pytest.mark.parametrize("legacy", [False, True])
async def test_a_wallet_in_the_browser_signs_in(
    browser: Browser, portal: PagesPortal, legacy: bool
) -> None:
    wallet = Wallet(Key.create())
    async with opened(browser) as (context, page):
        await wallet.install(context, legacy=legacy)
        await page.goto(f"{portal.parts.site.url}/signin")
        name = "Continue with your browser's wallet" if legacy else "Continue with Test Wallet"
        await page.get_by_role("button", name=name).click()
        await page.wait_for_url("**/account")
        await expect(page.get_by_text(wallet.key.address)).to_be_visible()
        await expect(page.get_by_text("Public: is signed in.")).to_be_visible()
        (session,) = [c for c in await context.cookies() if c["name"] == "porch_session"]
        assert session["httpOnly"]
        assert session["sameSite"] == "Lax"
        await page.get_by_role("button", name="Sign out", exact=True).click()
        await expect(page.get_by_text("You are signed out.")).to_be_visible()
    assert wallet.asked == ["eth_requestAccounts", "eth_chainId", "personal_sign"]


async def test_a_wallet_on_a_chain_that_is_not_listed_signs_in_too(
    browser: Browser, portal: PagesPortal
) -> None:
    wallet = Wallet(Key.create(), chain=424242)
    async with opened(browser) as (context, page):
        await wallet.install(context)
        await sign_in(page, portal)


async def test_whoever_declines_is_told_and_can_try_again(
    browser: Browser, portal: PagesPortal
) -> None:
    wallet = Wallet(Key.create())
    wallet.declines = True
    async with opened(browser) as (context, page):
        await wallet.install(context)
        await page.goto(f"{portal.parts.site.url}/signin")
        button = page.get_by_role("button", name="Continue with Test Wallet")
        await button.click()
        await expect(page.get_by_role("status")).to_have_text(
            "You declined in the wallet. Nothing was signed."
        )
        wallet.declines = False
        await button.click()
        await page.wait_for_url("**/account")


async def test_a_browser_without_a_wallet_says_so(browser: Browser, portal: PagesPortal) -> None:
    async with opened(browser) as (_, page):
        await page.goto(f"{portal.parts.site.url}/signin")
        await expect(page.get_by_role("status")).to_contain_text("No wallet was found")
        address = page.get_by_label("The address of this page", exact=True)
        await expect(address).to_have_text(page.url)


async def test_another_wallet_is_linked(browser: Browser, portal: PagesPortal) -> None:
    wallet, second = Wallet(Key.create()), Key.create()
    async with opened(browser) as (context, page):
        await wallet.install(context)
        await sign_in(page, portal)
        wallet.key = second
        await page.get_by_role("link", name="Link another account").click()
        await page.get_by_role("button", name="Continue with Test Wallet").click()
        await page.wait_for_url("**/account")
        await expect(page.get_by_text("is linked.")).to_be_visible()
        await expect(page.get_by_text(second.address)).to_be_visible()


async def test_everything_but_the_wallet_works_without_scripts(
    browser: Browser, portal: PagesPortal
) -> None:
    from eth_account.messages import encode_defunct

    key = Key.create()
    async with opened(browser, java_script_enabled=False) as (_, page):
        await page.goto(f"{portal.parts.site.url}/signin")
        await expect(page.get_by_text("Scripts are turned off")).to_be_visible()
        await page.get_by_text("Sign the message by hand", exact=True).click()
        await page.get_by_label("Your address").fill(key.address)
        await page.get_by_label("Chain").select_option("10")
        await page.get_by_role("button", name="Show the message").click()
        message = await page.get_by_label("The message to sign").inner_text()
        signature = key.sign_message(encode_defunct(text=message)).signature.hex()
        await page.get_by_label("The signature").fill("0x" + signature)
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url("**/account")
        await page.get_by_text("Make a token").click()
        await page.get_by_label("What it is for").fill("A script")
        await page.get_by_role("button", name="Make the token").click()
        await expect(page.get_by_text("it is shown this once")).to_be_visible()
        token = await page.get_by_label("To be copied now").inner_text()
        assert await portal.parts.tokens.identify(token, "/mcp") is not None
        await page.get_by_role("button", name="Revoke A script").click()
        await expect(page.get_by_text("The token is revoked.")).to_be_visible()
        await page.get_by_text("Delete my account").first.click()
        await page.get_by_label("Type the word").fill("delete")
        await page.get_by_role("button", name="Delete my account").click()
        await expect(page.get_by_text("all that belonged to it is deleted")).to_be_visible()


# Providers.


async def test_a_provider_signs_in_through_its_own_page(browser: Browser, served: Serving) -> None:
    with IdentityProvider() as provider:
        provider.approves = None
        sign_in_with = OidcSignIn("Example ID", provider.issuer, "portal", "the-secret")
        config = {"oidc": [{"name": "Example", "issuer": provider.issuer, "client_id": "portal"}]}
        redirects = {"oidc/example": sign_in_with}
        async with served(redirects=redirects, sign_in=config) as portal:
            async with opened(browser) as (_, page):
                await page.goto(f"{portal.parts.site.url}/signin")
                await page.get_by_role("button", name="Continue with Example ID").click()
                await page.wait_for_url(f"{provider.issuer}/**")
                await page.get_by_role("button").first.click()
                await page.wait_for_url("**/account")
                await expect(page.get_by_role("strong").first).to_have_text("Ana")


async def test_github_is_linked_through_its_own_page(browser: Browser, served: Serving) -> None:
    with Github() as github:
        github.add("octo-cat")
        config = {
            "github": {
                "client_id": "portal",
                "client_secret": "env:UNREAD",
                "url": github.url,
                "api_url": github.api_url,
            }
        }
        sign_in_with = GithubSignIn("portal", "the-secret", github.url, github.api_url)
        async with served(redirects={"github": sign_in_with}, sign_in=config) as portal:
            async with opened(browser) as (context, page):
                await Wallet(Key.create()).install(context)
                await sign_in(page, portal)
                await page.get_by_role("link", name="Link another account").click()
                await page.get_by_role("button", name="Continue with GitHub").click()
                await page.wait_for_url(f"{github.url}/**")
                await page.get_by_role("button").first.click()
                await page.wait_for_url("**/account")
                await expect(page.get_by_text("GitHub octo-cat is linked.")).to_be_visible()
                assert await portal.stores.people.named("github", "octo-cat") is not None


# Consent.


async def _arrived(request: Request) -> PlainTextResponse:
    return PlainTextResponse("You can close this window.")


@asynccontextmanager
async def client_app() -> AsyncGenerator[str]:
    """A client on this machine; its callback sends the browser on to its own page elsewhere."""
    with serving(Starlette(routes=[Route("/done", _arrived)]), bound()) as elsewhere:

        async def callback(request: Request) -> RedirectResponse:
            return RedirectResponse(f"{elsewhere}/done?{request.url.query}")

        with serving(Starlette(routes=[Route("/callback", callback)]), bound()) as client:
            yield client


@pytest.mark.parametrize(("button", "answer"), [("Allow", "code="), ("Deny", "access_denied")])
async def test_consent_goes_back_to_the_client(
    browser: Browser, portal: PagesPortal, button: str, answer: str
) -> None:
    wallet = Wallet(Key.create())
    async with client_app() as client, opened(browser) as (context, page):
        await wallet.install(context)
        sealed = portal.asked(redirect_uri=f"{client}/callback")
        await page.goto(f"{portal.parts.site.url}/consent?request={sealed}")
        await page.get_by_role("button", name="Continue with Test Wallet").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Example Client")
        await expect(page.get_by_text(client.removeprefix("http://"))).to_be_visible()
        await page.get_by_role("button", name=button).click()
        await page.wait_for_url("**/done?**")
        assert answer in page.url
        assert "state=the-state" in page.url


async def test_the_pages_are_shown_in_no_frame(browser: Browser, portal: PagesPortal) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto("about:blank")
    await page.set_content(f'<iframe src="{portal.parts.site.url}/signin"></iframe>')
    await page.wait_for_timeout(500)
    inside = page.frames[1]
    shown = await inside.get_by_text("With a wallet").count()
    await context.close()
    assert shown == 0


# Reading.


async def _unfolded(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


async def _every_page(page: Page, portal: PagesPortal) -> AsyncGenerator[str]:
    """Open each page in turn, with all that it can show."""
    base = portal.parts.site.url
    address = Key.create().address
    for path in ("/", "/signin", f"/signin/wallet?address={address}&chain=1", "/nothing"):
        await page.goto(base + path)
        yield path
    await sign_in(page, portal)
    wallet = await page.locator("code.wrap").first.inner_text()
    person = await portal.stores.people.by_subject(f"wallet:{wallet}")
    assert person is not None
    await portal.stores.people.link(person.id, GITHUB)
    await portal.connect_client(person.id)
    await page.goto(f"{base}/account")
    await page.get_by_text("Make a token").click()
    await page.get_by_label("What it is for").fill("A script with a rather long name")
    await page.get_by_role("button", name="Make the token").click()
    await page.wait_for_load_state()
    yield "/account with a token"
    for path in ("/", "/account", "/signin?link=1", f"/consent?request={portal.asked()}"):
        await page.goto(base + path)
        yield f"{path[:20]} signed in"
    await page.get_by_role("link", name="account page").click()
    await page.get_by_text("Delete my account").first.click()
    await page.get_by_label("Type the word").fill("no")
    await page.get_by_role("button", name="Delete my account").click()
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was deleted")
    yield "/account with an error"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_everybody_can_read_every_page(
    browser: Browser, served: Serving, scheme: str, viewport: dict[str, int]
) -> None:
    nobody = {"github": OidcSignIn("GitHub", "http://127.0.0.1:9", "x")}
    sources = {"hats": SilentSource()}
    problems: list[str] = []
    async with served(rules=RULES, sources=sources, redirects=nobody) as portal:
        async with opened(browser, viewport=viewport, color_scheme=scheme) as (context, page):
            await Wallet(Key.create()).install(context)
            async for _ in _every_page(page, portal):
                await _unfolded(page)
                problems += await violations(page)
                problems += await too_wide(page)
    assert problems == []


async def test_the_keyboard_reaches_what_the_mouse_does(
    browser: Browser, portal: PagesPortal
) -> None:
    async with opened(browser) as (_, page):
        await page.goto(portal.parts.site.url)
        await page.keyboard.press("Tab")
        await expect(page.locator(":focus")).to_have_text("Skip to the content")
        await expect(page.locator(":focus")).to_be_in_viewport()
        seen = set()
        for _ in range(40):
            await page.keyboard.press("Tab")
            seen.add(await page.evaluate("document.activeElement.textContent.trim()"))
        assert {"Sign in", "Copy", "Install in Cursor", "Install in VS Code"} <= seen


@pytest.mark.parametrize("width", [390, 1280])
async def test_how_to_connect_comes_first_and_no_snippet_is_cut(
    browser: Browser, portal: PagesPortal, width: int
) -> None:
    async with opened(browser, viewport={"width": width, "height": 844}) as (_, page):
        await page.goto(portal.parts.site.url)
        tops = [
            await page.get_by_role("heading", name=name).evaluate(
                "each => each.getBoundingClientRect().top"
            )
            for name in ("Connect your client", "What is here")
        ]
        assert tops[0] < 844
        assert tops[0] < tops[1]
        cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
        assert await page.locator("pre").evaluate_all(cut) == 0
        await page.locator("summary").last.click()
        await expect(page.locator("details").last.get_by_role("listitem").first).to_be_visible()


async def test_a_snippet_is_copied(browser: Browser, portal: PagesPortal) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    async with opened(browser, permissions=permissions) as (_, page):
        await page.goto(portal.parts.site.url)
        await page.get_by_role("button", name="Copy: For Codex").click()
        copied = await page.evaluate("navigator.clipboard.readText()")
        await expect(page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
        assert copied == f"codex mcp add the-commons --url {portal.parts.site.url}/mcp"
