"""A member asks, has a page drafted and says yes; the admin sees the cost, the budget ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from eth_account import Account

from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from tests.gateway.surfaces.pages.browser import Browser
from tests.plugins.knowledge.drafts.garden import TOKEN, WATER, Ground, ground
from tests.servers.github_contents import GithubContents
from tests.servers.openai_compatible import OpenAICompatible, Reply, ToolCall

PRICE_USD = 100
"""Of a million tokens, so that a few answers spend the month's budget."""
RUNS = "It is being written"
REACHED = "Monthly model budget reached"
ADMIN = Account.create()
PLANS = "plans: {free: {title: Free, budget: 0.60}}\ndefault: free\n"
TIERS = f"""
access:
  members: {{any_of: [signed_in]}}
  admins: {{address: "{ADMIN.address}"}}
items:
  knowledge/create_draft: {{tier: members, approve: {{by: caller}}}}
"""
SEARCH = Reply(calls=[ToolCall("search_knowledge", {"query": "how we coordinate"}, "call_1")])
DRAFT = Reply(calls=[ToolCall("create_draft", WATER, "call_2")])
USED = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
"""What each request is billed: 0.11 USD."""


@pytest.fixture
def models() -> Iterator[OpenAICompatible]:
    with OpenAICompatible() as server:
        yield server


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.setenv("DRAFTS_TOKEN", TOKEN)
    with GithubContents() as server:
        yield ground(tmp_path, server)


@pytest.fixture
async def portal(models: OpenAICompatible, repository: Ground) -> AsyncIterator[TestPortal]:
    price = {"input": PRICE_USD, "output": PRICE_USD}
    provider = {"kind": "compatible", "url": models.url, "prices": {"m": price}}
    knowledge = {
        "sources": [{"github": "garden/kb", "drafts": True, "tier": "open"}],
        "github": {"api_url": repository.server.url, "token": "env:DRAFTS_TOKEN"},
        "memory": {"enabled": False},
    }
    config = {
        "services": {"models": {"providers": {"local": provider}, "chat": "local/m"}},
        "plugins": {"knowledge": knowledge},
    }
    data = repository.data
    async with open_test_portal(
        plugin, config=config, tiers=TIERS, plans=PLANS, data_dir=data
    ) as found:
        await found.running.assistant.ready()
        yield found


@pytest.fixture
async def member(portal: TestPortal) -> AsyncIterator[Browser]:
    browser = Browser(portal.app, portal.running.portal.config.url)
    await browser.sign_in()
    yield browser
    await browser.aclose()


@pytest.fixture
async def admin(portal: TestPortal) -> AsyncIterator[Browser]:
    browser = Browser(portal.app, portal.running.portal.config.url)
    await browser.sign_in(ADMIN)
    yield browser
    await browser.aclose()


def billed(reply: Reply) -> Reply:
    return Reply(text=reply.text, calls=reply.calls, usage=USED)


async def told(member: Browser, path: str, *texts: str) -> str:
    """The page of a conversation once it says one of several texts, and the answer has ended."""
    async with asyncio.timeout(150):
        while True:
            page = (await member.get(path)).text
            if any(text in page for text in texts) and RUNS not in page:
                return page
            await asyncio.sleep(0.05)


async def test_an_answer_becomes_a_pull_request_and_the_budget_ends_it(
    member: Browser, admin: Browser, models: OpenAICompatible, repository: Ground
) -> None:
    models.then(billed(SEARCH), billed(Reply(text="We talk, says Coordination.")))
    await member.get("/chat")
    sent = await member.submit("/chat", {"message": "How are decisions made?"})
    path = sent.headers["location"].partition("#")[0]
    page = await told(member, path, "We talk, says Coordination.")
    assert "/knowledge/document?contentType=pattern&amp;id=coordination" in page

    models.then(billed(DRAFT), billed(Reply(text="The page waits for its review.")))
    await member.submit(path, {"message": "Draft a page on water rights, please."})
    page = await told(member, path, "May this run?")
    assert "Who may use the well." in page
    assert repository.writes.branches() == ["main"]
    await member.submit(f"{path}/answer", {"answer": "approve"})
    await told(member, path, "The page waits for its review.")
    assert repository.writes.pulls[1]["title"] == "Add: Water rights"

    spent = (await member.get("/usage/month")).text
    assert "0.44" in spent

    models.then(*[billed(Reply(text=f"Answer {each}.")) for each in range(9)])
    for each in range(9):
        await member.get(path)
        await member.submit(path, {"message": f"Question {each}?"})
        page = await told(member, path, f"Answer {each}.", REACHED)
        if REACHED in page:
            break
    assert REACHED in page
    billed_tokens = models.billed["prompt_tokens"] + models.billed["completion_tokens"]
    assert billed_tokens == 6 * 1100
    assert "0.66" in (await admin.get("/admin/models")).text
