"""The portal's entry in a client's JSON settings, beside whatever else stands there."""

from __future__ import annotations

import json
from typing import Any

from plugins.codegraph.onboarding.clients import SettingsFile
from plugins.codegraph.onboarding.rule import SERVER


class Unmergeable(Exception):
    """The file cannot be changed without losing something; the message says why."""


def snippet(file: SettingsFile, address: str) -> str:
    """What a person would paste into the file."""
    return json.dumps({file.key: {SERVER: file.entry(address)}}, indent=2)


def merged(text: str, file: SettingsFile, address: str) -> str | None:
    """The file's text with the portal's entry in it.

    Args:
        text: what the file holds; "" where it is not there.
        file: which file it is.
        address: the portal's MCP endpoint.

    Returns:
        The new text, or None where the entry is already there.

    Raises:
        Unmergeable: it is not plain JSON (comments would be lost), its servers are no object, or
            its entry for the portal says something else, which a person has written.
    """
    settings = _read(text)
    servers = settings.setdefault(file.key, {})
    if not isinstance(servers, dict):
        raise Unmergeable(f'"{file.key}" is not an object')
    there = servers.get(SERVER)
    if there is None:
        servers[SERVER] = file.entry(address)
        return json.dumps(settings, indent=_indent(text), ensure_ascii=False) + "\n"
    if not isinstance(there, dict) or there.get(file.url) != address:
        raise Unmergeable(f'it has an entry "{SERVER}" with another address')
    return None


def _read(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise Unmergeable(f"it is not plain JSON ({error}); comments would be lost") from None
    if not isinstance(settings, dict):
        raise Unmergeable("it is not a JSON object")
    return settings


def _indent(text: str) -> int | str:
    """The indentation that the file has, so that a diff shows the new lines alone."""
    for line in text.splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return "\t" if blank[0] == "\t" else len(blank)
    return 2
