"""What plugins keep of people goes when they go, whatever fails meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth.callers import Account
from auth.stores import Stores
from gateway.contract import (
    Caller,
    Offer,
    PersonalData,
    PersonalFile,
    Plugin,
    Tier,
    Tool,
    hookimpl,
)
from gateway.identity import erasures
from gateway.identity.erasures import Erasures
from gateway.identity.stores import forgotten_people, open_stores
from gateway.observability.audit import MIGRATIONS, AuditLog
from gateway.services.database.service import OwnedDatabase, open_database
from gateway.testing import TestPortal, open_test_portal
from tests.examples import examples


class Diary:
    """A plugin that keeps a line of everyone who calls, outside of the portal's database."""

    def __init__(self, name: str = "diary") -> None:
        self.name = name
        self.kept: dict[str, str] = {}
        self.fails = self.cannot_say = False
        self.tried: list[str] = []

    async def _people(self) -> Sequence[str]:
        if self.cannot_say:
            raise OSError("the disk is gone")
        return list(self.kept)

    async def _export(self, person: str) -> AsyncIterator[PersonalFile]:
        if person in self.kept:
            yield PersonalFile("line.txt", self.kept[person].encode())

    async def _erase(self, person: str) -> None:
        self.tried.append(person)
        if self.fails:
            raise OSError("the disk is full")
        self.kept.pop(person, None)

    async def _write(self, args: Any, caller: Caller) -> str:
        self.kept[str(caller.person)] = "dear diary"
        return "kept"

    @property
    def offer(self) -> Offer:
        name = f"{self.name}_write"
        tool = Tool(name, "Writes.", self._write, input_schema={}, floor=Tier.PUBLIC)
        return Offer(tools=[tool], personal=PersonalData(self._people, self._export, self._erase))

    @property
    def module(self) -> ModuleType:
        @asynccontextmanager
        async def opened(config: Any, host: Any) -> AsyncIterator[Offer]:
            yield self.offer

        module = ModuleType(self.name)
        declared = Plugin(self.name, "Keeps lines.", opened)
        module.porch_plugin = hookimpl(lambda: declared)  # type: ignore[attr-defined]
        return module


@pytest.fixture
def diary() -> Diary:
    return Diary()


async def written(portal: TestPortal, who: str, diary: Diary) -> str:
    person = await portal.sign_in(who)
    await portal.call(f"{diary.name}_write", tier=who)
    return person.id


async def deleted(portal: TestPortal, person: str) -> None:
    await portal.running.authentication.accounts.delete(person)


async def swept(portal: TestPortal) -> bool:
    gone = await forgotten_people(portal.running.services.shared_database)
    return await portal.running.erasures.sweep(gone)


async def until(true: Any) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - a poll with a deadline
            await asyncio.sleep(0.01)


async def test_who_deletes_the_account_is_erased_at_once_and_nobody_else(diary: Diary) -> None:
    async with open_test_portal(diary.module, tiers={"items": {"diary": "open"}}) as portal:
        ana, ben = [await written(portal, who, diary) for who in ("ana", "ben")]
        await deleted(portal, ana)
        portal.running.erasures.soon()
        await until(lambda: ana not in diary.kept)
        assert list(diary.kept) == [ben]


async def test_each_erasure_is_in_the_record_by_ids_alone(diary: Diary) -> None:
    async with open_test_portal(diary.module, tiers={"items": {"diary": "open"}}) as portal:
        ana = await written(portal, "ana", diary)
        await deleted(portal, ana)
        diary.fails = True
        assert not await swept(portal)
        assert not await swept(portal)
        diary.fails = False
        assert await swept(portal)
        assert await swept(portal)
        audit = portal.running.audit
        await until(lambda: not audit.waiting)
        found = [each for each in await audit.read({"person": ana}) if each.kind == "erasure"]
    assert [(each.item, each.surface, each.outcome) for each in found] == [
        ("diary", "portal", "ok"),
        ("diary", "portal", "failed"),  # once, however often it is tried
    ]


