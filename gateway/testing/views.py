"""What every plugin owes its portal where it declares views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.catalog.views import declared_view
from gateway.cli.mcp_client import McpClient
from gateway.surfaces.views.address import query_of
from gateway.surfaces.views.apps import APPS
from gateway.testing.portal import TestPortal, TierName
from gateway.testing.suite_part import SuitePart


async def shown_apps(portal: TestPortal, tier: TierName) -> set[str]:
    """The URIs of the apps that a client which shows them is told of."""
    client = McpClient(portal.http(tier), capabilities=APPS)
    found = {each["uri"] for each in await client.list("resources")}
    return {item.name for item in portal.running.catalog.views.items} & found


class ViewContract(SuitePart):
    """A part of ``PluginContract``."""

    calls: Mapping[str, Sequence[Mapping[str, Any]]] = {}

    async def test_views_show_what_their_tools_return(self) -> None:
        """Each view is a page, for no arguments and for those that are given for its tool."""
        async with self.opened() as portal:
            for item in portal.running.catalog.views.items:
                view = declared_view(item)
                for arguments in ({}, *self.calls.get(view.tool, ())):
                    address = f"/{item.plugin}/{view.page}?{query_of(arguments)}"
                    answer = await portal.http("members").get(address)
                    assert answer.status_code == 200, f"{address}: {answer.text}"
