"""The pages of conversations, as a browser without scripts meets them."""

from __future__ import annotations

import zipfile
from collections.abc import AsyncIterator
from io import BytesIO

import pytest

from gateway.testing import TestPortal
from tests.gateway.assistant.garden import CHAT, LOOK, ask
from tests.gateway.assistant.test_writing import until_ended
from tests.gateway.surfaces.pages.browser import Browser
from tests.servers.openai_compatible import OpenAICompatible, Reply

ANSWER = (
    "By **consent** <script>alert(1)</script> [here](javascript:alert(1)) ![x](https://e.org/x)"
)


@pytest.fixture
async def browser(portal: TestPortal) -> AsyncIterator[Browser]:
    browser = Browser(portal.app, portal.running.portal.config.url)
    await browser.sign_in()
    yield browser
    await browser.aclose()


async def asked(browser: Browser, message: str = "How?") -> str:
    """Ask as a form; the page of the conversation."""
    await browser.get("/chat")
    sent = await browser.submit("/chat", {"message": message})
    assert sent.status_code == 303, sent.text
    return sent.headers["location"].partition("#")[0]


async def test_a_message_is_a_form_and_the_whole_answer_is_shown_after(
    browser: Browser, server: OpenAICompatible
) -> None:
    server.then(LOOK, Reply(text=ANSWER))
    path = await asked(browser, "How <b>are</b> decisions made?")
    text = (await until_ended(browser, path)).text
    assert "How &lt;b&gt;are&lt;/b&gt; decisions made?" in text
    assert "<strong>consent</strong>" in text
    assert "<script>alert" not in text
    assert 'href="javascript' not in text
    assert "<img" not in text
    assert 'href="https://garden.example.org/decide"' in text
    assert "How we decide" in text
    server.then(Reply(text="Second."))
    sent = await browser.submit(path, {"message": "And then?"})
    assert sent.headers["location"].endswith("#turn-2")
    assert "Second." in (await until_ended(browser, path)).text
    assert path in (await browser.get("/chat")).text


async def test_a_conversation_is_renamed_taken_along_and_deleted_on_its_page(
    browser: Browser, server: OpenAICompatible
) -> None:
    server.then(Reply(text="So."))
    path = await asked(browser)
    await until_ended(browser, path)
    await browser.submit(path + "/rename", {"title": "On <reasons>"})
    assert "On &lt;reasons&gt;" in (await browser.get(path)).text
    file = await browser.get(path + "/export?format=markdown")
    assert file.text.startswith("# On <reasons>")
    assert file.headers["content-disposition"].startswith("attachment")
    await browser.get(path)
    await browser.submit(path + "/delete")
    assert (await browser.get(path)).status_code == 404


async def test_somebody_elses_page_is_unknown_and_forms_of_elsewhere_are_refused(
    portal: TestPortal, browser: Browser, server: OpenAICompatible
) -> None:
    server.then(Reply(text="So."))
    path = await asked(browser)
    await until_ended(browser, path)
    other = Browser(portal.app, portal.running.portal.config.url)
    nobody = await other.get(path)
    assert nobody.headers["location"].startswith("/signin?next=%2Fchat")
    await other.sign_in()
    for each in ("", "/export", "/stream"):
        assert (await other.get(path + each)).status_code == 404, each
    for each in ("", "/stop", "/continue", "/rename", "/delete", "/answer"):
        sent = await browser.post(path + each, {"message": "x", "title": "x"})
        assert sent.status_code == 403, each
    assert (await browser.get(path)).status_code == 200
    await other.aclose()


async def test_too_long_a_message_comes_back_to_be_shortened(browser: Browser) -> None:
    await browser.get("/chat")
    refused = await browser.submit("/chat", {"message": "long words " * 1500})
    assert refused.status_code == 413
    assert "16,000 are taken" in refused.text
    assert "long words long words" in refused.text
    huge = await browser.submit("/chat", {"message": "a" * 1_000_000})
    assert huge.status_code == 413


async def test_conversations_leave_with_their_person(
    portal: TestPortal, browser: Browser, server: OpenAICompatible
) -> None:
    server.then(Reply(text="So."), Reply(text="Bob's."))
    await until_ended(browser, await asked(browser, "Mine?"))
    await ask(portal, "Bob asks", who="bob")
    store, before = (
        portal.running.assistant.store,
        set(await portal.running.assistant.store.people()),
    )
    await browser.get("/account")
    archive = await browser.get("/account/export")
    names = zipfile.ZipFile(BytesIO(archive.content)).namelist()
    assert [each for each in names if each.startswith("assistant/") and each.endswith(".md")]
    assert "models/calls-1.json" in names
    await browser.get("/account")
    await browser.submit("/account/delete", {"word": "delete"})
    (left,) = [each for each in before if (await store.list(each))[0].title == "Bob asks"]
    (gone,) = before - {left}
    assert await portal.running.erasures.sweep(frozenset({gone}))
    assert set(await store.people()) == {left}
    assert len((await portal.http("bob").get(CHAT)).json()["conversations"]) == 1