@pytest.mark.parametrize("how", ["fails", "cannot_say"])
async def test_a_plugin_that_fails_is_asked_again_and_the_admin_told(
    diary: Diary, how: str
) -> None:
    other = Diary("other")
    tiers = {"items": {"diary": "open", "other": "open"}}
    async with open_test_portal(diary.module, other.module, tiers=tiers) as portal:
        ana = await written(portal, "ana", diary)
        await portal.call("other_write", tier="ana")
        setattr(diary, how, True)
        await deleted(portal, ana)
        assert not await swept(portal)
        assert not other.kept
        (notice,) = [each for each in (await portal.health())["notices"] if "erased" in each]
        assert "the plugin diary" in notice
        assert "OSError" in notice
        assert ana not in notice
        setattr(diary, how, False)
        assert await swept(portal)
        assert not diary.kept
        assert not [each for each in (await portal.health())["notices"] if "erased" in each]


async def test_a_plugin_that_was_off_erases_when_it_is_on_again(
    diary: Diary, tmp_path: Path
) -> None:
    tiers = {"items": {"diary": "open"}}
    async with open_test_portal(diary.module, tiers=tiers, data_dir=tmp_path) as portal:
        ana = await written(portal, "ana", diary)
    off = {"plugins": {"diary": {"enabled": False}}}
    async with open_test_portal(diary.module, config=off, data_dir=tmp_path) as portal:
        await deleted(portal, ana)
        assert await swept(portal)
    assert list(diary.kept) == [ana]
    async with open_test_portal(diary.module, tiers=tiers, data_dir=tmp_path):
        await until(lambda: not diary.kept)


async def test_a_call_that_wrote_too_late_is_made_up_for(diary: Diary) -> None:
    async with open_test_portal(diary.module, tiers={"items": {"diary": "open"}}) as portal:
        ana = await written(portal, "ana", diary)
        await deleted(portal, ana)
        assert await swept(portal)
        diary.kept[ana] = "written by a call that was under way"
        assert await swept(portal)
        assert not diary.kept


async def test_who_is_unknown_but_was_never_deleted_keeps_all(diary: Diary) -> None:
    async with open_test_portal(diary.module, tiers={"items": {"diary": "open"}}) as portal:
        ana = await written(portal, "ana", diary)
        diary.kept |= {"person:restored-from-elsewhere": "x", "token:ci": "x", "local": "x"}
        await deleted(portal, ana)
        assert await swept(portal)
        assert sorted(diary.kept) == ["local", "person:restored-from-elsewhere", "token:ci"]


async def test_a_deletion_from_the_command_line_is_seen_by_itself(
    diary: Diary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasures, "POLL_SECONDS", 0.01)
    async with open_test_portal(diary.module, tiers={"items": {"diary": "open"}}) as portal:
        ana = await written(portal, "ana", diary)
        diary.fails = True
        await deleted(portal, ana)
        await until(lambda: len(diary.tried) > 2)
        diary.fails = False
        await until(lambda: not diary.kept)


@asynccontextmanager
async def erasing(diary: Diary) -> AsyncIterator[tuple[Erasures, Stores, OwnedDatabase]]:
    """The people and the plugin alone, without a portal around them."""
    with TemporaryDirectory() as directory:
        service = open_database("sqlite", Path(directory))
        database = service.for_owner("gateway")
        await database.migrate(MIGRATIONS)
        erasures = Erasures(database, {diary.name: diary.offer}, AuditLog(database))
        yield erasures, open_stores(database), database
        await service.close()


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("wdse")), max_size=14))
async def test_after_a_sweep_none_of_the_deleted_is_left_and_all_others_are(
    steps: list[tuple[str, str]],
) -> None:
    """Whoever writes, deletes their account, or meets a failing plugin, in any order."""
    diary = Diary()
    async with erasing(diary) as (erasures, stores, database):
        ids = {who: (await stores.people.signed_in(Account.of_key(who))).id for who in "abcd"}
        gone, wrote = set[str](), set[str]()
        for who, step in steps:
            if step == "d":
                await stores.people.delete(ids[who])
                gone.add(who)
            elif step == "w":  # also what a call still writes for somebody who is gone
                diary.kept[ids[who]] = "x"
                wrote.add(who)
            else:
                diary.fails = step == "e"
                await erasures.sweep(await forgotten_people(database))
        diary.fails = False
        assert await erasures.sweep(await forgotten_people(database))
        assert set(diary.kept) == {ids[who] for who in wrote - gone}
