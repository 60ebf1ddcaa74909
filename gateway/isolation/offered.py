"""The offer of a plugin in a process of its own, as the portal serves it.

It is made of what the process has described. Each function of it is a call over the pipe; what
arguments mean is decided there, by the plugin's own models.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import mcp_types as mcp
from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from gateway.contract import (
    Caller,
    Completer,
    Health,
    Offer,
    Origin,
    Page,
    PersonalData,
    PersonalFile,
    Prompt,
    PromptFamily,
    Resource,
    ResourceTemplate,
    Skill,
    SkillFile,
    Tier,
    Tool,
    UpstreamCredential,
)
from gateway.isolation.answers import Row

Call = Callable[..., Awaitable[Any]]
"""``await call(what, *args)`` runs a function of the plugin; ``what`` names it."""


class _Arguments(RootModel[dict[str, Any]]):
    """Arguments as they came in, with the schema that the plugin's own model has."""

    told: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return deepcopy(dict(cls.told))


def offered(told: Mapping[str, Any], call: Call, health: Callable[[], Awaitable[Health]]) -> Offer:
    """An offer made of what a plugin's process has described.

    Args:
        told: what ``description.described`` gave there.
        call: runs a function there.
        health: says how the plugin is, and its process.
    """
    return Offer(
        tools=[_tool(each, call) for each in told["tools"]],
        resources=[_resource(each, call) for each in told["resources"]],
        templates=[_template(each, call) for each in told["templates"]],
        prompts=[_prompt(each, call, ("prompt", each["name"])) for each in told["prompts"]],
        prompt_families=[_family(each, call) for each in told["families"]],
        skills=[_skill(each, call) for each in told["skills"]],
        credential=_credential(told["credential"]),
        instructions=told["instructions"],
        said=told["said"],
        personal=_personal(call) if told["personal"] else None,
        health=health,
        absent=partial(call, ("absent",)) if told["absent"] else None,
    )


def _common(told: Mapping[str, Any]) -> dict[str, Any]:
    """What all declarations have."""
    found: dict[str, Any] = {
        "summary": told["summary"],
        "tier": _tier(told["tier"]),
        "floor": Tier(told["floor"]),
        "title": told["title"],
    }
    if "icons" in told:
        found["icons"] = tuple(mcp.Icon.model_validate(each) for each in told["icons"])
        found["origin"] = None if told["origin"] is None else Origin(*told["origin"])
    return found


def _tier(told: str | None) -> Tier | None:
    return None if told is None else Tier(told)


def _tool(told: Mapping[str, Any], call: Call) -> Tool:
    common, schema = _common(told), told["input_schema"]
    run = partial(call, ("tool", told["name"]))
    is_raw = schema is None or common["origin"] is not None
    args = None if is_raw else type("Arguments", (_Arguments,), {"told": schema})
    page, hints = told["page"], told["annotations"]
    return Tool(
        **common,
        name=told["name"],
        run=_of_arguments(run),
        args=args,
        input_schema=schema if is_raw else None,
        output_schema=told["output_schema"],
        annotations=None if hints is None else mcp.ToolAnnotations.model_validate(hints),
        timeout=told["timeout"],
        page=None if page is None else Page(page[0], _brief, None, None, page[1], page[2]),
        opaque=tuple(told["opaque"]),
        calls_at_once=told["calls_at_once"],
        approve=told["approve"],
    )


def _brief(row: Row) -> Any:
    return row.brief


def _of_arguments(run: Call) -> Callable[[Any, Caller], Awaitable[Any]]:
    async def raw(args: Any, caller: Caller) -> Any:
        return await run(args.root if isinstance(args, RootModel) else args, caller)

    return raw


def _resource(told: Mapping[str, Any], call: Call) -> Resource:
    return Resource(
        **_common(told),
        uri=told["uri"],
        name=told["name"],
        read=partial(call, ("resource", told["uri"])),
        mime_type=told["mime_type"],
        rows=tuple(told["rows"]),
    )


def _template(told: Mapping[str, Any], call: Call) -> ResourceTemplate:
    what, pattern = ("template", told["uri_template"]), told["pattern"]
    return ResourceTemplate(
        **_common(told),
        uri_template=told["uri_template"],
        name=told["name"],
        read=partial(call, what),
        mime_type=told["mime_type"],
        complete=_completers(told, call, what),
        listed=partial(call, (*what, "listed")) if told["listed"] else None,
        pattern=None if pattern is None else re.compile(*pattern),
    )


def _prompt(told: Mapping[str, Any], call: Call, what: tuple[str, ...]) -> Prompt:
    run = partial(call, what)
    common = _common(told)

    async def render(args: Any, caller: Caller) -> Any:
        is_model = isinstance(args, BaseModel)
        raw = args.model_dump(by_alias=True, exclude_unset=True) if is_model else args
        return await run(raw, caller)

    return Prompt(
        **common,
        name=told["name"],
        render=render,
        args=_prompt_arguments(told["arguments"]) if common["origin"] is None else None,
        complete=_completers(told, call, what),
        rows=tuple(told["rows"]),
    )


def _prompt_arguments(told: Sequence[tuple[str, str, bool]]) -> type[BaseModel] | None:
    """A model with the arguments of a prompt, which takes whatever they are."""
    if not told:
        return None
    fields: dict[str, Any] = {
        f"argument_{number}": (Any, Field(... if needed else None, alias=name, description=text))
        for number, (name, text, needed) in enumerate(told)
    }
    return create_model("Arguments", __config__=ConfigDict(extra="allow"), **fields)


def _completers(
    told: Mapping[str, Any], call: Call, what: tuple[str, ...]
) -> Mapping[str, Completer]:
    return {name: partial(call, (*what, "complete", name)) for name in told["complete"]}


def _family(told: Mapping[str, Any], call: Call) -> PromptFamily:
    what = ("family", told["name"])

    async def listed(caller: Caller, after: str | None, limit: int) -> Sequence[Prompt]:
        found = await call((*what, "listed"), caller, after, limit)
        return [_prompt(each, call, (*what, "prompt", each["name"])) for each in found]

    async def find(name: str, caller: Caller) -> Prompt | None:
        found = await call((*what, "find"), name, caller)
        return None if found is None else _prompt(found, call, (*what, "prompt", name))

    return PromptFamily(**_common(told), name=told["name"], listed=listed, find=find)


def _skill(told: Mapping[str, Any], call: Call) -> Skill:
    return Skill(
        told["path"],
        told["frontmatter"],
        [SkillFile(*each) for each in told["files"]],
        partial(call, ("skill", told["path"])),
        _tier(told["tier"]),
        Tier(told["floor"]),
        tuple(told["rows"]),
        None if told["origin"] is None else Origin(*told["origin"]),
    )


def _credential(told: tuple[str, bool] | None) -> UpstreamCredential | None:
    return None if told is None else UpstreamCredential(told[0], demanded=told[1])


def _personal(call: Call) -> PersonalData:
    async def export(person: str) -> AsyncIterator[PersonalFile]:
        for file in await call(("personal", "export"), person):
            yield file

    return PersonalData(
        partial(call, ("personal", "people")), export, partial(call, ("personal", "erase"))
    )
