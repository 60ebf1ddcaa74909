"""A playbook as those who use it do: over MCP, at a whole portal."""

from __future__ import annotations

import json
from typing import Any

from gateway.testing import CallResult, TestPortal
from tests.plugins.workflows.playing import stage


class Playbook:
    """A playbook as Ann, Bob and someone anonymous use it."""

    def __init__(self, portal: TestPortal) -> None:
        self.portal = portal

    async def call(self, who: str, tool: str, /, **arguments: Any) -> CallResult:
        return await self.portal.call(tool, arguments, tier=who)

    async def get(self, who: str, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self.call(who, tool, **arguments)
        assert not result.is_error, result.text
        found: dict[str, Any] = result.structured
        return found

    async def refused(self, who: str, tool: str, /, **arguments: Any) -> tuple[str, str]:
        """The code and the words of an error."""
        result = await self.call(who, tool, **arguments)
        assert result.is_error, result.text
        error = json.loads(result.content[1]["text"])["error"]
        return error["code"], result.text

    async def workflow(self, who: str, *stages: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Write one, of prompts that are called ``a``, ``b``, ``c`` unless stages are given."""
        stages = stages or (stage("a", "b", "c"),)
        fields = {"name": "Review code", "visibility": "PUBLIC", "stages": list(stages)}
        return await self.get(who, "add_workflow", **(fields | more))

    async def card(self, who: str, name: str = "Card", **more: Any) -> dict[str, Any]:
        fields = {"name": name, "content": f"Do {name}.", "visibility": "PUBLIC"}
        return await self.get(who, "add_skill", **(fields | more))

    async def step(self, who: str, **arguments: Any) -> dict[str, Any]:
        return await self.get(who, "get_next_step", **arguments)

    async def run(self, who: str, workflow: dict[str, Any]) -> str:
        found = await self.get(who, "select_workflow", workflow_id=workflow["id"], start_run=True)
        return str(found["run"]["runId"])


def names(selected: dict[str, Any]) -> list[str]:
    return [item["name"] for item in selected["executionPlan"]["items"]]
