"""One prompt that was asked for: one that its plugin declared, or one that a family has to find."""

from __future__ import annotations

from typing import Any

from auth import Caller
from gateway.catalog.items import Item, declared_family, prompt_of
from gateway.catalog.refusals import unknown
from gateway.catalog.schemas import BadDeclaration
from gateway.contract import Prompt, ToolFailed
from gateway.observability.logs import get_logger

log = get_logger(__name__)


class Asked:
    """A prompt that is asked for by name.

    Args:
        item: the prompt, or the family that it would be of.
        name: its name in this portal.

    Attributes:
        summary: what the prompt is for, once it has been rendered.
    """

    def __init__(self, item: Item, name: str) -> None:
        self._item = item
        self._name = name
        self.summary = ""

    async def render(self, args: Any, caller: Caller) -> Any:
        """Render it: what ``Pipeline`` runs.

        Args:
            args: the arguments as the item parsed them; those of a family's prompt are parsed
                here, where it is known.
            caller: who asks.

        Raises:
            ToolFailed: the family has no such prompt for this caller, or an argument is bad.
        """
        if self._item.kind == "family":
            found = await find(self._item, self._name, caller)
            args = found.parse(args)
        else:
            found = self._item
        prompt = declared_prompt(found)
        self.summary = prompt.summary
        return await prompt.render(args, caller)


async def find(family: Item, name: str, caller: Caller) -> Item:
    """The prompt of that name, in this portal, that a family has for a caller.

    Raises:
        ToolFailed: there is none, as far as this caller may know.
    """
    declared = declared_family(family)
    theirs = declared.name[:-1] + name[len(family.stem) :]
    found = await declared.find(theirs, caller)
    if found is not None and found.name == theirs:
        try:
            return prompt_of(family, found)
        except BadDeclaration as bad:
            log.warning("prompt_left_out", plugin=family.plugin, item=family.key, reason=f"{bad}")
    elif found is not None:
        log.warning("prompt_left_out", plugin=family.plugin, item=family.key, reason="other name")
    error = unknown("prompt", name)
    raise ToolFailed(error.code, error.message, error.details)


def declared_prompt(item: Item) -> Prompt:
    """The declaration behind a prompt's item; raises ``TypeError`` for another kind of item."""
    if not isinstance(item.declared, Prompt):
        raise TypeError(f"{item.key} is no prompt")
    return item.declared
