"""MCP Apps as resources: those of views, and the portal's own for calls that wait for a yes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as mcp

from gateway.catalog.items import PORTAL, Item
from gateway.contract import APP_MEDIA_TYPE, View

APP_META: Mapping[str, Any] = {
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": False}
}
"""What a host is told of the document of an App: it talks to nobody (MCP Apps, "Security")."""


def app_item(plugin: str, view: View, description: str) -> Item:
    """The resource that is the App of a view.

    Args:
        plugin: whose it is.
        view: the view.
        description: what it draws.
    """
    uri = f"ui://{plugin}/{view.name}"
    entry = mcp.Resource(
        uri=uri,
        name=view.name,
        title=view.title,
        description=description,
        mime_type=APP_MEDIA_TYPE,
        _meta=dict(APP_META),
    )
    shown = entry.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Item(plugin, "resource", uri, view, shown, dict)


APPROVAL_APP = app_item(
    PORTAL,
    # It shows no tool of its own: it draws what the portal answers in place of one that waits.
    View("approval", "A call that waits for a yes", "", Path()),
    "Draws what a call that waits for a person's yes would do, and who decides.",
)
"""The App of tools that wait for a yes and have no view. It is there while any tool waits."""
