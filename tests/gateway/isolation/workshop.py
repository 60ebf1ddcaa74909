"""A plugin of the tests' own that may run in a process of its own, with something of each kind."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import mcp_types as mcp
from pydantic import Field

from gateway.contract import (
    ANONYMOUS,
    Caller,
    CollectionSpec,
    Health,
    Host,
    Job,
    ListedResource,
    Offer,
    PersonalData,
    PersonalFile,
    Plugin,
    PluginConfig,
    Prompt,
    PromptFamily,
    Resource,
    ResourceTemplate,
    Skill,
    SkillFile,
    ToolFailed,
    UpstreamCredential,
    hookimpl,
)
from tests.gateway.isolation.tooling import Made, Tooling

SKILL = b"---\nname: sawing\ndescription: How to saw.\n---\nSaw slowly.\n"


class WorkshopConfig(PluginConfig):
    """The workshop's section."""

    breaks: str = Field("", description="How it fails to open: raise, exit, vectors or jobs.")
    once: str = Field("", description="A file; it fails to open while there is none of that name.")


async def _about(caller: Caller) -> str:
    return f"A workshop, for {caller.tier}."


async def _picture(caller: Caller) -> bytes:
    return b"\0\1\2"


async def _board(variables: Mapping[str, str], caller: Caller) -> Made:
    if variables["name"] == "none":
        raise ToolFailed("not_found", "There is no such board.")
    return Made(thing=variables["name"])


async def _boards(typed: str, others: Mapping[str, str], caller: Caller) -> list[str]:
    return [each for each in ("oak", "ash", "elm") if each.startswith(typed)]


async def _listed(caller: Caller, after: str | None, limit: int) -> list[ListedResource]:
    all_of_them = [ListedResource(f"workshop://boards/{n}", n, "A board.") for n in ("ash", "oak")]
    return [each for each in all_of_them if after is None or each.uri > after][:limit]


async def plan(wood: str) -> str:
    """Plan a cut.

    Args:
        wood: which wood.
    """
    return f"Plan to cut {wood}."


async def _messages(args: Any, caller: Caller) -> list[mcp.PromptMessage]:
    return [mcp.PromptMessage(role="assistant", content=mcp.TextContent(text="Hm."))]


def _recipe(name: str) -> Prompt:
    return Prompt.of(plan, name=f"recipe-{name}", complete={"wood": _boards})


async def _recipes(caller: Caller, after: str | None, limit: int) -> Sequence[Prompt]:
    names = ["chair", "table"] if caller != ANONYMOUS else ["chair"]
    return [each for each in map(_recipe, names) if after is None or each.name > after][:limit]


async def _find(name: str, caller: Caller) -> Prompt | None:
    return next((each for each in await _recipes(caller, None, 9) if each.name == name), None)


async def _skill(path: str, caller: Caller) -> bytes:
    return SKILL


def _personal(host: Host) -> PersonalData:
    async def people() -> set[str]:
        return {info.key.partition("/")[0] async for info in host.objects.list()}

    async def export(person: str) -> AsyncIterator[PersonalFile]:
        if (note := await host.objects.get(f"{person}/note")) is not None:
            yield PersonalFile("note.txt", note)

    async def erase(person: str) -> None:
        await host.objects.delete(f"{person}/note")

    return PersonalData(people, export, erase)


async def _health() -> Health:
    return Health("ok", "All saws are sharp.", {"saws": 3})


async def _job(run: Any, payload: Any) -> None:
    return None


@asynccontextmanager
async def _open(config: WorkshopConfig, host: Host) -> AsyncGenerator[Offer]:
    if config.breaks == "raise" or (config.once and not os.path.exists(config.once)):  # noqa: ASYNC240, PTH110
        raise RuntimeError("The door is locked.")
    if config.breaks == "exit":
        os._exit(7)
    if config.breaks == "vectors":
        await host.vectors.collection("wood", CollectionSpec())
    tooling = Tooling(host)
    tooling.offer = Offer(
        tools=tooling.tools(),
        resources=[
            Resource("workshop://about", "about", "What it is.", _about),
            Resource("workshop://picture", "picture", "A picture.", _picture, "image/png"),
        ],
        templates=[
            ResourceTemplate(
                "workshop://boards/{name}",
                "board",
                "A board.",
                _board,
                "application/json",
                {"name": _boards},
                listed=_listed,
            )
        ],
        prompts=[
            Prompt.of(plan, complete={"wood": _boards}),
            Prompt("ponder", "Thinks.", _messages),
        ],
        prompt_families=[PromptFamily("recipe-*", "Recipes.", _recipes, _find)],
        skills=[
            Skill(
                "sawing",
                {"name": "sawing", "description": "How to saw."},
                [SkillFile("SKILL.md", sha256(SKILL).hexdigest(), len(SKILL))],
                _skill,
            )
        ],
        credential=UpstreamCredential("x-wood-token"),
        jobs=[Job("saw", _job)] if config.breaks == "jobs" else [],
        health=_health,
        instructions="A workshop.",
        personal=_personal(host),
    )
    yield tooling.offer


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("workshop", "A workshop.", _open, WorkshopConfig)
