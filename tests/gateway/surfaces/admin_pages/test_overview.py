"""The overview counts what waits in plugins, as they say it, where the admin may see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.contract import Backlog, Caller, Host, Offer, Plugin, Tool, ToolFailed, View, hookimpl
from gateway.testing import open_test_portal
from tests.gateway.surfaces.admin_pages.conftest import EVIL, TIERS, Looked
from tests.gateway.surfaces.views.painted import HERE, READS


class Weeds(BaseModel):
    """What grows where it should not."""

    name: str = "nettle"


async def weeds() -> Weeds:
    """List the weeds."""
    return Weeds()


async def roots() -> Weeds:
    """List the roots."""
    return Weeds()


def plot(counted: Any) -> Any:
    """A plugin in which something waits."""

    async def backlog(caller: Caller) -> Sequence[Backlog]:
        assert caller.admin
        if isinstance(counted, Exception):
            raise counted
        return [
            Backlog(counted, f"weed {EVIL} waits", "weeds wait", "weeds"),
            Backlog(7, "root waits", "roots wait", "roots"),
        ]

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
        tools = [Tool.of(each, annotations=READS) for each in (weeds, roots)]
        views = [View("weeds", "Weeds", "weeds", HERE / "thing.html")]
        yield Offer(tools=tools, views=views, backlog=backlog)

    module: Any = ModuleType("module_plot")
    module.porch_plugin = hookimpl(lambda: Plugin("plot", "A plot.", opened))
    return module


async def overview(counted: Any, access: Any = TIERS["access"]) -> str:
    """What an admin sees."""
    tiers = {"access": access, "items": {"plot": "open", "plot/roots": "members"}}
    async with open_test_portal(plot(counted), tiers=tiers) as portal:
        looked = Looked(portal)
        browser = await looked.admin()
        page = await browser.get("/admin")
        await browser.aclose()
    assert page.status_code == 200
    return str(page.text)


async def test_what_waits_in_a_plugin_is_counted_and_leads_to_where_it_is_seen() -> None:
    page = await overview(3)
    assert '<a href="/plot/weeds">3 weeds wait</a>' in page
    assert "7 roots wait" in page
    one = await overview(1)
    assert "1 weed &lt;script&gt;" in one
    none = await overview(0)
    assert "weeds wait" not in none


async def test_what_the_admin_may_not_see_is_not_told() -> None:
    page = await overview(3, {"admins": TIERS["access"]["admins"]})
    assert "3 weeds wait" in page
    assert "roots wait" not in page


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolFailed("not_allowed", "Not for you."), ""),
        (RuntimeError("a secret"), "What waits in plot is not known just now"),
    ],
)
async def test_a_plugin_that_cannot_say_it_spoils_nothing(error: Exception, told: str) -> None:
    page = await overview(error)
    assert told in page
    assert "a secret" not in page
    assert "wait</a>" not in page
