"""What all servers offer, as the portal's declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

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
from plugins.upstreams.catalogue.entries import Catalogue, Entry
from plugins.upstreams.catalogue.names import key_of, shown_name
from plugins.upstreams.catalogue.pins import Verdict
from plugins.upstreams.catalogue.skills import files_of, path_of
from plugins.upstreams.config import Server as ServerConfig
from plugins.upstreams.relay.apps import own_uri, shown_uri, with_shown_app
from plugins.upstreams.relay.calls import Calls, CurrentExchange
from plugins.upstreams.relay.parked import Parked
from plugins.upstreams.relay.templates import pattern_of
from plugins.upstreams.servers.server import Server
from plugins.upstreams.source_metadata import Mark, mark_of, marked


class _Made(NamedTuple):
    """The declarations of one server, and what they were made of."""

    server: Server
    catalogue: Catalogue | None
    verdict: Verdict
    about: Mapping[str, Any]
    mark: Mark
    offer: Offer

    def is_of(self, server: Server, mark: Mark) -> bool:
        """Whether they would be the same if they were made again."""
        offered = server.offered
        return (
            server is self.server
            and offered.catalogue is self.catalogue
            and offered.verdict is self.verdict
            and offered.about is self.about
            and mark == self.mark
        )


class Declarations:
    """What servers offer, as the portal's declarations; those of a server that has no news stay.

    Args:
        exchange: gives the call that is running.
        parked: the calls that wait for their clients.
    """

    def __init__(self, exchange: CurrentExchange, parked: Parked) -> None:
        self._exchange = exchange
        self._parked = parked
        self._made: dict[str, _Made] = {}

    def of(self, servers: Sequence[Server]) -> Offer:
        """The declarations of all that is served.

        Args:
            servers: in the order of ``portal.yaml``: of two with one URI the first has it.
        """
        self._made = {each.name: self._of(each) for each in servers}
        offers = [each.offer for each in self._made.values()]
        return Offer(
            tools=[one for each in offers for one in each.tools],
            prompts=[one for each in offers for one in each.prompts],
            resources=[one for each in offers for one in each.resources],
            templates=[one for each in offers for one in each.templates],
            skills=[one for each in offers for one in each.skills],
            said={key: text for each in offers for key, text in each.said.items()},
        )

    def _of(self, server: Server) -> _Made:
        mark, before = mark_of(server), self._made.get(server.name)
        if before is not None and before.is_of(server, mark):
            return before
        calls, offered = Calls(server, self._exchange, self._parked), server.offered
        said = offered.instructions[0]
        offer = Offer(
            tools=list(_tools(server, calls, mark)),
            prompts=list(_prompts(server, calls, mark)),
            resources=list(_resources(server, calls, mark)),
            templates=list(_templates(server, calls, mark)),
            skills=list(_skills(server, calls)),
            said={key_of(server.name, ""): said} if said else {},
        )
        return _Made(server, offered.catalogue, offered.verdict, offered.about, mark, offer)


def _tools(server: Server, calls: Calls, mark: Mark) -> Iterator[Tool]:
    config = server.config
    for entry in server.offered.verdict.served:
        name = str(entry["name"])
        shown = _shown_tool(entry, config)
        yield Tool(
            config.tools.alias.get(name) or shown_name(config.name, name),
            str(shown.get("description") or ""),
            partial(calls.tool, name),
            tier=config.tier,
            timeout=config.timeout.total_seconds(),
            origin=Origin(key_of(config.name, name), marked(shown, mark)),
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


def _prompts(server: Server, calls: Calls, mark: Mark) -> Iterator[Prompt]:
    for entry in server.offered.of("prompt"):
        name = str(entry["name"])
        yield Prompt(
            shown_name(server.name, name),
            str(entry.get("description") or ""),
            partial(calls.prompt, name),
            complete=calls.completers({"type": "ref/prompt", "name": name}),
            tier=server.config.tier,
            origin=Origin(key_of(server.name, name), marked(entry, mark)),
        )


def _skills(server: Server, calls: Calls) -> Iterator[Skill]:
    for entry in server.offered.skills:
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


def _resources(server: Server, calls: Calls, mark: Mark) -> Iterator[Resource]:
    of_skills = {file.uri for entry in server.offered.skills for file in files_of(entry)}
    for entry in server.offered.of("resource"):
        uri = str(entry["uri"])
        if uri in of_skills:
            continue
        yield Resource(
            shown_uri(server.name, uri),
            str(entry.get("name") or uri),
            str(entry.get("description") or ""),
            partial(calls.resource, uri),
            tier=server.config.tier,
            origin=Origin(key_of(server.name, uri), marked(entry, mark)),
        )


def _templates(server: Server, calls: Calls, mark: Mark) -> Iterator[ResourceTemplate]:
    for entry in server.offered.of("template"):
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
            origin=Origin(key_of(server.name, uri), marked(entry, mark)),
        )


async def _read(server: str, calls: Calls, variables: Mapping[str, str], caller: Any) -> Any:
    return await calls.resource(own_uri(server, variables["uri"]), caller)
