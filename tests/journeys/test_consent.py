"""What an agent writes for everybody: its person is asked in their client, or another one is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as mcp
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.faults.conftest import Place, Portal
from tests.faults.conftest import place as place
from tests.journeys.balancer import Member
from tests.journeys.member import plain_client, said
from tests.journeys.world import ERAS

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

TIERS = """
access: {public: {any_of: [signed_in]}, members: {any_of: [signed_in]}}
items: {knowledge: open}
"""


@pytest.fixture
def portal(place: Place) -> Portal:
    """A portal where everyone who is signed in is a member."""
    place.configure("services: {embedding: none}")
    (place.root / "config" / "tiers.yaml").write_text(TIERS)
    return place.serve().ready()


def someone(portal: Portal) -> str:
    """A token of somebody new who has signed in, and is a member thereby."""
    with Member(portal, portal.url) as person:
        person.sign_in()
        return person.api_token()


def approve(portal: Portal, path: str) -> None:
    """Say yes to a request on its page, as one more person in a browser."""
    with Member(portal, portal.url) as person:
        person.sign_in(path)
        done = person.submit(person.get(path), path, answer="approve")
        assert done.status_code == 303, done.text


class Asked:
    """A person in front of a client that shows forms.

    Attributes:
        answer: what they say to whatever they are asked.
        questions: what they were asked.
    """

    def __init__(self, approve: bool) -> None:
        self.answer = approve
        self.questions: list[str] = []

    async def __call__(self, context: Any, params: Any) -> mcp.ElicitResult:
        self.questions.append(params.message)
        return mcp.ElicitResult(action="accept", content={"approve": self.answer})


@asynccontextmanager
async def asking(portal: Portal, token: str, era: str, person: Asked) -> AsyncGenerator[Client]:
    """A client that shows its person forms."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http:
        stream = streamable_http_client(f"{portal.url}/mcp", http_client=http)
        async with Client(stream, mode=era, elicitation_callback=person) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    answer: dict[str, Any] = result.structured_content
    return answer


async def found(client: Client, query: str) -> list[str]:
    """What memory finds."""
    answer = await call(client, "query_memory", query=query, layers=["semantic"])
    return [each["content"] for each in answer["results"]]


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_is_asked_in_their_client_and_everybody_finds_what_they_allow(
    portal: Portal, era: str
) -> None:
    ana, ben = someone(portal), someone(portal)
    yes, no = Asked(True), Asked(False)
    async with plain_client(f"{portal.url}/mcp", ben, era) as his:
        async with asking(portal, ana, era, yes) as hers:
            wanted = {"content": "The gate opens at nine.", "policy": "organization"}
            kept = await call(hers, "remember", **wanted)
            assert (kept["status"], len(yes.questions)) == ("created", 1)
            assert "The gate opens at nine." in yes.questions[0]
            assert await found(hers, "gate") == ["The gate opens at nine."]
        async with asking(portal, ana, era, no) as hers:
            other = {"content": "The gate is never closed.", "policy": "organization"}
            refused = await hers.call_tool("remember", other)
            assert refused.is_error
            assert "said no" in said(refused)
        assert await found(his, "gate") == ["The gate opens at nine."]


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_client_that_asks_a_request_waits_for_another_person(
    portal: Portal, era: str
) -> None:
    ana, ben, cy = someone(portal), someone(portal), someone(portal)
    address = f"{portal.url}/mcp"
    person = Asked(True)
    async with (
        plain_client(address, ana, era) as hers,
        plain_client(address, ben, era) as his,
        asking(portal, cy, era, person) as theirs,
    ):
        wanted = {"content": "The well is safe.", "policy": "organization"}
        kept = await call(hers, "remember", **wanted)
        assert kept["status"] == "pending_approval"
        assert await found(hers, "well") == await found(his, "well") == []
        (waits,) = (await call(his, "list_approvals"))["data"]
        assert (waits["id"], waits["content"]) == (kept["approval"], "The well is safe.")

        # No client approves, whatever it says that its person said; somebody does in a browser.
        where = f"/approvals/knowledge/{waits['id']}"
        for alone in (his, theirs):
            told = await alone.call_tool("decide_approval", {"id": waits["id"], "approve": True})
            assert told.is_error
            assert where in said(told)
        assert person.questions == []
        assert await found(his, "well") == []
        await asyncio.to_thread(approve, portal, where)
        for client in (hers, his, theirs):
            assert await found(client, "well") == ["The well is safe."]


async def test_what_nobody_has_answered_in_time_is_kept_as_a_request(place: Place) -> None:
    place.configure("services: {embedding: none}\nlimits: {call: 2s, question: 3s}")
    (place.root / "config" / "tiers.yaml").write_text(TIERS)
    portal = place.serve().ready()
    ana, ben = someone(portal), someone(portal)

    class Away(Asked):
        async def __call__(self, context: Any, params: Any) -> mcp.ElicitResult:
            self.questions.append(params.message)
            await asyncio.sleep(60)
            return mcp.ElicitResult(action="accept", content={"approve": True})

    person = Away(True)
    async with (
        asking(portal, ana, ERAS[0], person) as hers,
        plain_client(f"{portal.url}/mcp", ben, ERAS[0]) as his,
    ):
        wanted = {"content": "The well is safe.", "policy": "organization"}
        kept = await call(hers, "remember", **wanted)
        assert (kept["status"], len(person.questions)) == ("pending_approval", 1)
        (waits,) = (await call(his, "list_approvals"))["data"]
        assert (waits["id"], waits["state"]) == (kept["approval"], "pending")
