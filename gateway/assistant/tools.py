"""The tools of an answer as pydantic-ai's toolset: offered anew for each step, by the desk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.exceptions import ToolFailed as Failed
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from gateway.assistant.desk import Desk, Found

_ANYTHING = SchemaValidator(core_schema.any_schema())
"""The pipeline validates arguments, and tells the model what is wrong with them."""


class DeskTools(AbstractToolset[None]):
    """The tools of one answer.

    Args:
        desk: calls them.
        question: what the person has asked.
        steps_left: how many requests the answer may take yet; the last offers no tool.

    Attributes:
        found: what came of each call, by the model's name for it.
    """

    def __init__(self, desk: Desk, question: str, steps_left: int) -> None:
        self._desk, self._question, self._steps_left = desk, question, steps_left
        self.found: dict[str, Found] = {}

    @property
    def id(self) -> str | None:
        """What this set of tools is called."""
        return "porch"

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        """The tools that the person may use at this step."""
        if ctx.run_step >= self._steps_left:
            return {}
        entries = await self._desk.offered(self._question)
        return {each["name"]: self._tool(each) for each in entries}

    def _tool(self, entry: Mapping[str, Any]) -> ToolsetTool[None]:
        definition = ToolDefinition(
            name=entry["name"],
            description=entry.get("description"),
            parameters_json_schema=dict(entry["inputSchema"]),
            strict=False,
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=0, args_validator=_ANYTHING
        )

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> Any:
        """Call a tool.

        Raises:
            ApprovalRequired: it waits for somebody's yes.
            pydantic_ai.exceptions.ToolFailed: it has failed; the model may try another way.
        """
        id = ctx.tool_call_id or ""
        found = self.found[id] = await self._desk.call(name, tool_args)
        if found.approval is not None:
            raise ApprovalRequired(dict(found.approval))
        if found.failed:
            raise Failed(found.text)
        return found.text
