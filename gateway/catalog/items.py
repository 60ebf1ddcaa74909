"""What a plugin's declaration becomes once it has been checked: an item of the catalog."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import unquote

import mcp_types as mcp
from pydantic import BaseModel

from auth import Tier
from gateway.catalog.lean_schemas import lean
from gateway.catalog.schemas import (
    BadDeclaration,
    check_schema,
    longest_texts,
    model_parser,
    schema_of,
    schema_parser,
)
from gateway.contract import (
    ListedResource,
    Origin,
    Prompt,
    PromptFamily,
    Resource,
    ResourceTemplate,
    Skill,
    SkillFile,
    Tool,
    View,
)
from gateway.contract.answer_size import CURSOR_ARGUMENT, CURSOR_SCHEMA
from gateway.scrubbing.opaque import NOTHING, Opaque, opaque
from gateway.toolkit.mirrored_headers import (
    ParameterHeaders,
    find_invalid_parameter_header,
    parameter_headers,
)

Kind = Literal["tool", "prompt", "family", "resource", "template", "skill"]
Declaration = Tool | Prompt | PromptFamily | Resource | ResourceTemplate | Skill | View

NAME = re.compile(r"[A-Za-z0-9_-]{1,45}")
"""Names that every client takes, its own prefix included."""

PORTAL = "porch"
"""Whose the portal's own tools are."""
FIND_TOOLS, CALL_TOOL = "find_tools", "call_tool"
OWN_TOOLS = frozenset((FIND_TOOLS, CALL_TOOL))
"""The portal's own tools, by which others are found and called; no plugin's has such a name."""

_FAMILY = re.compile(r"[A-Za-z0-9_-]{1,44}\*")
_VARIABLE = re.compile(r"\{(\w+)\}")


class Verbatim(dict[str, Any]):
    """An entry of another server's list, which goes out with all its fields."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing the portal offers: whose it is, what it is called, how it is listed and run.

    Attributes:
        plugin: the plugin's name.
        kind: tool, prompt, family (of prompts), resource, template or skill.
        name: the tool's or prompt's name, the family's with its ``*``, the resource's URI (a
            skill's is that of its SKILL.md), or the URI template.
        declared: the plugin's declaration.
        entry: the item as a list shows it, as JSON values.
        parse: turns raw arguments into what the declaration's function takes.
        timeout: seconds a call may take, or None for the portal's deadline.
        pattern: what a URI of the template looks like.
        headers: the parameter headers that a tool's schema declares (SEP-2243).
        files: a skill's files, by their path below its root.
        opaque: arguments in which no secret is looked for; all of them where it is None.
        longest: the most characters of a tool's arguments that have a limit.
        key: what messages and records call it, such as ``knowledge/prompt:research-topic``.
    """

    plugin: str
    kind: Kind
    name: str
    declared: Declaration
    entry: Mapping[str, Any]
    parse: Callable[[Mapping[str, Any]], Any]
    timeout: float | None = None
    pattern: re.Pattern[str] | None = None
    headers: ParameterHeaders = ()
    files: Mapping[str, SkillFile] = field(default_factory=dict)
    opaque: Opaque = field(default_factory=lambda: NOTHING)
    longest: Mapping[str, int] = field(default_factory=dict)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        """Put the key together, which every call asks for."""
        object.__setattr__(self, "key", f"{self.plugin}/{_PREFIX[self.kind]}{self.name}")

    @property
    def origin(self) -> Origin | None:
        """Where another server made it."""
        return getattr(self.declared, "origin", None)

    @property
    def reads_only(self) -> bool:
        """Whether it is a tool that says of itself that it changes nothing (``readOnlyHint``)."""
        return (self.entry.get("annotations") or {}).get("readOnlyHint") is True

    @property
    def identity(self) -> str:
        """What its plugin declares it as, whatever an alias has the portal call it."""
        if self.origin is not None:
            return self.origin.key
        if self.kind in ("tool", "prompt", "family"):
            return getattr(self.declared, "name", self.name)
        return self.name

    def variables(self, uri: str) -> dict[str, str] | None:
        """The template's variables in a URI, or None where the URI is not of the template."""
        match = self.pattern.fullmatch(uri) if self.pattern else None
        if match and self.origin is not None:
            return {"uri": uri}
        return {k: unquote(v) for k, v in match.groupdict().items()} if match else None

    @property
    def stem(self) -> str:
        """How the names of a family's prompts begin; of every other item its whole name."""
        return self.name[:-1] if self.kind == "family" else self.name

    def covers(self, other: Item) -> bool:
        """Whether this is a family, and the other's name begins as those of its prompts do."""
        return self.kind == "family" and other.stem.startswith(self.stem)

    def may_hold(self, name: str) -> bool:
        """Whether this is a family of which a prompt may have that name."""
        begins = self.kind == "family" and name.startswith(self.stem) and name != self.stem
        return begins and NAME.fullmatch(name) is not None


