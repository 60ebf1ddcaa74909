"""The kit itself: a portal in memory, and a contract suite that notices."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Host, Offer, Plugin, PluginConfig, Tool, hookimpl
from gateway.testing import PluginContract, RequestRefused, open_test_portal
from tests.journeys import garden

OPEN = "default: open\n"


CALLS = {"look": [{"name": "north"}], "water": [{"name": "south"}]}


class TestGarden(PluginContract):
    plugin = garden
    calls = CALLS


async def test_a_call_gives_structure_text_and_content() -> None:
    async with open_test_portal(garden, tiers=OPEN) as portal:
        result = await portal.call("look", {"name": "north"}, tier="open")
    assert result.structured == {"name": "north", "plants": ["beans"]}
    assert json.loads(result.text) == result.structured
    assert not result.is_error


async def test_prompts_resources_and_completion_answer() -> None:
    async with open_test_portal(garden, tiers=OPEN) as portal:
        (message,) = await portal.prompt("plan-season", {"season": "spring"})
        assert message["content"]["text"] == "Plan the spring."
        assert await portal.read("garden://about") == "A garden that neighbours share."
        assert json.loads(await portal.read("garden://beds/south"))["plants"] == ["figs"]
        assert await portal.complete("plan-season", "season", "s") == ["spring", "summer"]
        assert set(await portal.resources()) == {"garden://about", "garden://beds/{name}"}


async def test_a_refusal_carries_the_code_and_data_of_the_wire() -> None:
    async with open_test_portal(garden, tiers=OPEN) as portal:
        with pytest.raises(RequestRefused) as refused:
            await portal.read("garden://beds/west")
    assert refused.value.code == -32602
    assert refused.value.data["uri"] == "garden://beds/west"


async def test_names_that_no_header_can_carry_arrive_whole() -> None:
    async with open_test_portal(garden, tiers=OPEN) as portal:
        with pytest.raises(RequestRefused, match="Unknown tool: é\n=\\?"):
            await portal.call("é\n=?")


async def test_mirrored_arguments_are_sent_as_headers_too() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "x-mcp-header": "Bed"}},
        "required": ["name"],
    }

    async def run(args: Any, caller: Any) -> Any:
        return args["name"]

    tool = Tool("mirrored", "Says the name.", run, input_schema=schema)
    async with open_test_portal(_plugin(tool), tiers=OPEN) as portal:
        assert (await portal.call("mirrored", {"name": "nörd"})).text == "nörd"


async def test_data_stays_where_it_is_asked_to(tmp_path: Path) -> None:
    async with open_test_portal(garden, data_dir=tmp_path / "kept"):
        pass
    assert (tmp_path / "kept" / "porch.db").is_file()


async def test_new_rules_come_into_force_while_the_portal_runs() -> None:
    async with open_test_portal(garden, tiers=OPEN) as portal:
        assert await portal.tools("open")
        (portal.config_dir / "tiers.yaml").write_text("default: members\n")
        async with asyncio.timeout(10):
            listed = await portal.tools("open")
            while listed:
                listed = await portal.tools("open")


def _plugin(*tools: Tool, **changes: Any) -> Any:
    @asynccontextmanager
    async def opener(config: Any, host: Host) -> AsyncGenerator[Offer]:
        yield Offer(tools=tools)

    class Flawed:
        @hookimpl
        def porch_plugin(self) -> Plugin:
            return Plugin(**{"name": "flawed", "summary": "Flawed.", "open": opener, **changes})

    return Flawed()


async def _returns_the_wrong_shape(args: Any, caller: Any) -> Any:
    return {"name": 5}


class Loose(PluginConfig):
    size: int = 3


LOOK = Tool.of(garden.look, annotations=garden.READS)
FLAWS: dict[str, tuple[Any, str]] = {
    "contract": (_plugin(contract=99), "test_is_written_for_this_contract"),
    "config": (_plugin(config=Loose), "test_configuration_refuses_unknown_keys"),
    "summary": (_plugin(replace(LOOK, summary="")), "test_every_item_tells_what_it_is_for"),
    "hint": (_plugin(replace(LOOK, annotations=None)), "test_every_item_tells_what_it_is_for"),
    "name": (_plugin(replace(LOOK, name="a b")), "test_opens_and_is_well"),
    "shape": (
        _plugin(
            replace(
                LOOK,
                args=None,
                run=_returns_the_wrong_shape,
                input_schema={"type": "object"},
            )
        ),
        "test_results_are_as_declared",
    ),
}


@pytest.mark.parametrize("flaw", list(FLAWS))
async def test_the_suite_notices(flaw: str) -> None:
    plugin, name = FLAWS[flaw]
    suite = PluginContract()
    suite.plugin = plugin
    check = getattr(suite, name)
    with pytest.raises(Exception):  # noqa: B017, PT011
        if asyncio.iscoroutinefunction(check):
            await check()
        else:
            check()


def test_the_suite_notices_a_declaration_that_reads_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Reads:
        reads = False

        @hookimpl
        def porch_plugin(self) -> Plugin:
            with open(__file__) as file:  # noqa: PTH123
                file.read(1)
            return Plugin("reads", "Reads.", garden._open)

    suite = PluginContract()
    suite.plugin = Reads()
    with pytest.raises(AssertionError, match="does I/O"):
        suite.test_declares_itself_without_io(monkeypatch)


def test_the_kit_does_not_come_with_the_gateway_s_own_imports() -> None:
    code = "import sys, gateway.app; print('pytest' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
