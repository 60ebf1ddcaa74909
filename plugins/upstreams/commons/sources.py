"""Which tool of a server is its search tool, and what it wants to be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gateway.contract import near
from plugins.upstreams.catalogue.entries import Entry
from plugins.upstreams.catalogue.names import key_of, shown_name
from plugins.upstreams.config import COMMONS_SEARCH, Commons, CommonsSettings, ToolSettings
from plugins.upstreams.servers.server import Server

HERE = "this portal"
"""What the portal's own knowledge is called among the sources; no server can be called so."""
_OWN_TOOL = "knowledge/search_knowledge"
_PATTERNS = ("search", "search_*", "*_search")
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Source:
    """What one search is asked of.

    Attributes:
        name: the server's, or :data:`HERE`.
        whole: the key of all that it has.
        key: the search tool's key.
        tool: what the portal calls it.
        argument: the argument that takes the question.
        licence: what its results may be used under, as the admin says; nothing where unsaid.
    """

    name: str
    whole: str
    key: str
    tool: str
    argument: str
    licence: str


def own_knowledge(settings: CommonsSettings) -> Source:
    """The portal's own knowledge, which is there where its plugin is."""
    plugin, _, tool = _OWN_TOOL.partition("/")
    return Source(HERE, plugin, _OWN_TOOL, tool, "query", settings.licence)


def whole_of(server: Server) -> str:
    """What the key of each of a server's tools begins with."""
    return f"upstreams/{key_of(server.name, '')}"


def source_of(server: Server) -> Source | None:
    """What a server is searched by; None where it has nothing to be searched by now."""
    config, tools = server.config, server.config.tools
    found = _search_tool(server.offered.verdict.served, config.commons or Commons(), tools)
    if found is None:
        return None
    name, argument = found
    shown = tools.alias.get(name) or shown_name(config.name, name)
    licence = config.commons.licence if config.commons else ""
    whole = whole_of(server)
    return Source(config.name, whole, whole + name, shown, argument, licence)


def trouble_of(server: Server) -> str:
    """Why a server that is marked as commons cannot be searched, for its admin; mostly nothing."""
    wanted = server.config.commons
    if wanted is None or server.offered.catalogue is None or source_of(server) is not None:
        return ""
    names = [str(each["name"]) for each in server.offered.verdict.served]
    if wanted.tool is None or wanted.tool in names:
        some = f" (it has {', '.join(names[:_MAX_NAMED])})" if names else ""
        what = wanted.tool or "search, search_* or *_search"
        return (
            f"is marked commons and has no tool {what} with one required text: say "
            f"commons: {{tool: NAME, argument: NAME}}{some}"
        )
    meant = near(wanted.tool, names, 1)
    return f"has no tool {wanted.tool}, which commons.tool names" + (
        f"; did you mean {meant[0]}?" if meant else ""
    )


def _search_tool(
    served: Iterable[Entry], wanted: Commons, tools: ToolSettings
) -> tuple[str, str] | None:
    patterns = _PATTERNS if wanted.tool is None else (wanted.tool,)
    entries = {str(each["name"]): each for each in served}
    for pattern in patterns:
        for name, entry in entries.items():
            is_meant = name == pattern if wanted.tool else fnmatchcase(name, pattern)
            if not is_meant or COMMONS_SEARCH in name:
                continue
            given = {*tools.fixed.get(name, ()), *tools.defaults.get(name, ())}
            if argument := _argument(entry["inputSchema"], wanted.argument, given):
                return name, argument
    return None


def _argument(schema: Mapping[str, Any], wanted: str | None, given: set[str]) -> str | None:
    """The argument that takes the question, where nothing else has to be given."""
    properties = schema.get("properties") or {}
    required = [each for each in schema.get("required") or () if each not in given]
    if wanted is not None:
        return wanted if wanted in properties and {*required} <= {wanted} else None
    if len(required) != 1:
        return None
    kind = properties.get(required[0])
    is_text = isinstance(kind, Mapping) and kind.get("type") == "string"
    return str(required[0]) if is_text else None
