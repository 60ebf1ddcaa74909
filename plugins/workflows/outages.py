"""What fails below the playbook, in words for whoever called: its database, its files, a row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from gateway.contract import (
    Caller,
    Host,
    Prompt,
    PromptFamily,
    ResourceTemplate,
    Tool,
    ToolFailed,
    is_outage,
)
from plugins.workflows import errors

Run = Callable[..., Awaitable[Any]]


class Outages:
    """Says what an outage is, instead of leaving it to the portal, which hides what is ours.

    Args:
        host: knows the call that is running, and has a log.
    """

    def __init__(self, host: Host) -> None:
        self._host = host

    def tools(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, which tell of an outage."""
        return [replace(each, run=self._telling(each.run)) for each in tools]

    def templates(self, templates: Sequence[ResourceTemplate]) -> list[ResourceTemplate]:
        """The templates, likewise."""
        return [replace(each, read=self._telling(each.read)) for each in templates]

    def family(self, family: PromptFamily) -> PromptFamily:
        """The family, whose prompts tell of an outage."""
        find = self._telling(family.find)

        async def found(name: str, caller: Caller) -> Prompt | None:
            prompt: Prompt | None = await find(name, caller)
            return prompt and replace(prompt, render=self._telling(prompt.render))

        return replace(family, find=found)

    def _telling(self, run: Run) -> Run:
        async def told(*given: Any) -> Any:
            try:
                return await run(*given)
            except Exception as error:
                failed = self._failed(error)
                if failed is None:
                    raise
                raise failed from error

        return told

    def _failed(self, error: Exception) -> ToolFailed | None:
        if isinstance(error, errors.Damaged):
            self._host.log.error("workflows_damaged", reason=str(error))
            return errors.damaged(self._host.exchange().request_id)
        if is_outage(error):
            # Without its traceback: nothing in it is ours.
            self._host.log.error("workflows_outage", reason=f"{type(error).__name__}: {error}")
            return errors.unavailable(self._host.exchange().request_id)
        return None
