"""A portal with the playbook in it, and people who have signed in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from gateway.testing import TestPortal, open_test_portal
from plugins.workflows import plugin

ALL_PUBLISH = {"access": {"members": {"any_of": ["signed_in"]}}}
"""Rules under which everyone who has signed in is a member, and so may publish."""
ANYONE = "open"
"""Someone who has not signed in."""


@asynccontextmanager
async def opened(
    *people: str,
    starter: bool = False,
    tiers: str | Mapping[str, Any] | None = ALL_PUBLISH,
    **more: Any,
) -> AsyncGenerator[TestPortal]:
    """A portal where these people have signed in."""
    config = {"plugins": {"workflows": {"starter": starter}}, **more.pop("config", {})}
    async with open_test_portal(plugin, config=config, tiers=tiers, **more) as portal:
        for name in people:
            await portal.sign_in(name)
        yield portal


async def done(portal: TestPortal, who: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers, which must succeed."""
    result = await portal.call(tool, arguments, tier=who)
    assert not result.is_error, result.text
    answer: dict[str, Any] = result.structured
    return answer


async def refused(portal: TestPortal, who: str, tool: str, **arguments: Any) -> str:
    """Why a tool refuses."""
    result = await portal.call(tool, arguments, tier=who)
    assert result.is_error, result.text
    return result.text


def stage(*prompts: str, name: str = "Work", **more: Any) -> dict[str, Any]:
    """A stage whose mini-prompts have these names."""
    written = [{"name": each, "content": f"Do {each}."} for each in prompts]
    return {"name": name, "prompts": written, **more}
