"""A plugin's declarations made into items, one by one: a bad one is set aside alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from gateway.catalog.items import (
    Declaration,
    Item,
    family_item,
    prompt_item,
    resource_item,
    template_item,
    tool_item,
)
from gateway.catalog.rejected_declarations import Rejected
from gateway.catalog.schemas import BadDeclaration
from gateway.catalog.skills import skill_item
from gateway.catalog.views import view_item
from gateway.contract import Offer
from gateway.observability.logs import get_logger

Made = tuple[str, Item | Rejected]
"""The name that a plugin declares, and what was made of the declaration."""

log = get_logger(__name__)


def made(
    plugin: str, offer: Offer, names: Mapping[str, str], before: Sequence[Made] = ()
) -> list[Made]:
    """Make a plugin's declarations into items; what was declared before stays as it is.

    Args:
        plugin: the plugin's name.
        offer: its declarations.
        names: new names for its items, by the declared name.
        before: what was made of its last offer, with the same names.
    """
    known = {id(item.declared): item for _, item in before}
    return [
        (declared, known.get(id(declaration)) or _made(plugin, declared, declaration, make))
        for declared, declaration, make in _each(plugin, offer, names)
    ]


def _each(
    plugin: str, offer: Offer, names: Mapping[str, str]
) -> Iterator[tuple[str, Declaration, Callable[[], Item]]]:
    for tool in offer.tools:
        yield tool.name, tool, partial(tool_item, plugin, tool, names.get(tool.name, tool.name))
    for prompt in offer.prompts:
        shown = names.get(prompt.name, prompt.name)
        yield prompt.name, prompt, partial(prompt_item, plugin, prompt, shown)
    for family in offer.prompt_families:
        shown = names.get(family.name, family.name)
        yield family.name, family, partial(family_item, plugin, family, shown)
    for resource in offer.resources:
        yield resource.uri, resource, partial(resource_item, plugin, resource)
    for template in offer.templates:
        yield template.uri_template, template, partial(template_item, plugin, template)
    for view in offer.views:
        yield f"view:{view.name}", view, partial(view_item, plugin, view, offer.tools)
    for skill in offer.skills:
        yield f"skill:{skill.path}", skill, partial(skill_item, plugin, skill)


def _made(
    plugin: str, declared: str, declaration: Declaration, make: Callable[[], Item]
) -> Item | Rejected:
    try:
        return make()
    except BadDeclaration as error:
        reason = f"{error}. Its author must mend it."
        return Rejected(plugin, declared, reason, declaration, f"{error}")
    except Exception as error:
        log.exception("item_not_made", plugin=plugin, item=declared)
        reason = f"{type(error).__name__}: {error}. Its author must mend it."
        return Rejected(plugin, declared, reason, declaration, "it cannot be read")
