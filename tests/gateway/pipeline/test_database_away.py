"""A call that the database keeps from its answer says so, over MCP and REST; others stay hidden."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, Field
from sqlalchemy.exc import IntegrityError, OperationalError

from gateway.contract import Offer, Plugin, Route, Tool
from gateway.contract.backend_errors import DatabaseAway
from gateway.testing import open_test_portal

WORDS = "The portal's database does not answer just now. Try again in a minute"


class Connection(Exception):
    """What a driver of PostgreSQL raises."""

    sqlstate = "08006"


class Bed(BaseModel):
    how: str = Field(description="What goes wrong.")


def failures() -> dict[str, Exception]:
    wrapped = RuntimeError("not found out")
    wrapped.__cause__ = DatabaseAway("no answer")
    return {
        "away": DatabaseAway("no answer"),
        "wrapped": wrapped,
        "cut": OperationalError("SELECT 1", {}, Connection("gone")),
        "row": IntegrityError("INSERT", {}, Exception("taken")),
        "file": PermissionError("not yours"),
        "bug": RuntimeError("secret"),
    }


async def dig(bed: Bed, caller: Any) -> Bed:
    """Dig a bed."""
    raise failures()[bed.how]


@asynccontextmanager
async def opened(config: Any, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(
        tools=[Tool("dig", "Dig a bed.", dig, args=Bed, result=Bed)],
        routes=[Route("GET", "/beds", dig, "dig", Bed, Bed, "Dig a bed.")],
    )


PLUGIN = SimpleNamespace(porch_plugin=lambda: Plugin("garden", "A garden.", opened))


@pytest.mark.parametrize("how", ["away", "wrapped", "cut"])
async def test_an_outage_is_told_with_what_to_do(how: str) -> None:
    async with open_test_portal(PLUGIN) as portal:
        answer = await portal.call("dig", {"how": how})
        assert answer.is_error
        assert answer.text.startswith(WORDS)
        said = await portal.http("members").get("/api/v1/garden/beds", params={"how": how})
        assert (said.status_code, said.json()["error"]["code"]) == (503, "unavailable")
        assert int(said.headers["retry-after"]) > 0


@pytest.mark.parametrize("how", ["row", "file", "bug"])
async def test_what_is_no_outage_stays_hidden(how: str) -> None:
    async with open_test_portal(PLUGIN) as portal:
        said = await portal.http("members").get("/api/v1/garden/beds", params={"how": how})
        assert (said.status_code, said.json()["error"]["code"]) == (500, "internal_error")
