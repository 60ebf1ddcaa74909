"""The calls that tools make of others, as this surface makes calls: by way of ``call_tool``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as mcp

from gateway.catalog.catalog import Catalog
from gateway.catalog.items import CALL_TOOL
from gateway.pipeline.call import Call
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.surfaces.mcp.calls import Calls
from gateway.surfaces.mcp.request import Channel, Request
from gateway.surfaces.mcp.results import Era


class CallsOfTools:
    """Makes them (:data:`gateway.pipeline.inner_calls.MakeCall`).

    Args:
        catalog: knows what a key is called.
        calls: makes requests into calls.
    """

    def __init__(self, catalog: Catalog, calls: Calls) -> None:
        self._catalog = catalog
        self._calls = calls
        self._era = Era(mcp.LATEST_PROTOCOL_VERSION, {})

    def make(self, context: CallContext, key: str, arguments: Mapping[str, Any]) -> Call:
        """The call of a tool; its caller has no client that could be told or asked something."""
        name = self._catalog.keyed(key) or key
        inner = {"name": name, "arguments": arguments}
        params = {"name": CALL_TOOL, "arguments": inner}
        channel = Channel(Outbox(), {})
        request = Request("", "tools/call", params, {}, self._era, context, channel)
        return self._calls.table["tools/call"](request)
