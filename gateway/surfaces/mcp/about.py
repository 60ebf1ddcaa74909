"""What the portal says of itself: who it is, what it can do, what it holds for this caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Kind
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.results import LIST_TTL_MS
from gateway.surfaces.mcp.skills import EXTENSION, SETTINGS
from gateway.surfaces.mcp.task_states import EXTENSION as TASKS

_MAX_NAMES = 8
MAX_SAID_CHARACTERS = 6_000
"""Characters of what all sources together say of themselves."""
_KINDS: tuple[Kind, ...] = ("tool", "prompt", "resource", "template", "skill")


class About:
    """The portal's self-description.

    Args:
        name: the portal's name.
        version: Porch's version.
        url: the portal's public address.
        catalog: what there is, and for whom.
    """

    def __init__(self, name: str, version: str, url: str, catalog: Catalog) -> None:
        self.server: Mapping[str, Any] = {
            "name": "porch",
            "title": name,
            "version": version,
            "websiteUrl": url,
        }
        self._name = name
        self._catalog = catalog

    def capabilities(self, *, modern: bool) -> dict[str, Any]:
        """The server capabilities of an era."""
        changes = {"listChanged": True}
        both: dict[str, Any] = {
            "tools": changes,
            "prompts": changes,
            "resources": {"listChanged": True, "subscribe": True},
            "completions": {},
        }
        # Whether or not a plugin serves skills now: one may begin to while clients are connected.
        extensions = {EXTENSION: dict(SETTINGS)}
        if modern:
            return both | {"extensions": {**extensions, TASKS: {}}}
        return both | {"logging": {}, "experimental": extensions}

    def instructions(self, caller: Caller, only: str | None = None) -> str:
        """What an agent should know: what the portal holds, and what signing in would add."""
        held = [
            text
            for plugin, text in self._catalog.instructions.items()
            if text and only in (None, plugin)
        ]
        lines = [f"This is {self._name}. You are connected with {caller.tier} access.", *held]
        lines += self._said(caller, only)
        beyond = self._catalog.beyond(caller, only)
        for tier, items in beyond.items():
            names = ", ".join(item.name for item in items[:_MAX_NAMES])
            more = f" and {len(items) - _MAX_NAMES} more" if len(items) > _MAX_NAMES else ""
            lines.append(f"With {tier} access there would also be: {names}{more}.")
        if beyond:
            lines.append(self._catalog.how_to_rise(caller, max(beyond)))
        return "\n".join(lines).rstrip()

    def _said(self, caller: Caller, only: str | None) -> Iterator[str]:
        """What the sources say of themselves of which the caller may use something."""
        every = {
            (plugin, begins): text
            for plugin, said in self._catalog.said.items()
            for begins, text in said.items()
        }
        if not every:
            return
        usable = {
            (item.plugin, f"{item.identity.partition('/')[0]}/")
            for kind in _KINDS
            for item in self._catalog.listed(kind, caller, only)
        }
        left = MAX_SAID_CHARACTERS
        for source, text in every.items():
            left -= len(text) if source in usable else 0
            if source in usable and left >= 0:
                yield text

    async def discover(self, request: Request) -> bytes:
        """Answer ``server/discover``."""
        result = {
            "supportedVersions": list(MODERN_PROTOCOL_VERSIONS),
            "capabilities": self.capabilities(modern=True),
            "serverInfo": self.server,
            "instructions": self.instructions(request.caller, request.only),
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "private",
        }
        return request.era.result("server/discover", result)
