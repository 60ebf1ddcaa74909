"""A tool that waits for a yes and works by a job: the yes is for the task, which is followed."""

from __future__ import annotations

from gateway.testing import open_test_portal
from tests.gateway.surfaces.mcp.test_tasks import GARDEN, client, created, state


async def test_a_task_that_a_person_has_allowed_is_followed_without_asking_again() -> None:
    tiers = "items: {garden: open, garden/water: {tier: members, approve: {by: caller}}}"
    async with open_test_portal(GARDEN, tiers=tiers) as portal:
        asked = await created(portal, "well")
        (question,) = asked["inputRequests"]
        yes = {question: {"action": "accept", "content": {"approve": True}}}
        params = {"name": "water", "arguments": {"beds": 3, "how": "well"}, "inputResponses": yes}
        task = await client(portal).request("tools/call", params)
        assert task["resultType"] == "task"
        done = await state(portal, task, "completed")
        assert done["result"]["structuredContent"]["beds"] == 3
        assert "inputRequests" in await client(portal).request("tools/call", params)
