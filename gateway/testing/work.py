"""What every plugin owes members' agents where it has work for them, and an agent to test with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from gateway.testing.portal import TestPortal
from gateway.testing.suite_part import SuitePart
from gateway.work.tools import MAX_BYTES, MAX_ITEMS, RETURN_WORK, TAKE_WORK

Agent = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""``agent(context)``: the answer to an item."""

_LOOK_SECONDS = 0.05
_PATIENCE_SECONDS = 60


async def work_done(
    portal: TestPortal, plugin: str, kind: str, agent: Agent, tier: str = "members"
) -> Mapping[str, str]:
    """Do all the work of a kind that a caller may do, and wait until it is settled.

    Args:
        portal: the portal.
        plugin: whose work.
        kind: the name of its ``Work``.
        agent: answers each item.
        tier: the caller's.

    Returns:
        The states of the kind's items, by key.

    Raises:
        AssertionError: an answer is not taken; says why.
        TimeoutError: what was answered is not settled within a minute.
    """
    asked = {"kinds": [f"{plugin}/{kind}"], "max_items": MAX_ITEMS, "max_bytes": MAX_BYTES}
    while True:
        taken = await portal.call(TAKE_WORK, asked, tier=tier)
        assert not taken.is_error, taken.text
        if not taken.structured["items"]:
            break
        for item in taken.structured["items"]:
            brought = {"id": item["id"], "answer": dict(agent(item["context"])), "model": "test"}
            told = await portal.call(RETURN_WORK, brought, tier=tier)
            assert not told.is_error, told.text
    works = portal.running.plugins.host(plugin).work
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while "answered" in (states := await works.states(kind)).values():  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
    return states


class WorkContract(SuitePart):
    """A part of ``PluginContract``.

    Attributes:
        agents: who answers the items of each kind of work that ``seed`` has published.
    """

    agents: Mapping[str, Agent] = {}

    async def test_work_says_what_is_to_be_done(self) -> None:
        """Each kind has a title and a task, and each field of its answers a description."""
        async with self.opened() as portal:
            for work in portal.running.plugins.offers[self.declared.name].work:
                assert work.title, f"Give the work {work.name} a title."
                assert work.task, f"Give the work {work.name} a task: agents do what it says."
                for name, field in work.schema.model_fields.items():
                    assert field.description, f"Describe {name!r} of {work.name} to agents."

    async def test_work_that_fits_is_put_to_use(self) -> None:
        """What the given agents answer is accepted; kinds with more opinions wait for others."""
        async with self.opened() as portal:
            name = self.declared.name
            offered = {each.name: each for each in portal.running.plugins.offers[name].work}
            assert self.agents.keys() <= offered.keys(), "There is no such work."
            for kind, agent in self.agents.items():
                states = await work_done(portal, name, kind, agent)
                assert states, f"Publish an item of {kind} in `seed`."
                wanted = "accepted" if offered[kind].opinions == 1 else "open"
                assert set(states.values()) == {wanted}, states