_PREFIX = {"tool": "", "prompt": "prompt:", "family": "prompt:"} | dict.fromkeys(
    ("resource", "template", "skill"), "resource:"
)


def tool_item(plugin: str, tool: Tool, name: str) -> Item:
    """Check a tool and make it an item.

    Raises:
        BadDeclaration: its name or one of its schemas would break clients.
    """
    _check_name(name)
    if plugin != PORTAL and name in OWN_TOOLS:
        raise BadDeclaration(f"{name!r} is a tool of the portal's own, so it needs another name")
    if tool.origin is not None:
        return _relayed_tool(plugin, tool, name, tool.origin.entry)
    own = schema_of(tool.args, tool.input_schema) or {"type": "object", "properties": {}}
    check_schema(own, "input schema")
    if reason := find_invalid_parameter_header(own):
        raise BadDeclaration(f"its input schema has a bad header annotation: {reason}")
    if tool.page and tool.task:
        raise BadDeclaration("its results come in pages, so its work cannot be a task")
    shown = _with_cursor(own) if tool.page else own
    output = schema_of(tool.page.result if tool.page else tool.result, tool.output_schema)
    if output is not None:
        check_schema(output, "output schema")
    entry = mcp.Tool(
        name=name,
        title=tool.title,
        description=tool.summary,
        input_schema=dict(shown),
        output_schema=None if output is None else lean(output),
        annotations=tool.annotations,
        icons=list(tool.icons) or None,
    )
    parse = model_parser(tool.args) if tool.args else schema_parser(own)
    return Item(
        plugin,
        "tool",
        name,
        tool,
        _dump(entry),
        parse,
        tool.timeout,
        headers=parameter_headers(own),
        opaque=_opaque(tool, own),
        longest=longest_texts(own),
    )


def _relayed_tool(plugin: str, tool: Tool, name: str, entry: Mapping[str, Any]) -> Item:
    """A tool of another server, which looks at the arguments itself."""
    own = entry.get("inputSchema")
    if not isinstance(own, Mapping) or own.get("type") != "object":
        raise BadDeclaration('its input schema must have "type": "object" at the root')
    if reason := find_invalid_parameter_header(own):
        raise BadDeclaration(f"its input schema has a bad header annotation: {reason}")
    headers, shown = parameter_headers(own), Verbatim(entry, name=name)
    return Item(plugin, "tool", name, tool, shown, dict, tool.timeout, headers=headers)


def _opaque(tool: Tool, schema: Mapping[str, Any]) -> Opaque:
    unknown = {path.partition(".")[0] for path in tool.opaque} - set(schema.get("properties", {}))
    if unknown:
        raise BadDeclaration(f"it declares {', '.join(sorted(unknown))} opaque, no argument of it")
    return opaque(tool.opaque)


def prompt_item(plugin: str, prompt: Prompt, name: str) -> Item:
    """Check a prompt and make it an item; raises as :func:`tool_item`."""
    _check_name(name)
    if prompt.origin is not None:
        return Item(plugin, "prompt", name, prompt, Verbatim(prompt.origin.entry, name=name), dict)
    fields = prompt.args.model_fields if prompt.args else {}
    entry = mcp.Prompt(
        name=name,
        title=prompt.title,
        description=prompt.summary,
        icons=list(prompt.icons) or None,
        arguments=[
            mcp.PromptArgument(
                name=arg.alias or key, description=arg.description, required=arg.is_required()
            )
            for key, arg in fields.items()
        ],
    )
    parse = model_parser(prompt.args) if prompt.args else _no_arguments()
    return Item(plugin, "prompt", name, prompt, _dump(entry), parse)


def family_item(plugin: str, family: PromptFamily, name: str) -> Item:
    """Check a family of prompts and make it an item; raises as :func:`tool_item`."""
    for each in (family.name, name):
        if not _FAMILY.fullmatch(each):
            raise BadDeclaration(f"the name {each!r} must match [A-Za-z0-9_-]{{1,44}} and end in *")
    entry = mcp.Prompt(name=name, title=family.title, description=family.summary)
    return Item(plugin, "family", name, family, _dump(entry), dict)


