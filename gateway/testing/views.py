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

_FROM_HERE = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}


async def shown_apps(portal: TestPortal, tier: TierName) -> set[str]:
    """The URIs of the apps that a client which shows them is told of."""
    client = McpClient(portal.http(tier), capabilities=APPS)
    found = {each["uri"] for each in await client.list("resources")}
    return {item.name for item in portal.running.catalog.views.items} & found


class ViewContract(SuitePart):
    """A part of ``PluginContract``."""

    calls: Mapping[str, Sequence[Mapping[str, Any]]] = {}

    async def test_views_show_what_their_tools_return(self) -> None:
        """Each view is a page, for no arguments, for those that are given for its tool, and as
        the start page and the portal's search show it."""
        async with self.opened() as portal:
            for item in portal.running.catalog.views.items:
                view = declared_view(item)
                shown = [{}, *self.calls.get(view.tool, ())]
                shown += [{view.asks: "water"}] if view.asks else []
                shown += [] if view.glance is None else [view.glance]
                for arguments in shown:
                    address = f"/{item.plugin}/{view.page}?{query_of(arguments)}"
                    answer = await portal.http("members").get(address)
                    assert answer.status_code == 200, f"{address}: {answer.text}"

    async def test_a_form_of_a_view_is_taken_from_its_own_page_alone(self) -> None:
        """Without the mark of a page that this person was shown, nothing is called."""
        async with self.opened() as portal:
            for item in portal.running.catalog.views.items:
                view = declared_view(item)
                for each in view.writes:
                    fields = {"request": f'["{each.tool}","{view.tool}",{{}}]', "csrf": "x"}
                    answer = await portal.http("members").post(
                        f"/{item.plugin}/{view.page}", data=fields, headers=_FROM_HERE
                    )
                    assert answer.status_code == 403, f"{item.name}: {answer.text}"
