"""The kit itself: a portal in memory, and a contract suite that notices."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auth import Tier
from gateway.cli.mcp_client import Challenged
from gateway.contract import (
    Host,
    ListedResource,
    Offer,
    Plugin,
    PluginConfig,
    Prompt,
    PromptFamily,
    ResourceTemplate,
    Tool,
    hookimpl,
)
from gateway.testing import Account, PluginContract, RequestRefused, open_test_portal
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


async def test_people_call_by_their_names_at_the_tier_that_the_rules_give_them() -> None:
    org = "github.example.org"
    tiers = {
        "access": {"members": {"any_of": [{"email": f"*@{org}"}]}},
        "items": {"garden": "public", "garden/linger": "members"},
    }
    ann = Account("oidc:https://id.example.org#ann", "oidc", "Ann", f"ann@{org}")
    async with open_test_portal(garden, tiers=tiers) as portal:
        one, other = await portal.sign_in("ann", ann), await portal.sign_in("ben")
        assert one.id != other.id
        assert "linger" in await portal.tools("ann")
        assert set(await portal.tools("ben")) < set(await portal.tools("ann"))
        refused = await portal.call("linger", {"seconds": 0}, tier="ben")
        strange = await portal.call("linger", {"seconds": 0}, tier="open")
        with pytest.raises(Challenged, match="Requires members access"):
            await portal.mcp("open").request("tools/call", {"name": "linger", "arguments": {}})
    assert refused.text.startswith("Requires members access. Current: public.")
    assert strange.is_error
    assert strange.text.startswith("Requires members access. Current: open. Sign in at ")


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


async def test_what_a_process_has_besides_a_portal_is_still_collected() -> None:
    frozen = gc.get_freeze_count()
    async with open_test_portal(garden):
        assert gc.get_freeze_count() <= frozen
    assert gc.isenabled()


async def test_new_rules_come_into_force_while_the_portal_runs() -> None:
    async with open_test_portal(garden, tiers=OPEN) as portal:
        assert await portal.tools("open")
        (portal.config_dir / "tiers.yaml").write_text("default: members\n")
        async with asyncio.timeout(60):
            listed = await portal.tools("open")
            while listed:
                listed = await portal.tools("open")


def _plugin(*tools: Tool, offer: Offer | None = None, **changes: Any) -> Any:
    @asynccontextmanager
    async def opener(config: Any, host: Host) -> AsyncGenerator[Offer]:
        yield offer or Offer(tools=tools)

    class Flawed:
        @hookimpl
        def porch_plugin(self) -> Plugin:
            return Plugin(**{"name": "flawed", "summary": "Flawed.", "open": opener, **changes})

    return Flawed()


async def _returns_the_wrong_shape(args: Any, caller: Any) -> Any:
    return {"name": 5}


PAGES = "test_lists_that_differ_by_caller_go_on_where_they_stopped"


async def _answers(*_: Any) -> str:
    return "Some text."


def _family(*listed: str, found: str | None = None, always: bool = False) -> Any:
    """A plugin whose family lists these prompts and finds that one, or whatever it is asked for."""

    async def lister(caller: Any, after: str | None, limit: int) -> list[Prompt]:
        names = [each for each in listed if after is None or each > after]
        return [Prompt(each, "A prompt.", _answers) for each in names[:limit]]

    async def find(name: str, caller: Any) -> Prompt | None:
        return Prompt(found or name, "A prompt.", _answers) if found or always else None

    family = PromptFamily("day-*", "Days.", lister, find, tier=Tier.OPEN)
    return _plugin(offer=Offer(prompt_families=[family]))


def _template(*listed: str) -> Any:
    """A plugin whose template lists these URIs each time, wherever the list is to go on."""

    async def lister(caller: Any, after: str | None, limit: int) -> list[ListedResource]:
        return [ListedResource(each, "day", "A day.") for each in listed[:limit]]

    template = ResourceTemplate("days://{day}", "day", "A day.", _answers, listed=lister)
    return _plugin(offer=Offer(templates=[replace(template, tier=Tier.OPEN)]))


class Loose(PluginConfig):
    size: int = 3


LOOK = Tool.of(garden.look, annotations=garden.READS)
FLAWS: dict[str, tuple[Any, str]] = {
    "contract": (_plugin(contract=99), "test_is_written_for_this_contract"),
    "config": (_plugin(config=Loose), "test_configuration_refuses_unknown_keys"),
    "summary": (_plugin(replace(LOOK, summary="")), "test_every_item_tells_what_it_is_for"),
    "hint": (_plugin(replace(LOOK, annotations=None)), "test_every_item_tells_what_it_is_for"),
    "name": (_plugin(replace(LOOK, name="a b")), "test_opens_and_is_well"),
    "order": (_family("day-b", "day-a"), PAGES),
    "other prompt": (_family("day-a", found="day-b"), PAGES),
    "any prompt": (_family("day-a", always=True), PAGES),
    "bad prompt": (_family("night-a", found="night-a"), PAGES),
    "same page": (_template("days://a", "days://b"), PAGES),
    "same entry": (_template("days://a", "days://a"), PAGES),
    "bad URI": (_template("nights://a"), PAGES),
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