def prompt_of(family: Item, prompt: Prompt) -> Item:
    """Check a prompt that a family gave for one caller, and make it an item.

    It is called as the family is in this portal, whatever its plugin calls both.

    Raises:
        BadDeclaration: clients would not take it, or it is not of the family.
    """
    stem = declared_family(family).name[:-1]
    if not prompt.name.startswith(stem) or prompt.name == stem:
        raise BadDeclaration(f"the name {prompt.name!r} must begin with {stem!r}, and go on")
    if prompt.tier is not None or prompt.floor is not Tier.OPEN:
        raise BadDeclaration("a prompt of a family has no tier or floor: give them to the family")
    return prompt_item(family.plugin, prompt, family.stem + prompt.name[len(stem) :])


def declared_family(item: Item) -> PromptFamily:
    """The declaration behind a family's item; raises ``TypeError`` for another kind of item."""
    if not isinstance(item.declared, PromptFamily):
        raise TypeError(f"{item.key} is no family of prompts")
    return item.declared


def resource_item(plugin: str, resource: Resource) -> Item:
    """Make a resource an item; raises :class:`BadDeclaration` where its URI has no scheme."""
    if resource.origin is not None:
        shown = Verbatim(resource.origin.entry, uri=resource.uri)
        return Item(plugin, "resource", resource.uri, resource, shown, dict)
    _check_uri(resource.uri)
    entry = mcp.Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.summary,
        mime_type=resource.mime_type,
        icons=list(resource.icons) or None,
    )
    return Item(plugin, "resource", resource.uri, resource, _dump(entry), dict)


def listed_resource(template: Item, listed: ListedResource) -> Mapping[str, Any]:
    """A resource that a template listed for one caller, as a list shows it.

    Raises:
        BadDeclaration: its URI is not of the template.
    """
    if template.variables(listed.uri) is None:
        raise BadDeclaration(f"the URI {listed.uri!r} is not of {template.name}")
    entry = mcp.Resource(
        uri=listed.uri,
        name=listed.name,
        title=listed.title,
        description=listed.summary,
        mime_type=listed.mime_type or template.entry["mimeType"],
    )
    return _dump(entry)


def template_item(plugin: str, template: ResourceTemplate) -> Item:
    """Make a resource template an item; raises as :func:`resource_item`."""
    if template.origin is not None:
        return _relayed_template(plugin, template)
    _check_uri(template.uri_template)
    entry = mcp.ResourceTemplate(
        uri_template=template.uri_template,
        name=template.name,
        title=template.title,
        description=template.summary,
        mime_type=template.mime_type,
        icons=list(template.icons) or None,
    )
    pattern = _compile(template.uri_template)
    name = template.uri_template
    return Item(plugin, "template", name, template, _dump(entry), dict, pattern=pattern)


def _relayed_template(plugin: str, template: ResourceTemplate) -> Item:
    if template.pattern is None or template.origin is None:
        raise BadDeclaration("a template of another server needs the pattern of its URIs")
    name = template.uri_template
    shown = Verbatim(template.origin.entry, uriTemplate=name)
    return Item(plugin, "template", name, template, shown, dict, pattern=template.pattern)


@cache
def _no_arguments() -> Callable[[Mapping[str, Any]], Any]:
    return schema_parser({"type": "object", "additionalProperties": False})


def _compile(template: str) -> re.Pattern[str]:
    parts = _VARIABLE.split(template)
    literal_and_names = (
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>[^/]+)"
        for place, part in enumerate(parts)
    )
    return re.compile("".join(literal_and_names))


def _dump(entry: BaseModel) -> dict[str, Any]:
    return entry.model_dump(mode="json", by_alias=True, exclude_none=True)


def _with_cursor(schema: Mapping[str, Any]) -> dict[str, Any]:
    own = schema.get("properties", {})
    if CURSOR_ARGUMENT in own:
        raise BadDeclaration(
            f"it is paged, so the argument {CURSOR_ARGUMENT!r} is the gateway's to add"
        )
    return {**schema, "properties": {**own, CURSOR_ARGUMENT: dict(CURSOR_SCHEMA)}}


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise BadDeclaration(f"the name {name!r} must match [A-Za-z0-9_-]{{1,45}}")


def _check_uri(uri: str) -> None:
    if not re.match(r"[a-z][a-z0-9+.-]*://", uri):
        raise BadDeclaration(f"the URI {uri!r} must start with a scheme, such as kb://")
