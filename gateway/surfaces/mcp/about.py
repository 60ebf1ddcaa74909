"""What the portal says of itself: who it is, what it can do, what it holds for this caller."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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
"""Characters of what is said of items and sources together."""
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
        usable = self._usable(caller, only)
        plugins = {plugin for plugin, _ in usable}
        held = [text for name, text in self._catalog.instructions.items() if name in plugins]
        lines = [f"This is {self._name}. You are connected with {caller.tier} access."]
        lines += [*filter(None, held), *self._said(usable)]
        beyond = self._catalog.beyond(caller, only)
        for tier, items in beyond.items():
            names = ", ".join(item.name for item in items[:_MAX_NAMES])
            more = f" and {len(items) - _MAX_NAMES} more" if len(items) > _MAX_NAMES else ""
            lines.append(f"With {tier} access there would also be: {names}{more}.")
        if beyond:
            lines.append(self._catalog.how_to_rise(caller, max(beyond)))
        return "\n".join(lines).rstrip()

    def _usable(self, caller: Caller, only: str | None) -> set[tuple[str, str]]:
        """What the caller may use: plugins, with the keys of their items and how these begin."""
        usable = set()
        for kind in _KINDS:
            for item in self._catalog.listed(kind, caller, only):
                source, slash, _ = item.identity.partition("/")
                usable |= {(item.plugin, item.identity), (item.plugin, source + slash)}
        return usable

    def _said(self, usable: Collection[tuple[str, str]]) -> Iterator[str]:
        """What is said of the items that the caller may use: each text whole, or not at all."""
        left = MAX_SAID_CHARACTERS
        for plugin, said in self._catalog.said.items():
            for of, text in said.items():
                left -= len(text) if (plugin, of) in usable else 0
                if (plugin, of) in usable and left >= 0:
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
