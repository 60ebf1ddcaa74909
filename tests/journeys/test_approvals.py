"""A tool that waits, with real clients of both eras, through a restart and on another replica."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from mcp import Client

from tests.faults.conftest import Place, Portal
from tests.faults.conftest import place as place
from tests.journeys.balancer import Member, empty_database
from tests.journeys.member import plain_client, said
from tests.journeys.test_consent import Asked, asking
from tests.journeys.world import ERAS

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

Someone = Callable[[Portal], tuple[Member, str]]

TIERS = """
access: {members: signed_in}
items:
  workflows: open
  workflows/create_folder: {tier: public, approve: {by: caller}}
  workflows/add_workflow: public
  workflows/list_runs: {tier: public, approve: {by: signed_in}}
"""


@pytest.fixture
def configured(place: Place) -> Place:
    place.configure("services: {embedding: none}")
    (place.root / "config" / "tiers.yaml").write_text(TIERS)
    return place


@pytest.fixture
def someone() -> Iterator[Someone]:
    """Brings somebody new at a browser, and a token of theirs for an agent."""
    with ExitStack() as stack:

        def come(portal: Portal) -> tuple[Member, str]:
            person = stack.enter_context(Member(portal, portal.url))
            person.sign_in()
            return person, person.api_token()

        yield come


@pytest.fixture
def shared(configured: Place, postgres_url: str) -> Iterator[dict[str, str]]:
    """What replicas have in common, for their environment."""
    configured.configure("services: {embedding: none, database: env:ADDRESS}")
    with empty_database(postgres_url) as address:
        yield {"ADDRESS": address, "PORCH_SIGNING_KEY": uuid.uuid4().hex}


def approve(person: Member, url: str) -> None:
    """Say yes on the page that an answer names."""
    path = "/approvals" + url.partition("/approvals")[2]
    page = person.get(path)
    assert "May this run?" in page.text
    assert person.submit(page, path, answer="approve").status_code == 303
    assert "It is approved" in person.get(path).text


async def create(client: Client, name: str) -> Any:
    return await client.call_tool("create_folder", {"name": name})


@pytest.mark.parametrize("era", ERAS)
async def test_whoever_calls_is_asked_in_their_client_for_each_run(
    configured: Place, someone: Someone, era: str
) -> None:
    portal = configured.serve().ready()
    _, token = someone(portal)
    yes, no = Asked(True), Asked(False)
    async with asking(portal, token, era, yes) as client:
        assert not (await create(client, "Recipes")).is_error
        assert not (await create(client, "Songs")).is_error
    assert len(yes.questions) == 2
    assert '"name": "Songs"' in yes.questions[1]
    async with asking(portal, token, era, no) as client:
        refused = await create(client, "Never")
        assert refused.is_error
        assert "your person said no" in said(refused)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_ask_is_led_to_the_page_and_somebody_else_decides(
    configured: Place, someone: Someone, era: str
) -> None:
    portal = configured.serve().ready()
    ana, token = someone(portal)
    ben, _ = someone(portal)
    async with plain_client(f"{portal.url}/mcp", token, era) as client:
        own = await create(client, "By hand")
        approve(ana, page_of(own))
        assert not (await create(client, "By hand")).is_error
        assert (await create(client, "By hand")).is_error
        waits = page_of(await client.call_tool("list_runs", {}))
        assert "takes somebody else" in ana.get(waits).text
        approve(ben, waits)
        assert not (await client.call_tool("list_runs", {})).is_error
        assert page_of(await client.call_tool("list_runs", {})) != waits


def page_of(result: Any) -> str:
    """The path of the page that an answer names."""
    assert result.is_error, said(result)
    found = re.search(r"/approvals/ap_\w+", said(result))
    assert found is not None
    return found[0]


async def test_a_yes_survives_a_restart_and_is_spent_at_another_replica(
    configured: Place, someone: Someone, shared: dict[str, str]
) -> None:
    def serve(data: str) -> Portal:
        return configured.serve("--data", str(configured.root / data), **shared).ready()

    first, second = serve("one"), serve("two")
    _, token = someone(first)
    async with plain_client(f"{first.url}/mcp", token, ERAS[1]) as client:
        waits = page_of(await client.call_tool("list_runs", {}))
    approve(someone(second)[0], waits)
    assert first.stop() == second.stop() == 0
    again = serve("three")
    async with plain_client(f"{again.url}/mcp", token, ERAS[1]) as client:
        assert not (await client.call_tool("list_runs", {})).is_error
        assert (await client.call_tool("list_runs", {})).is_error
    assert again.stop() == 0
