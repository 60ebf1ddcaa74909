"""The contract suite: what every plugin owes its portal, as a test class to subclass."""

from __future__ import annotations

import asyncio
import builtins
import socket
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import pytest

from auth import Tier
from gateway.client import RequestRefused
from gateway.contract import CONTRACT_VERSION, Host, Offer, Plugin, PluginConfig, Tool, hookimpl
from gateway.items import Item
from gateway.testing.portal import TestPortal, open_test_portal


class PluginContract:
    """Checks a plugin against the contract. Subclass it in a test module of yours::

        class TestContract(PluginContract):
            plugin = my_plugin_module
            calls = {"forecast": [{"city": "Lisbon"}]}

    Its tests are async and run through anyio, which needs a fixture ``anyio_backend`` that says
    ``asyncio``; ``porch new-plugin`` writes one into ``tests/conftest.py``.

    Attributes:
        plugin: the module or object that has ``porch_plugin``.
        config: the plugin's section of ``portal.yaml``.
        calls: arguments with which each tool named must succeed.
    """

    plugin: Any
    config: Mapping[str, Any] = MappingProxyType({})
    calls: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType({})

    pytestmark = pytest.mark.anyio

    async def seed(self, portal: TestPortal) -> None:
        """Bring in what the calls need, such as rows in a table; nothing unless overridden."""

    @property
    def declared(self) -> Plugin:
        """What the plugin declares."""
        declared: Plugin = self.plugin.porch_plugin()
        return declared

    @asynccontextmanager
    async def opened(
        self,
        tiers: Mapping[str, Any] | None = None,
        plugin: Any = None,
        data_dir: Path | None = None,
    ) -> AsyncGenerator[TestPortal]:
        """A portal with the plugin in it, seeded."""
        config = {"plugins": {self.declared.name: dict(self.config)}}
        async with open_test_portal(
            plugin or self.plugin, config=config, tiers=tiers, data_dir=data_dir
        ) as portal:
            await self.seed(portal)
            yield portal

    def test_declares_itself_without_io(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`porch_plugin` opens no file and no socket."""
        self.plugin.porch_plugin()

        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise AssertionError("porch_plugin() does I/O; do that in open().")

        monkeypatch.setattr(builtins, "open", refuse)
        monkeypatch.setattr(socket, "socket", refuse)
        declared = self.plugin.porch_plugin()
        monkeypatch.undo()
        assert isinstance(declared, Plugin)
        assert declared.summary, "Give the plugin a summary."

    def test_is_written_for_this_contract(self) -> None:
        """The plugin's contract version is the portal's."""
        assert self.declared.contract == CONTRACT_VERSION

    def test_configuration_refuses_unknown_keys(self) -> None:
        """A slip of the pen in portal.yaml is an error, not silence."""
        model = self.declared.config
        assert issubclass(model, PluginConfig), "Derive the configuration from PluginConfig."
        assert model.model_config.get("extra") == "forbid"
        for name, field in model.model_fields.items():
            assert field.description, f"Describe the setting {name!r}; admins read it."

    async def test_opens_and_is_well(self) -> None:
        """The plugin opens, answers for its health, and none of its items is set aside."""
        async with self.opened() as portal:
            health = await portal.health()
            how = health["plugins"][self.declared.name]
            assert how["state"] in ("ok", "degraded"), how["detail"]
            assert [str(each) for each in portal.running.catalog.set_aside] == []

    async def test_every_item_tells_what_it_is_for(self) -> None:
        """Names, descriptions of items and of each argument, and hints on what a tool does."""
        async with self.opened() as portal:
            found = [lack for item in portal.running.catalog.items() for lack in _lacks(item)]
        assert found == []

    async def test_lists_are_stable(self) -> None:
        """Two openings offer the same items in the same order."""
        async with self.opened() as portal:
            first = await _everything(portal)
            assert await _everything(portal) == first
        async with self.opened() as portal:
            assert await _everything(portal) == first

    async def test_results_are_as_declared(self) -> None:
        """The calls given, and read-only tools that need no arguments, match their schema."""
        async with self.opened() as portal:
            for name, tool in (await portal.tools()).items():
                for arguments in self._arguments(name, tool):
                    result = await portal.call(name, arguments)
                    assert not result.is_error, f"{name}({arguments}): {result.text}"
                    if schema := tool.get("outputSchema"):
                        jsonschema_rs.validate(schema, result.structured)

    def _arguments(self, name: str, tool: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        yield from self.calls.get(name, ())
        reads = tool.get("annotations", {}).get("readOnlyHint", False)
        if name not in self.calls and reads and not tool["inputSchema"].get("required"):
            yield {}

    async def test_resources_and_plain_prompts_answer(self) -> None:
        """Each fixed resource can be read, and each prompt without arguments rendered."""
        async with self.opened() as portal:
            for uri, entry in (await portal.resources()).items():
                if "uriTemplate" not in entry:
                    await portal.read(uri)
            for name, entry in (await portal.prompts()).items():
                if not any(each.get("required") for each in entry.get("arguments", ())):
                    assert await portal.prompt(name)

    async def test_wrong_arguments_are_told_to_the_model(self) -> None:
        """A bad argument is a result with isError, never a protocol error."""
        async with self.opened() as portal:
            for name, tool in (await portal.tools()).items():
                wrong = _wrong_arguments(tool["inputSchema"])
                if wrong is not None:
                    result = await portal.call(name, wrong)
                    assert result.is_error, f"{name} took {wrong}"

    @pytest.mark.parametrize("required", list(Tier))
    async def test_nothing_runs_below_its_tier(self, required: Tier) -> None:
        """Each item is listed to, and run for, callers at its tier or above, and no one else."""
        name = self.declared.name
        recording = _Recording(self.plugin)
        tiers = {"items": {name: str(required)}}
        async with self.opened(tiers, recording) as portal:
            for tier in Tier:
                await _check_gate(portal, tier, recording)

    async def test_unsigned_webhooks_are_refused(self) -> None:
        """A delivery without a signature is a 403."""
        async with self.opened() as portal:
            for plugin, offer in portal.running.plugins.offers.items():
                for webhook in offer.webhooks:
                    answer = await portal.hook(plugin, webhook.name, b"{}")
                    assert answer.status_code == 403, webhook.name

    async def test_closes_without_a_trace(self, tmp_path: Path) -> None:
        """Opened twice on the same data, it leaves no task behind."""
        for _ in range(2):
            before = asyncio.all_tasks()
            async with self.opened(data_dir=tmp_path / "data"):
                pass
            await asyncio.sleep(0)
            left = [each for each in asyncio.all_tasks() - before if not each.done()]
            assert left == []


class _Recording:
    """A plugin whose tools note that they ran."""

    def __init__(self, module: Any) -> None:
        self._declared: Plugin = module.porch_plugin()
        self.ran: list[str] = []

    @hookimpl
    def porch_plugin(self) -> Plugin:
        """The plugin, its tools watched."""
        return replace(self._declared, open=self._open)

    @asynccontextmanager
    async def _open(self, config: Any, host: Host) -> AsyncGenerator[Offer]:
        async with self._declared.open(config, host) as offer:
            yield replace(offer, tools=[self._watched(tool) for tool in offer.tools])

    def _watched(self, tool: Tool) -> Tool:
        async def run(args: Any, caller: Any) -> Any:
            self.ran.append(tool.name)
            return await tool.run(args, caller)

        return replace(tool, run=run)


async def _check_gate(portal: TestPortal, tier: Tier, recording: _Recording) -> None:
    catalog = portal.running.catalog
    listed = {
        "tool": set(await portal.tools(tier)),
        "prompt": set(await portal.prompts(tier)),
        "resource": set(await portal.resources(tier)),
    }
    listed["template"] = listed["resource"]
    for item in catalog.items():
        needed = catalog.explain(item).tier
        assert (item.name in listed[item.kind]) == tier.allows(needed), f"{item.key} for {tier}"
        if not tier.allows(needed):
            refusal = await _refusal(portal, item, tier)
            assert refusal.startswith(f"Requires {needed} access. Current: {tier}."), item.key
    assert recording.ran == []


async def _refusal(portal: TestPortal, item: Item, tier: Tier) -> str:
    try:
        if item.kind == "tool":
            return (await portal.call(item.name, {}, tier=tier)).text
        if item.kind == "prompt":
            await portal.prompt(item.name, tier=tier)
        else:
            uri = item.name.replace("{", "").replace("}", "")
            await portal.read(uri, tier=tier)
    except RequestRefused as refused:
        return str(refused)
    return "It answered."


async def _everything(portal: TestPortal) -> list[Any]:
    return [
        list((await portal.tools()).values()),
        list((await portal.prompts()).values()),
        list((await portal.resources()).values()),
    ]


def _lacks(item: Item) -> Iterator[str]:
    entry = item.entry
    if not (entry.get("description") or "").strip():
        yield f"{item.key} has no summary."
    for name, schema in entry.get("inputSchema", {}).get("properties", {}).items():
        if not schema.get("description"):
            yield f"{item.key}: the argument {name!r} has no description."
    for argument in entry.get("arguments") or ():
        if not argument.get("description"):
            yield f"{item.key}: the argument {argument['name']!r} has no description."
    if item.kind == "tool" and "readOnlyHint" not in entry.get("annotations", {}):
        yield f"{item.key}: say in ToolAnnotations whether it only reads (read_only_hint)."


def _wrong_arguments(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments that the schema refuses for certain; None where it takes anything."""
    if schema.get("additionalProperties") is False:
        return {"no_such_argument": 1}
    return {} if schema.get("required") else None
