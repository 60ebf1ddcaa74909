"""A plugin's offer, described so that it crosses to the portal without its functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from gateway.catalog.schemas import schema_of
from gateway.contract import Offer, Origin, Prompt, PromptFamily, Resource, ResourceTemplate, Skill
from gateway.contract.offers import Tool

_NOT_ISOLATED = {
    "jobs": "declares jobs",
    "routes": "declares REST routes",
    "apis": "declares an API",
    "webhooks": "declares webhooks",
    "connections": "connects people to accounts elsewhere",
    "pending": "has people decide requests of its own",
    "backlog": "counts what waits in it",
    "work": "has work for agents",
    "rows": "declares rows for tiers.yaml",
    "follow": "hears who follows its resources",
}


def unsupported(offer: Offer) -> Iterator[str]:
    """What of an offer works in the portal's own process alone."""
    for name, what in _NOT_ISOLATED.items():
        if getattr(offer, name):
            yield what
    if offer.credential is not None and offer.credential.from_bearer is not None:
        yield "reads its callers' credentials out of bearer tokens"


def described(offer: Offer) -> dict[str, Any]:
    """An offer as values that cross."""
    credential = offer.credential
    return {
        "tools": [_tool(each) for each in offer.tools],
        "resources": [_resource(each) for each in offer.resources],
        "templates": [_template(each) for each in offer.templates],
        "prompts": [prompt(each) for each in offer.prompts],
        "families": [_family(each) for each in offer.prompt_families],
        "skills": [_skill(each) for each in offer.skills],
        "credential": None if credential is None else [credential.header, credential.demanded],
        "instructions": offer.instructions,
        "said": dict(offer.said),
        "personal": offer.personal is not None,
        "absent": offer.absent is not None,
    }


def prompt(prompt: Prompt) -> dict[str, Any]:
    """A prompt, or one of a family, likewise."""
    fields = prompt.args.model_fields if prompt.args else {}
    return {
        **_common(prompt),
        "name": prompt.name,
        "arguments": [
            [field.alias or name, field.description, field.is_required()]
            for name, field in fields.items()
        ],
        "complete": sorted(prompt.complete),
        "rows": list(prompt.rows),
    }


def _common(declared: Any) -> dict[str, Any]:
    """What all declarations have, as far as this one has it."""
    found: dict[str, Any] = {
        "summary": declared.summary,
        "tier": None if declared.tier is None else str(declared.tier),
        "floor": str(declared.floor),
        "title": declared.title,
    }
    if not isinstance(declared, PromptFamily):
        found["icons"] = [_plain(each) for each in declared.icons]
        origin: Origin | None = declared.origin
        found["origin"] = None if origin is None else [origin.key, dict(origin.entry)]
    return found


def _tool(tool: Tool) -> dict[str, Any]:
    page = tool.page
    output = schema_of(page.result if page else tool.result, tool.output_schema)
    return {
        **_common(tool),
        "name": tool.name,
        "input_schema": schema_of(tool.args, tool.input_schema),
        "output_schema": output,
        "annotations": None if tool.annotations is None else _plain(tool.annotations),
        "timeout": tool.timeout,
        "page": None if page is None else [page.size, page.full_below, page.bytes],
        "opaque": list(tool.opaque),
        "calls_at_once": tool.calls_at_once,
        "approve": tool.approve,
    }


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        **_common(resource),
        "uri": resource.uri,
        "name": resource.name,
        "mime_type": resource.mime_type,
        "rows": list(resource.rows),
    }


def _template(template: ResourceTemplate) -> dict[str, Any]:
    pattern = template.pattern
    return {
        **_common(template),
        "uri_template": template.uri_template,
        "name": template.name,
        "mime_type": template.mime_type,
        "complete": sorted(template.complete),
        "listed": template.listed is not None,
        "pattern": None if pattern is None else [pattern.pattern, pattern.flags],
    }


def _family(family: PromptFamily) -> dict[str, Any]:
    return {**_common(family), "name": family.name}


def _skill(skill: Skill) -> dict[str, Any]:
    return {
        "path": skill.path,
        "frontmatter": to_jsonable_python(dict(skill.frontmatter)),
        "files": [[each.path, each.digest, each.size, each.mime_type] for each in skill.files],
        "tier": None if skill.tier is None else str(skill.tier),
        "floor": str(skill.floor),
        "rows": list(skill.rows),
        "origin": None if skill.origin is None else [skill.origin.key, dict(skill.origin.entry)],
    }


def _plain(model: BaseModel) -> Mapping[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
