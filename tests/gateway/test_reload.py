"""What of portal.yaml is in force once it is saved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yaml

from gateway.contract import Caller, Host, Offer, Plugin, PluginConfig, Tool, hookimpl
from gateway.testing import TestPortal, open_test_portal

PATIENCE_SECONDS = 60.0


class Beds(PluginConfig):
    """What grows in the garden."""

    beds: tuple[str, ...] = ()
    deep: int = 1


@asynccontextmanager
async def _open(config: Beds, host: Host) -> AsyncGenerator[Offer]:
    def offered(beds: Beds) -> Offer:
        return Offer(tools=[_bed(name) for name in beds.beds])

    async def configure(beds: Beds) -> None:
        if beds.deep > 9:
            raise ValueError("nothing grows that deep")
        host.reoffer(offered(beds))

    offer = offered(config)
    yield Offer(tools=offer.tools, configure=configure)


def _bed(name: str) -> Tool:
    async def look(args: Any, caller: Caller) -> str:
        return name

    return Tool(name, f"The bed of {name}.", look)


class Garden:
    __name__ = "garden"

    @staticmethod
    @hookimpl
    def porch_plugin() -> Plugin:
        return Plugin(name="garden", summary="A garden.", config=Beds, open=_open)


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(Garden, config={"plugins": {"garden": {"beds": ["peas"]}}}) as it:
        yield it


def save(portal: TestPortal, text: str | Mapping[str, Any]) -> None:
    written = text if isinstance(text, str) else yaml.safe_dump(dict(text))
    (portal.config_dir / "portal.yaml").write_text(written, "utf-8")


def saved(portal: TestPortal, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((portal.config_dir / "portal.yaml").read_text("utf-8"))
    return found | more


async def until_tools_are(portal: TestPortal, *names: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while set(await portal.tools()) != set(names):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def notice(portal: TestPortal, text: str) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            for each in (await portal.health())["notices"]:
                if text in each:
                    return str(each)
            await asyncio.sleep(0.05)


async def test_a_plugins_section_is_in_force_when_the_file_is_saved(portal: TestPortal) -> None:
    assert set(await portal.tools()) == {"peas"}
    save(portal, saved(portal, plugins={"garden": {"beds": ["peas", "beans"]}}))
    await until_tools_are(portal, "peas", "beans")


async def test_a_mistake_is_told_by_its_line_and_changes_nothing(portal: TestPortal) -> None:
    save(portal, "plugins:\n  garden:\n    bets: [peas]\n")
    said = await notice(portal, "portal.yaml:3")
    assert said == "config/portal.yaml:3: plugins.garden.bets: unknown key; did you mean beds?"
    assert set(await portal.tools()) == {"peas"}
    save(portal, "plugins: [")
    await notice(portal, "portal.yaml:1")
    assert set(await portal.tools()) == {"peas"}
    save(portal, {"plugins": {"garden": {"beds": ["beans"]}}})
    await until_tools_are(portal, "beans")


async def test_a_file_that_is_gone_changes_nothing_until_it_is_there_again(
    portal: TestPortal,
) -> None:
    """An editor, or Git, may take it away for a moment; without it all sections are empty."""
    before = saved(portal)
    (portal.config_dir / "portal.yaml").unlink()
    said = await notice(portal, "portal.yaml")
    assert said == (
        "config/portal.yaml: is gone; what was in force goes on. Put it back before the next "
        "start, which would take the defaults"
    )
    assert set(await portal.tools()) == {"peas"}
    save(portal, before | {"plugins": {"garden": {"beds": ["beans"]}}})
    await until_tools_are(portal, "beans")
    assert not any("portal.yaml" in each for each in (await portal.health())["notices"])


async def test_what_the_plugin_itself_refuses_is_told_likewise(portal: TestPortal) -> None:
    save(portal, "plugins:\n  garden:\n    beds: [beans]\n    deep: 12\n")
    said = await notice(portal, "nothing grows")
    assert said.endswith("plugins.garden: is not in force: nothing grows that deep")
    assert set(await portal.tools()) == {"peas"}


async def test_what_needs_a_restart_is_said_to(portal: TestPortal) -> None:
    save(portal, saved(portal, name="Another name"))
    assert (await notice(portal, ": name:")).endswith(
        "name: has changed; restart the portal to put it in force"
    )
    section = {"beds": ["peas"], "required": False}
    save(portal, saved(portal, plugins={"garden": section}))
    await notice(portal, "plugins.garden: has changed; restart the portal")
