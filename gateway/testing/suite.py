"""The contract suite: what every plugin owes its portal, as a test class to subclass."""

from __future__ import annotations

import asyncio
import builtins
import hashlib
import socket
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import pytest

from auth import ANONYMOUS, Caller, Tier
from gateway.catalog.items import Item
from gateway.catalog.skills import DIRECTORY, ROOT_FILE, path_of, uri_of
from gateway.cli.mcp_client import RequestRefused
from gateway.contract import (
    CONTRACT_VERSION,
    Offer,
    Plugin,
    PluginConfig,
    PromptFamily,
    Skill,
    Tool,
)
from gateway.surfaces.mcp.dynamic_lists import Lister, id_of, lister_of
from gateway.testing.own_space import OwnSpaceContract
from gateway.testing.personal import PersonalContract
from gateway.testing.portal import TestPortal, open_test_portal
from gateway.testing.tasks import TaskContract
from gateway.testing.views import ViewContract, shown_apps
from gateway.testing.work import WorkContract


class PluginContract(PersonalContract, OwnSpaceContract, TaskContract, ViewContract, WorkContract):
    """Checks a plugin against the contract. Subclass it in a test module of yours::

        class TestContract(PluginContract):
            plugin = my_plugin_module
            calls = {"forecast": [{"city": "Lisbon"}]}

    Its tests are async and need anyio's fixture ``anyio_backend``, which says ``asyncio``.

    Attributes:
        plugin: the module or object that has ``porch_plugin``.
        config: the plugin's section of ``portal.yaml``.
        calls: arguments with which each tool named must succeed.
        leaves: calls by which someone leaves something of their own behind.
        agents: who answers the items of each kind of work that ``seed`` has published.
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
        data_dir: Path | None = None,
    ) -> AsyncGenerator[TestPortal]:
        """A portal with the plugin in it, seeded."""
        config = {"plugins": {self.declared.name: dict(self.config)}}
        async with open_test_portal(
            self.plugin, config=config, tiers=tiers, data_dir=data_dir
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

    async def test_lists_that_differ_by_caller_go_on_where_they_stopped(self) -> None:
        """One entry at a time or all at once, a lister gives the same; a family finds its own."""
        async with self.opened() as portal:
            catalog = portal.running.catalog
            shown = {*await portal.prompts("open"), *await portal.resources("open")}
            for item in catalog.items():
                lister, needed = lister_of(item), catalog.requires(item)
                for caller in (ANONYMOUS, Caller("person:whoever", Tier.MEMBERS)):
                    if lister is None or not caller.tier.allows(needed):
                        continue
                    listed = await _check_pages(item, lister, caller)
                    assert caller.person or set(listed) <= shown, f"{item.key}: some are left out"
                    if isinstance(item.declared, PromptFamily):
                        await _check_family(item, item.declared, listed, caller)

    async def test_skills_are_what_their_manifests_say(self) -> None:
        """Each file of each skill has its size and digest, and directories lead to all of them."""
        async with self.opened() as portal:
            for uri, skill in (await portal.skills()).items():
                assert await portal.skill(uri) == skill
                for file in skill["resources"]:
                    raw = await portal.read_bytes(file["uri"])
                    digest = f"sha256:{hashlib.sha256(raw).hexdigest()}"
                    assert (len(raw), digest) == (file["size"], file["digest"]), file["uri"]
                found = await _walk(portal, uri.removesuffix(f"/{ROOT_FILE}"))
                assert found == {file["uri"] for file in skill["resources"]}

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
        async with self.opened({"items": {name: str(required)}}) as portal:
            recording = _Recording(required)
            offer = recording.watched(portal.running.plugins.offers[name])
            portal.running.catalog.add(name, offer)
            for tier in Tier:
                await _check_gate(portal, tier, recording)

    async def test_unsigned_webhooks_are_refused(self) -> None:
        """A delivery without a signature is a 403."""
        async with self.opened() as portal:
            for plugin, offer in portal.running.plugins.offers.items():
                for webhook in offer.webhooks:
                    answer = await portal.hook(plugin, webhook.name, b"{}")
                    assert answer.status_code == 403, webhook.name

    async def test_apis_fail_in_their_own_words(self) -> None:
        """Below each prefix of an API, what is wrong is told as its specification says."""
        async with self.opened() as portal:
            offers = portal.running.plugins.offers.values()
            for api in (api for offer in offers for api in offer.apis):
                for prefix in api.prefixes:
                    assert (await portal.get(f"{prefix}/openapi.json")).status_code == 200
                    lost = await portal.get(f"{prefix}/there/is/no/such/path")
                    assert lost.status_code == 404, prefix
                    api.error.model_validate_json(lost.content)

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
    """Notes which tools and skills run, and which listers do for too low a tier.

    It watches what the portal serves, so that a plugin may run in a process of its own.
    """

    def __init__(self, required: Tier) -> None:
        self._required = required
        self.ran: list[str] = []

    def watched(self, offer: Offer) -> Offer:
        """The offer, its functions watched."""
        return replace(
            offer,
            tools=[self._watched(tool) for tool in offer.tools],
            skills=[self._read(skill) for skill in offer.skills],
            templates=[
                replace(each, listed=each.listed and self._lister(each.name, each.listed))
                for each in offer.templates
            ],
            prompt_families=[
                replace(each, listed=self._lister(each.name, each.listed))
                for each in offer.prompt_families
            ],
        )

    def _lister(self, name: str, lister: Lister) -> Lister:
        async def listed(caller: Caller, after: str | None, limit: int) -> Sequence[Any]:
            if not caller.tier.allows(self._required):
                self.ran.append(f"{name} for {caller.tier}")
            return await lister(caller, after, limit)

        return listed

    def _watched(self, tool: Tool) -> Tool:
        async def run(args: Any, caller: Any) -> Any:
            self.ran.append(tool.name)
            return await tool.run(args, caller)

        return replace(tool, run=run)

    def _read(self, skill: Skill) -> Skill:
        async def read(path: str, caller: Any) -> bytes:
            self.ran.append(f"{skill.path}/{path}")
            return await skill.read(path, caller)

        return replace(skill, read=read)


async def _check_gate(portal: TestPortal, tier: Tier, recording: _Recording) -> None:
    catalog = portal.running.catalog
    listed = {
        "tool": set(await portal.tools(tier)),
        "prompt": set(await portal.prompts(tier)),
        "resource": set(await portal.resources(tier)) | await shown_apps(portal, tier),
    }
    listed["template"] = listed["resource"]
    listed["skill"] = set(await portal.skills(tier))
    for item in catalog.items():
        needed = catalog.requires(item)
        if item.kind != "family":
            is_listed = item.name in listed[item.kind]
            assert is_listed == tier.allows(needed), f"{item.key} for {tier}"
        if not tier.allows(needed):
            for refusal in await _refusals(portal, item, tier):
                assert refusal.startswith(f"Requires {needed} access. Current: {tier}."), item.key
    assert recording.ran == []


async def _refusals(portal: TestPortal, item: Item, tier: Tier) -> list[str]:
    if item.kind != "skill":
        return [await _refusal(portal, item, tier)]
    directory = item.name.removesuffix(f"/{ROOT_FILE}")
    asked = [("skills/get", item.name), ("resources/directory/read", directory)]
    asked += [("resources/read", uri_of(f"{path_of(directory)}/{file}")) for file in item.files]
    refusals = []
    for method, uri in asked:
        try:
            await portal.mcp(tier).request(method, {"uri": uri})
        except RequestRefused as refused:
            refusals.append(str(refused))
        else:
            refusals.append(f"It answered {method}.")
    return refusals


async def _check_pages(item: Item, lister: Lister, caller: Caller) -> list[str]:
    """What a lister gives, which does not depend on how much is asked for at a time."""
    listed = [id_of(each) for each in await lister(caller, None, 100)]
    assert len(set(listed)) == len(listed) <= 100, f"{item.key}: {listed}"
    after, one_by_one = None, list[str]()
    while len(one_by_one) < len(listed) and (found := await lister(caller, after, 1)):
        after = id_of(*found)
        one_by_one.append(after)
    assert one_by_one == listed, f"{item.key} for {caller.tier}"
    return listed


async def _check_family(
    item: Item, family: PromptFamily, listed: Sequence[str], caller: Caller
) -> None:
    for name in listed:
        found = await family.find(name, caller)
        assert found is not None, f"{item.key} does not find {name}"
        assert found.name == name, item.key
    assert await family.find(f"{family.name[:-1]}there-is-no-such-prompt", caller) is None


async def _walk(portal: TestPortal, directory: str) -> set[str]:
    """Every file below a directory."""
    found = set()
    for uri, entry in (await portal.directory(directory)).items():
        is_directory = entry["mimeType"] == DIRECTORY
        found |= await _walk(portal, uri) if is_directory else {uri}
    return found


async def _refusal(portal: TestPortal, item: Item, tier: Tier) -> str:
    try:
        if item.kind == "tool":
            return (await portal.call(item.name, {}, tier=tier)).text
        if item.kind in ("prompt", "family"):
            name = item.name if item.kind == "prompt" else f"{item.stem}any"
            await portal.prompt(name, tier=tier)
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
        list((await portal.skills()).values()),
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
