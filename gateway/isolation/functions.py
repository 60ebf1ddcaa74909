"""The functions of a plugin's offer, found in its process by the names that the portal calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from auth import Caller
from gateway.catalog.schemas import model_parser, schema_parser
from gateway.contract import Offer, Prompt, PromptFamily, ToolFailed
from gateway.contract.offers import Tool
from gateway.isolation.description import prompt as described_prompt

Function = Callable[..., Awaitable[Any]]


def function(offer: Offer, what: tuple[str, ...]) -> Function:
    """The function of that name.

    Raises:
        ToolFailed: the offer has no such thing any more.
    """
    kind, *names = what
    found = _FINDERS[kind](offer, names)
    if found is None:
        raise ToolFailed("not_found", f"There is no {kind} {' '.join(names)} any more.")
    return found


def _tool(offer: Offer, names: Sequence[str]) -> Function | None:
    tool = next((each for each in offer.tools if each.name == names[0]), None)
    return None if tool is None else _parsed(tool, tool.run)


def _parsed(declared: Tool | Prompt, run: Function) -> Function:
    """A function that is given its arguments as they came in."""
    raw = declared.input_schema if isinstance(declared, Tool) else None
    if declared.origin is not None:
        parse: Callable[[Any], Any] = dict
    elif declared.args is not None:
        parse = model_parser(declared.args)
    else:
        parse = dict if raw is None else schema_parser(raw)

    async def parsed(args: Any, caller: Caller) -> Any:
        return await run(parse(args), caller)

    return parsed


def _resource(offer: Offer, names: Sequence[str]) -> Function | None:
    return next((each.read for each in offer.resources if each.uri == names[0]), None)


def _template(offer: Offer, names: Sequence[str]) -> Function | None:
    uri, *part = names
    template = next((each for each in offer.templates if each.uri_template == uri), None)
    if template is None:
        return None
    if not part:
        return template.read
    return template.listed if part[0] == "listed" else template.complete.get(part[1])


def _prompt(offer: Offer, names: Sequence[str]) -> Function | None:
    prompt = next((each for each in offer.prompts if each.name == names[0]), None)
    return None if prompt is None else _of_prompt(prompt, names[1:])


def _of_prompt(prompt: Prompt, part: Sequence[str]) -> Function | None:
    return prompt.complete.get(part[1]) if part else _parsed(prompt, prompt.render)


def _family(offer: Offer, names: Sequence[str]) -> Function | None:
    name, part, *more = names
    family = next((each for each in offer.prompt_families if each.name == name), None)
    if family is None:
        return None
    if part == "prompt":
        return _one_of(family, more)
    return _listed(family) if part == "listed" else _find(family)


def _listed(family: PromptFamily) -> Function:
    async def listed(caller: Caller, after: str | None, limit: int) -> Any:
        return [described_prompt(each) for each in await family.listed(caller, after, limit)]

    return listed


def _find(family: PromptFamily) -> Function:
    async def find(name: str, caller: Caller) -> Any:
        found = await family.find(name, caller)
        return None if found is None else described_prompt(found)

    return find


def _one_of(family: PromptFamily, names: Sequence[str]) -> Function:
    """A function of a prompt of a family, looked up for whoever calls."""
    name, *part = names

    async def run(*args: Any) -> Any:
        prompt = await family.find(name, args[-1])
        found = None if prompt is None else _of_prompt(prompt, part)
        if found is None:
            raise ToolFailed("not_found", f"There is no prompt {name}.")
        return await found(*args)

    return run


def _skill(offer: Offer, names: Sequence[str]) -> Function | None:
    return next((each.read for each in offer.skills if each.path == names[0]), None)


def _personal(offer: Offer, names: Sequence[str]) -> Function | None:
    data = offer.personal
    if data is None:
        return None

    async def people() -> Any:
        return sorted(await data.people())

    async def export(person: str) -> Any:
        return [each async for each in data.export(person)]

    found: dict[str, Function] = {"people": people, "export": export, "erase": data.erase}
    return found[names[0]]


def _health(offer: Offer, names: Sequence[str]) -> Function | None:
    return offer.health


def _absent(offer: Offer, names: Sequence[str]) -> Function | None:
    return offer.absent


_FINDERS: dict[str, Callable[[Offer, Sequence[str]], Function | None]] = {
    "tool": _tool,
    "resource": _resource,
    "template": _template,
    "prompt": _prompt,
    "family": _family,
    "skill": _skill,
    "personal": _personal,
    "health": _health,
    "absent": _absent,
}
