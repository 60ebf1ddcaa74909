"""A plugin that is open offers something else."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp_types import ToolAnnotations

from gateway.contract import (
    Change,
    Offer,
    Plugin,
    Skill,
    SkillFile,
    Tier,
    Tool,
    UpstreamCredential,
    View,
)
from gateway.testing import RequestRefused, open_test_portal
from tests.gateway.surfaces.views import painted
from tests.gateway.test_plugin_host import _module, _plugin, _run


def _tool(name, **more):
    return Tool(name, "A tool.", _run, input_schema={"type": "object"}, **more)


def _skill(path, tier=None):
    async def read(file, caller):
        return b""

    said = {"name": path.rpartition("/")[2], "description": "A skill."}
    return Skill(path, said, [SkillFile("SKILL.md", "0" * 64, 0)], read, tier=tier)


@asynccontextmanager
async def _reoffering(*others, tiers="default: members"):
    """A portal with the plugin ``b``, the host of ``b``, and what is told of changes."""
    hosts = []

    @asynccontextmanager
    async def opened(config, host):
        hosts.append(host)
        host.reoffer(Offer(tools=[_tool("early")]))
        bad = Tool("bad", "A tool.", _run, input_schema={"type": "array"})
        yield Offer(
            tools=[_tool("first"), bad],
            skills=[_skill("b/old")],
            instructions="It changes.",
            credential=UpstreamCredential("x-b"),
        )

    module = _module("b", lambda: Plugin("b", "A plugin.", opened))
    async with open_test_portal(_plugin("a"), module, *others, tiers=tiers) as portal:
        told: asyncio.Queue[Change] = asyncio.Queue()
        portal.running.changes.listen(told.put_nowait)
        yield portal, hosts[0], told


async def test_an_offer_is_replaced_while_the_plugin_is_open_and_told_where_lists_change():
    async with _reoffering(_plugin("c")) as (portal, host, told):
        assert list(await portal.tools()) == ["a_tool", "first", "c_tool"]
        assert len(portal.running.catalog.set_aside) == 1
        host.reoffer(Offer(tools=[_tool("second")], skills=[_skill("b/new")], instructions="Anew."))
        changes = [await asyncio.wait_for(told.get(), 60) for _ in range(2)]
        assert list(await portal.tools()) == ["a_tool", "second", "c_tool"]
        assert list(await portal.skills()) == ["skill://b/new/SKILL.md"]
        assert list(await portal.resources()) == ["skill://b/new/SKILL.md"]
        with pytest.raises(RequestRefused, match="No skill is served"):
            await portal.skill("skill://b/old/SKILL.md")
        with pytest.raises(RequestRefused, match="Unknown tool: first"):
            await portal.call("first")
        await asyncio.sleep(0.05)
        assert told.empty()
        assert changes == [Change("b", kind) for kind in ("tools", "resources")]
        catalog = portal.running.catalog
        assert catalog.set_aside == []
        assert catalog.instructions["b"] == "Anew."
        offer = portal.running.plugins.offers["b"]
        assert offer.credential == UpstreamCredential("x-b")


async def test_what_is_offered_anew_stands_under_the_tier_rules_at_once():
    tiers = "default: open\nitems:\n  b/later: members\n  b/resource:skill://b/later/*: members\n"
    async with _reoffering(tiers=tiers) as (portal, host, _):
        assert set(await portal.tools("open")) == {"a_tool", "first"}
        host.reoffer(Offer(tools=[_tool("later"), _tool("plain")], skills=[_skill("b/later")]))
        assert set(await portal.tools("open")) == {"a_tool", "plain"}
        assert await portal.skills("open") == {}
        assert set(await portal.tools()) == {"a_tool", "later", "plain"}
        refused = await portal.call("later", tier="open")
        assert refused.text.startswith("Requires members access.")


async def test_a_clash_in_a_later_offer_sets_aside_the_item_alone():
    async with _reoffering() as (portal, host, _):
        host.reoffer(Offer(tools=[_tool("a_tool"), _tool("fine")]))
        (aside,) = portal.running.catalog.set_aside
        assert (aside.plugin, aside.item) == ("b", "a_tool")
        assert set(await portal.tools()) == {"a_tool", "fine"}
        host.reoffer(Offer(tools=[_tool("fine")]))
        assert portal.running.catalog.set_aside == []


async def test_views_come_with_the_offer_that_replaces_another():
    async with _reoffering() as (portal, host, _):
        assert (await portal.http("open").get("/b/later")).status_code == 404
        tool = _tool("later", tier=Tier.OPEN, annotations=ToolAnnotations(read_only_hint=True))
        template = Path(painted.__file__).with_name("thing.html")
        host.reoffer(Offer(tools=[tool], views=[View("later", "Later", "later", template)]))
        assert (await portal.http("open").get("/b/later")).status_code == 200
