"""Addresses of MCP Apps and skills: each server has its own, so the portal puts its name in front.

A tool names its app in ``_meta.ui.resourceUri``, and hosts ask the portal for it (MCP Apps,
2026-01-26). A skill's directory is ``skill://PATH`` (SEP-2640). Both ways go through here; every
other URI crosses as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    """What was read, under its address in the portal."""
    return _with(result, "contents", lambda each: _with_shown_uri(server, each))


def with_shown_blocks(server: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool's result whose links and embedded resources can be read at the portal."""
    return _with(result, "content", lambda block: _shown_block(server, block))


def with_shown_messages(server: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same of a prompt's messages."""

    def shown(message: dict[str, Any]) -> dict[str, Any]:
        block = message.get("content")
        made = _shown_block(server, block) if isinstance(block, dict) else block
        return message if made is block else {**message, "content": made}

    return _with(result, "messages", shown)


def _shown_block(server: str, block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "resource_link":
        return _with_shown_uri(server, block)
    held = block.get("resource")
    if block.get("type") == "resource" and isinstance(held, dict):
        made = _with_shown_uri(server, held)
        return block if made is held else {**block, "resource": made}
    return block


def _with_shown_uri(server: str, each: dict[str, Any]) -> dict[str, Any]:
    uri = each.get("uri")
    shown = shown_uri(server, uri) if isinstance(uri, str) else uri
    return each if shown == uri else {**each, "uri": shown}


def _with(
    result: Mapping[str, Any], key: str, shown: Callable[[dict[str, Any]], dict[str, Any]]
) -> Mapping[str, Any]:
    """A result with the entries of a list as they are shown; the same one where none is other."""
    entries = result.get(key)
    if not isinstance(entries, list):
        return result
    made = [shown(each) if isinstance(each, dict) else each for each in entries]
    same = all(one is other for one, other in zip(made, entries, strict=True))
    return result if same else {**result, key: made}
