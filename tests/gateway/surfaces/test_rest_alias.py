"""Routes of plugins whose tools an admin gave other names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.refusals import NotAllowed
from gateway.catalog.tier_rule import TierRules
from gateway.contract import Offer, Plugin, Route, Tier, Tool, hookimpl
from gateway.errors import NotFound
from gateway.testing import open_test_portal
from tests.examples import examples


class Nothing(BaseModel):
    pass


class Said(BaseModel):
    by: str


def plugin(name: str) -> Any:
    async def say(params: Nothing, caller: Caller) -> Said:
        return Said(by=name)

    @asynccontextmanager
    async def opened(config: Any, host: Any) -> AsyncIterator[Offer]:
        route = Route("GET", "/said", say, "find", Nothing, Said, "Say.")
        yield Offer(tools=[Tool("find", "Finds.", say, args=Nothing)], routes=[route])

    return SimpleNamespace(porch_plugin=hookimpl(lambda: Plugin(name, "Says.", opened)))


def aliased(name: str, alias: Mapping[str, str]) -> dict[str, Any]:
    return {"plugins": {name: {"alias": dict(alias)}}}


async def test_an_alias_leaves_the_route_where_it_is() -> None:
    config = aliased("one", {"find": "look_up"})
    tiers = {"items": {"one/look_up": "members"}}
    async with open_test_portal(plugin("one"), config=config, tiers=tiers) as portal:
        assert (await portal.get("/api/v1/one/said", tier="members")).json() == {"by": "one"}
        assert (await portal.get("/api/v1/one/said")).status_code == 401
        assert (await portal.get("/api/v1/one/said", tier="public")).status_code == 403


@pytest.mark.parametrize("renamed", ["one", "two"])
async def test_a_route_has_its_own_tools_tier_and_not_that_of_a_namesake(renamed: str) -> None:
    other = "two" if renamed == "one" else "one"
    tiers = {"items": {f"{renamed}/other_find": "members", f"{other}/find": "open"}}
    config = aliased(renamed, {"find": "other_find"})
    async with open_test_portal(plugin("one"), plugin("two"), config=config, tiers=tiers) as portal:
        assert (await portal.get(f"/api/v1/{other}/said")).json() == {"by": other}
        assert (await portal.get(f"/api/v1/{renamed}/said")).status_code == 401
        answer = await portal.get(f"/api/v1/{renamed}/said", tier="members")
        assert answer.json() == {"by": renamed}


async def test_a_route_whose_tool_was_set_aside_is_not_served_by_its_namesake() -> None:
    tiers = {"items": {"one": "open", "two": "members"}}
    async with open_test_portal(plugin("one"), plugin("two"), tiers=tiers) as portal:
        assert (await portal.get("/api/v1/one/said")).json() == {"by": "one"}
        assert (await portal.get("/api/v1/two/said", tier="members")).status_code == 404


PLUGINS = ("a", "b", "c")
NAMES = ("x", "y", "z")


@settings(max_examples=examples(50))
@given(
    tiers=st.lists(st.sampled_from(list(Tier)), min_size=9, max_size=9),
    aliases=st.lists(
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*NAMES, "w", "v", "u"])),
        min_size=3,
        max_size=3,
    ),
    tier=st.sampled_from(list(Tier)),
)
def test_whatever_the_aliases_a_declared_name_leads_to_that_plugins_tool_or_nowhere(
    tiers: list[Tier], aliases: list[dict[str, str]], tier: Tier
) -> None:
    async def run(args: Any, caller: Any) -> str:
        return ""

    catalog = Catalog(TierRules())
    given_tiers = iter(tiers)
    declared: dict[tuple[str, str], Tool] = {}
    for name, alias in zip(PLUGINS, aliases, strict=True):
        tools = [Tool(each, "A tool.", run, tier=next(given_tiers), args=Nothing) for each in NAMES]
        declared |= {(name, each.name): each for each in tools}
        catalog.add(name, Offer(tools=tools), alias)
    caller = Caller("person:x", tier)
    for (name, tool), meant in declared.items():
        may = False
        try:
            found = catalog.tool(catalog.called(name, tool) or "", caller, name)
        except (NotFound, NotAllowed):
            pass
        else:
            assert found.declared is meant
            may = True
        assert catalog.allows(name, tool, caller) == may
        assert not may or tier.allows(meant.tier or Tier.OPEN)
