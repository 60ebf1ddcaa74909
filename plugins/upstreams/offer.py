"""What all servers offer, as the portal's declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from gateway.contract import (
    Caller,
    Offer,
    Origin,
    Prompt,
    Resource,
    ResourceTemplate,
    Skill,
    SkillFile,
    Tool,
)
from plugins.upstreams.catalogue.entries import Entry
from plugins.upstreams.catalogue.names import key_of, shown_name
from plugins.upstreams.catalogue.skills import files_of, path_of
from plugins.upstreams.config import Server as ServerConfig
from plugins.upstreams.relay.apps import own_uri, shown_uri, with_shown_app
from plugins.upstreams.relay.calls import Calls, CurrentExchange
from plugins.upstreams.relay.parked import Parked
from plugins.upstreams.relay.templates import pattern_of
from plugins.upstreams.servers.server import Server


def offer_of(servers: Iterable[Server], exchange: CurrentExchange, parked: Parked) -> Offer:
    """The declarations of all that is served.

    Args:
        servers: in the order of ``portal.yaml``: of two with one URI the first has it.
        exchange: gives the call that is running.
        parked: the calls that wait for their clients.
    """
    each = [(server, Calls(server, exchange, parked)) for server in servers]
    return Offer(
        tools=[tool for server, calls in each for tool in _tools(server, calls)],
        prompts=[prompt for server, calls in each for prompt in _prompts(server, calls)],
        resources=[one for server, calls in each for one in _resources(server, calls)],
        templates=[one for server, calls in each for one in _templates(server, calls)],
        skills=[one for server, calls in each for one in _skills(server, calls)],
        said={key_of(one.name, ""): text for one, _ in each if (text := one.instructions[0])},
    )


def _tools(server: Server, calls: Calls) -> Iterator[Tool]:
    config = server.config
    for entry in server.verdict.served:
        name = str(entry["name"])
        shown = _shown_tool(entry, config)
        yield Tool(
            config.tools.alias.get(name) or shown_name(config.name, name),
            str(shown.get("description") or ""),
            partial(calls.tool, name),
            tier=config.tier,
            timeout=config.timeout.total_seconds(),
            origin=Origin(key_of(config.name, name), shown),
        )


def _shown_tool(entry: Entry, config: ServerConfig) -> Entry:
    """A tool's entry with what ``portal.yaml`` puts in place of what the server says."""
    name, settings = str(entry["name"]), config.tools
    shown = dict(with_shown_app(config.name, entry))
    if (said := settings.description.get(name)) is not None:
        shown["description"] = said
    if hints := settings.annotations.get(name):
        shown["annotations"] = {**(shown.get("annotations") or {}), **hints}
    given = settings.fixed.get(name, {}), settings.defaults.get(name, {})
    if any(given):
        shown["inputSchema"] = _without(entry["inputSchema"], *given)
    return shown


def _without(
    schema: Mapping[str, Any], fixed: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A schema without the arguments that the portal gives, and with its defaults."""
    properties = {
        name: {**each, "default": defaults[name]} if name in defaults else each
        for name, each in (schema.get("properties") or {}).items()
        if name not in fixed
    }
    required = [name for name in schema.get("required") or () if name not in {*fixed, *defaults}]
    made = {**schema, "properties": properties, "required": required}
    return made if required else {key: each for key, each in made.items() if key != "required"}


def _prompts(server: Server, calls: Calls) -> Iterator[Prompt]:
    for entry in server.offered("prompt"):
        name = str(entry["name"])
        yield Prompt(
            shown_name(server.name, name),
            str(entry.get("description") or ""),
            partial(calls.prompt, name),
            complete=calls.completers({"type": "ref/prompt", "name": name}),
            tier=server.config.tier,
            origin=Origin(key_of(server.name, name), entry),
        )


def _skills(server: Server, calls: Calls) -> Iterator[Skill]:
    for entry in server.skills:
        files = files_of(entry)
        addresses = {each.path: each.uri for each in files}
        yield Skill(
            f"{server.name}/{path_of(entry)}",
            entry["frontmatter"],
            [SkillFile(each.path, each.digest, each.size, each.mime_type) for each in files],
            partial(_skill_file, calls, addresses),
            tier=server.config.tier,
            origin=Origin(key_of(server.name, str(entry["uri"])), entry),
        )


async def _skill_file(
    calls: Calls, addresses: Mapping[str, str], path: str, caller: Caller
) -> bytes:
    return await calls.file(addresses[path], caller)


def _resources(server: Server, calls: Calls) -> Iterator[Resource]:
    of_skills = {file.uri for entry in server.skills for file in files_of(entry)}
    for entry in server.offered("resource"):
        uri = str(entry["uri"])
        if uri in of_skills:
            continue
        yield Resource(
            shown_uri(server.name, uri),
            str(entry.get("name") or uri),
            str(entry.get("description") or ""),
            partial(calls.resource, uri),
            tier=server.config.tier,
            origin=Origin(key_of(server.name, uri), entry),
        )


def _templates(server: Server, calls: Calls) -> Iterator[ResourceTemplate]:
    for entry in server.offered("template"):
        uri = str(entry["uriTemplate"])
        shown = shown_uri(server.name, uri)
        yield ResourceTemplate(
            shown,
            str(entry.get("name") or uri),
            str(entry.get("description") or ""),
            partial(_read, server.name, calls),
            complete=calls.completers({"type": "ref/resource", "uri": uri}),
            tier=server.config.tier,
            pattern=pattern_of(shown),
            origin=Origin(key_of(server.name, uri), entry),
        )


async def _read(server: str, calls: Calls, variables: Mapping[str, str], caller: Any) -> Any:
    return await calls.resource(own_uri(server, variables["uri"]), caller)
