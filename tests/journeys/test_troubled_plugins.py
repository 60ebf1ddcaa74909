"""What goes wrong with one plugin is its own affair."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from gateway.contract import Host, Offer, Plugin, Tool, hookimpl
from gateway.testing import open_test_portal
from tests.journeys import garden


class Other:
    """A plugin made of an ``open``."""

    def __init__(self, opener: Any, contract: int = 1) -> None:
        self._plugin = Plugin("other", "Another.", opener, contract=contract)

    @hookimpl
    def porch_plugin(self) -> Plugin:
        return self._plugin


def offering(*tools: Tool) -> Other:
    @asynccontextmanager
    async def opener(config: Any, host: Host) -> AsyncGenerator[Offer]:
        yield Offer(tools=tools)

    return Other(opener)


LOOK = Tool.of(garden.look)


async def test_two_plugins_that_offer_one_name_serve_on_and_the_fix_is_told() -> None:
    async with open_test_portal(garden, offering(LOOK), tiers="default: open\n") as portal:
        assert (await portal.tools())["look"]
        (notice,) = (await portal.health())["notices"]
    assert notice == (
        "other/look: garden already offers 'look'. In portal.yaml, under plugins: other:, write "
        "alias: {look: ANOTHER_NAME}"
    )


async def test_the_fix_mends_it() -> None:
    config = {"plugins": {"other": {"alias": {"look": "peek"}}}}
    async with open_test_portal(garden, offering(LOOK), config=config) as portal:
        assert {"look", "peek"} <= set(await portal.tools())
        assert (await portal.health())["notices"] == []
        assert (await portal.call("peek", {"name": "south"})).structured["plants"] == ["figs"]


async def test_a_plugin_that_raises_while_opening_is_named_and_the_others_serve() -> None:
    @asynccontextmanager
    async def opener(config: Any, host: Host) -> AsyncGenerator[Offer]:
        raise OSError("the disk is gone")
        yield Offer()

    async with open_test_portal(garden, Other(opener)) as portal:
        health = await portal.health()
        assert health["status"] == "failed"
        assert health["plugins"]["other"]["detail"] == "OSError: the disk is gone"
        assert not (await portal.call("look", {"name": "north"})).is_error
        assert (await portal.get("/healthz")).status_code == 200
        assert (await portal.get("/readyz")).status_code == 503


async def test_a_plugin_that_raises_while_closing_does_not_stop_the_others() -> None:
    closed = []

    @asynccontextmanager
    async def opener(config: Any, host: Host) -> AsyncGenerator[Offer]:
        yield Offer()
        closed.append("other")
        raise RuntimeError("the door is stuck")

    async with open_test_portal(garden, Other(opener)):
        pass
    assert closed == ["other"]


async def test_a_plugin_of_another_contract_is_set_aside_by_name() -> None:
    other = Other(None, contract=99)
    async with open_test_portal(garden, other) as portal:
        (broken,) = [
            each for name, each in (await portal.health())["plugins"].items() if name != "garden"
        ]
        assert "it was written for contract 99" in broken["detail"]
        assert (await portal.get("/readyz")).status_code == 200


async def test_a_tool_with_an_invalid_schema_is_set_aside_and_the_rest_is_served() -> None:
    bad = replace(LOOK, name="bad", args=None, input_schema={"type": "object", "properties": 5})
    fetched = replace(
        LOOK,
        name="fetched",
        args=None,
        input_schema={"type": "object", "properties": {"a": {"$ref": "https://example.org/a"}}},
    )
    good = replace(LOOK, name="good")
    async with open_test_portal(offering(bad, fetched, good)) as portal:
        assert list(await portal.tools()) == ["good"]
        notices = (await portal.health())["notices"]
    assert len(notices) == 2
    assert notices[0].startswith("other/bad: its input schema is not a JSON schema")
    assert "references to other documents are not followed" in notices[1]


async def test_unknown_keys_of_a_plugin_are_told_by_line() -> None:
    config = {"plugins": {"garden": {"sise": 3}}}
    async with open_test_portal(garden, config=config) as portal:
        detail = (await portal.health())["plugins"]["garden"]["detail"]
    assert "plugins.garden.sise: unknown key" in detail
    assert detail.startswith("config/portal.yaml:")
