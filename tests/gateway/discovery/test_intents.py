"""What a question wants done, and what a tool's name says that it does."""

from __future__ import annotations

import asyncio

import pytest

from auth import Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.tier_rule import TierRules
from gateway.contract import Offer, Tool
from gateway.discovery.intents import agreement, intents_of
from tests.gateway.discovery.over import discovery_over


@pytest.mark.parametrize(
    ("asked", "name", "agrees"),
    [
        ("get rid of the branch", "delete_branch", 1),
        ("removing old labels", "delete_label", 1),
        ("erase the page", "create_page", -1),
        ("which channels are there", "list_channels", 1),
        ("look for a file", "search_files", 1),
        ("the branch", "delete_branch", 0),
        ("erase the page", "page", 0),
    ],
)
def test_a_deed_is_known_by_whichever_word(asked: str, name: str, agrees: int) -> None:
    assert agreement(intents_of(asked), intents_of(name.replace("_", " "))) == agrees


def test_of_two_tools_about_one_thing_the_one_that_does_it_comes_first() -> None:
    async def run(*_: object) -> str:
        return "done"

    names = ("create_webhook", "delete_webhook", "update_webhook")
    schema = {"type": "object", "properties": {}}
    catalog = Catalog(TierRules())
    catalog.add(
        "demo", Offer([Tool(each, "A webhook.", run, input_schema=schema) for each in names])
    )
    caller, discovery = Caller(person=None, tier=Tier.MEMBERS), discovery_over(catalog)
    for asked, name in (
        ("set up a webhook", "create_webhook"),
        ("remove the webhook", "delete_webhook"),
        ("modify the webhook", "update_webhook"),
    ):
        found, _ = asyncio.run(discovery.find(asked, 3, caller))
        assert found[0].name == name
