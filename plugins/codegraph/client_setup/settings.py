"""Adds the portal's entry to a client's JSON settings, and leaves everything else unchanged."""

from __future__ import annotations

import json
from typing import Any

from plugins.codegraph.client_setup.clients import SettingsFile
from plugins.codegraph.client_setup.jsonc import parsed, root
from plugins.codegraph.client_setup.rule import SERVER


class Unmergeable(Exception):
    """The file cannot be changed without losing something; the message says why."""


def snippet(file: SettingsFile, address: str) -> str:
    """What a person would paste into the file."""
    return json.dumps({file.key: {SERVER: file.entry(address)}}, indent=2)


def merged(text: str, file: SettingsFile, address: str) -> str | None:
    """The file's text with the portal's entry added.

    Args:
        text: the file's content; "" if it does not exist.
        file: which file it is.
        address: the portal's MCP endpoint.

    Returns:
        The new text, or None if the entry is there already.

    Raises:
        Unmergeable: it is not JSON (with or without comments), its servers are not an object, or
            its entry for the portal differs, so a person has written it.
    """
    if not text.strip("\ufeff \t\r\n"):
        return f"{text}{snippet(file, address)}\n"
    settings, clean = _read(text)
    servers = settings.get(file.key)
    top = root(text, clean)
    if file.key not in settings:
        return top.with_member(file.key, {SERVER: file.entry(address)}, 0)
    inner = top.inner(file.key)
    if inner is None or not isinstance(servers, dict):
        raise Unmergeable(f'"{file.key}" is not one object')
    there = servers.get(SERVER)
    if SERVER not in servers:
        return inner.with_member(SERVER, file.entry(address), 1)
    if not isinstance(there, dict) or there.get(file.url) != address:
        raise Unmergeable(f'it has an entry "{SERVER}" with another address')
    return None


def _read(text: str) -> tuple[dict[str, Any], str]:
    try:
        settings, clean = parsed(text)
    except (ValueError, RecursionError) as error:
        raise Unmergeable(f"it is not JSON ({error})") from None
    if not isinstance(settings, dict):
        raise Unmergeable("it is not a JSON object")
    return settings, clean
