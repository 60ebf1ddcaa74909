"""A small plugin of the tests' own: something of each kind, at each tier."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import (
    Caller,
    Host,
    Offer,
    Plugin,
    PluginConfig,
    Prompt,
    Resource,
    ResourceTemplate,
    Route,
    Tier,
    Tool,
    ToolFailed,
    Webhook,
    hookimpl,
)

KEY = b"the tests' own key"
READS = ToolAnnotations(read_only_hint=True)


class Bed(BaseModel):
    """A garden bed."""

    name: str
    plants: list[str]


class BedArgs(BaseModel):
    """Which bed."""

    name: str


BEDS = {"north": Bed(name="north", plants=["beans"]), "south": Bed(name="south", plants=["figs"])}


async def look(name: str) -> Bed:
    """Look at a bed.

    Args:
        name: the bed's name.
    """
    if name not in BEDS:
        raise ToolFailed("not_found", f"There is no bed {name!r}.", {"beds": sorted(BEDS)})
    return BEDS[name]


async def water(name: str, *, caller: Caller) -> str:
    """Water a bed.

    Args:
        name: the bed's name.
    """
    return f"{name} watered at the tier {caller.tier}"


async def harvest() -> str:
    """Bring in the harvest."""
    return "Harvested."


async def stumble() -> str:
    """Run into trouble."""
    raise RuntimeError("a secret of the house: swordfish")


async def linger(marker: str, seconds: float) -> str:
    """Take a while.

    Args:
        marker: a file to write when the work has begun.
        seconds: how long.
    """
    await asyncio.to_thread(Path(marker).write_text, "begun")
    await asyncio.sleep(seconds)
    return "Done after all."


async def plan_season(season: str) -> str:
    """Plan a season.

    Args:
        season: which one.
    """
    return f"Plan the {season}."


async def _seasons(typed: str, others: Mapping[str, str], caller: Caller) -> list[str]:
    return [each for each in ("spring", "summer", "autumn") if each.startswith(typed)]


async def _read(variables: Mapping[str, str], caller: Caller) -> Bed:
    return await look(variables["name"])


async def _about(caller: Caller) -> str:
    return "A garden that neighbours share."


async def _route(params: BedArgs, caller: Caller) -> Bed:
    return await look(params.name)


def _signed(body: bytes, headers: Mapping[str, str]) -> bool:
    expected = hmac.new(KEY, body, sha256).hexdigest()
    return hmac.compare_digest(expected, headers.get("x-signature", ""))


async def _delivered(body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
    return {"bytes": len(body)}


@asynccontextmanager
async def _open(config: PluginConfig, host: Host) -> AsyncGenerator[Offer]:
    yield Offer(
        tools=[
            Tool.of(look, annotations=READS),
            Tool.of(water, annotations=READS),
            Tool.of(harvest, annotations=READS, floor=Tier.PUBLIC),
            Tool.of(stumble, annotations=ToolAnnotations(read_only_hint=False)),
            Tool.of(linger, annotations=READS),
        ],
        resources=[Resource("garden://about", "about", "What the garden is.", _about)],
        templates=[ResourceTemplate("garden://beds/{name}", "bed", "A bed.", _read)],
        prompts=[Prompt.of(plan_season, complete={"season": _seasons})],
        routes=[Route("GET", "/beds/{name}", _route, "look", BedArgs, Bed, "A bed.")],
        webhooks=[Webhook("weather", _signed, _delivered)],
        instructions="A garden that neighbours share.",
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("garden", "A garden.", _open)
