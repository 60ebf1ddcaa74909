"""What every call of the plugin runs inside: the caller's sight, and words for an outage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateway.contract import Caller, Prompt, PromptFamily, ResourceTemplate, Tool
from plugins.workflows.backend_errors import BackendErrors
from plugins.workflows.tier_filter import TierFilter

Run = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class CallGuard:
    """Wraps what the plugin offers.

    Attributes:
        tiers: which published workflows a caller's tier does not see.
        errors: what is said of an outage; not in lists, which the portal leaves out then.
    """

    tiers: TierFilter
    errors: BackendErrors

    def tools(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, wrapped."""
        return [replace(each, run=self._call(each.run)) for each in tools]

    def templates(self, templates: Sequence[ResourceTemplate]) -> list[ResourceTemplate]:
        """The templates and what they list, wrapped."""
        return [
            replace(
                each, read=self._call(each.read), listed=each.listed and self._list(each.listed)
            )
            for each in templates
        ]

    def family(self, family: PromptFamily) -> PromptFamily:
        """The family, its list and its prompts, wrapped."""
        find = self._call(family.find)

        async def found(name: str, caller: Caller) -> Prompt | None:
            prompt: Prompt | None = await find(name, caller)
            return prompt and replace(prompt, render=self._call(prompt.render))

        return replace(family, find=found, listed=self._list(family.listed))

    def _call(self, run: Run) -> Run:
        return self.errors.explained(self.tiers.applied(run))

    def _list(self, listed: Run) -> Run:
        return self.tiers.applied(listed, place=0)
