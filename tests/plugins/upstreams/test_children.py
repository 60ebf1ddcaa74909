"""Servers that are programs of this machine."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.testing import TestPortal, open_test_portal
from plugins.upstreams import plugin
from plugins.upstreams.commands import ServerArgs, status
from tests.plugins.upstreams.portals import as_admin, until, until_offered
from tests.plugins.upstreams.test_commands import Terminal

pytestmark = pytest.mark.heavy
COMMAND = [sys.executable, "-m", "tests.plugins.upstreams.children"]


def child(**more: Any) -> dict[str, Any]:
    server = {"name": "child", "command": COMMAND, "tier": "open", "env": {"PLACE": "${HERE}"}}
    return {"plugins": {"upstreams": {"servers": [server | more]}}}


async def greeted(portal: TestPortal) -> str:
    return (await portal.call("child__greet", {"name": "Ana"}, tier="open")).text


async def test_a_program_serves_its_tools_and_is_started_again_when_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HERE", "the garden")
    async with open_test_portal(plugin, config=child()) as portal:
        await until_offered(portal, "child__greet")
        with capture_logs() as logged:
            assert await greeted(portal) == "Hello Ana from the garden"

            async def is_logged() -> bool:
                return any(each.get("line") == "somebody is greeted" for each in logged)

            await until(is_logged)
        died = await portal.call("child__die", tier="open")
        assert died.is_error
        assert "It may have done what it was asked" in died.text
        assert ".." not in died.text

        async def is_back() -> bool:
            return await greeted(portal) == "Hello Ana from the garden"

        await until(is_back)
        terminal = Terminal(portal)
        assert await status(ServerArgs(server="child"), terminal.context) == 0
        ended = r"  its connection has ended by itself once, last at \S+: .*\b3$"
        assert re.search(ended, terminal.text, re.MULTILINE)


async def test_a_program_finds_the_variables_of_its_credential(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLACE", "the shed")
    header = {"Authorization": "Bearer ${PLACE}"}
    config = child(env={}, credential={"header": header})
    async with open_test_portal(plugin, config=config) as portal:
        await until_offered(portal, "child__greet")
        assert await greeted(portal) == "Hello Ana from the shed"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"command": ["no-such-program"]}, "no such file"),
        ({"command": [sys.executable, "-c", "print('no MCP')"]}, "output is no MCP"),
        ({"env": {"PLACE": "${NOT_SET}"}}, "the environment has no NOT_SET"),
    ],
)
async def test_a_program_that_does_not_serve_is_told_in_health(
    monkeypatch: pytest.MonkeyPatch, more: Any, reason: str
) -> None:
    monkeypatch.setenv("HERE", "the garden")
    async with open_test_portal(plugin, config=child(**more)) as portal:

        async def is_told() -> bool:
            [server] = (await as_admin(portal, "GET", "/servers"))["servers"]
            return server["state"] == "down" and reason in server["reason"]

        await until(is_told)
