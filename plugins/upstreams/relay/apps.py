"""Addresses of MCP Apps and skills: each server has its own, so the portal puts its name in front.

A tool names its app in ``_meta.ui.resourceUri``, and hosts ask the portal for it (MCP Apps,
2026-01-26). A skill's directory is ``skill://PATH`` (SEP-2640). Both ways go through here; every
other URI crosses as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMES = ("ui://", "skill://")
_OLDER_KEY = "ui/resourceUri"
"""Where the first draft of the extension had the address."""


def shown_uri(server: str, uri: str) -> str:
    """What the portal calls a server's resource."""
    for scheme in SCHEMES:
        if uri.startswith(scheme):
            return f"{scheme}{server}/{uri[len(scheme) :]}"
    return uri


def own_uri(server: str, uri: str) -> str:
    """What a server calls its resource, which the portal calls so."""
    for scheme in SCHEMES:
        if uri.startswith(begin := shown_uri(server, scheme)):
            return scheme + uri[len(begin) :]
    return uri


def with_shown_app(server: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool's entry with its app's address in the portal."""
    meta = entry.get("_meta")
    if not isinstance(meta, dict):
        return entry
    made = dict(meta)
    if isinstance(uri := made.get(_OLDER_KEY), str):
        made[_OLDER_KEY] = shown_uri(server, uri)
    own = made.get("ui")
    if isinstance(own, dict) and isinstance(uri := own.get("resourceUri"), str):
        made["ui"] = {**own, "resourceUri": shown_uri(server, uri)}
    return {**entry, "_meta": made} if made != meta else entry


def with_shown_contents(server: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was read of an app, under its address in the portal."""
    contents = result.get("contents")
    if not isinstance(contents, list):
        return result
    made = [
        {**each, "uri": shown_uri(server, each["uri"])}
        if isinstance(each, dict) and isinstance(each.get("uri"), str)
        else each
        for each in contents
    ]
    return {**result, "contents": made} if made != contents else result
