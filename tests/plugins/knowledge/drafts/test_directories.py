"""Drafts in a directory, on each database."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from gateway.contract import ToolFailed
from plugins.knowledge.drafts import drafts as module
from plugins.knowledge.drafts.personal_data import personal_data
from plugins.knowledge.drafts.tables import metadata
from plugins.knowledge.sync.sources import DirectorySource
from tests.migrated import differences
from tests.plugins.knowledge.drafts.bench import ANA, BO, Bench, page

PATH = "artifacts/patterns/water-rights.md"


@pytest.fixture(autouse=True)
def asks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer of a source is told twice."""
    monkeypatch.setattr(module, "FRESH", timedelta(seconds=-1))


async def test_the_migrations_make_the_declared_table(bench: Bench) -> None:
    database: Any = bench.host.database
    found = await differences(database, metadata)
    assert [each for each in found if "knowledge_drafts" in str(each)] == []


async def test_a_draft_lies_in_its_folder_until_somebody_moves_it(bench: Bench) -> None:
    made = (await bench.drafts.create(page(), ANA)).draft
    (name,) = bench.files()
    assert name == f"water-rights-{made.id.removeprefix('d_')}/{PATH}"
    assert made.status == "open"
    assert made.url == f"drafts/{name}"
    source = bench.drafts._preparing._places[0].source
    assert isinstance(source, DirectorySource)
    assert source.scan().files == {}
    target = bench.notes / PATH
    target.parent.mkdir(parents=True)
    (bench.notes / "drafts" / name).rename(target)
    assert list(source.scan().files) == [PATH]
    (listed,) = (await bench.drafts.listed(ANA)).drafts
    assert listed.status == "merged"


async def test_a_draft_whose_file_somebody_deletes_is_closed(bench: Bench) -> None:
    await bench.drafts.create(page(), ANA)
    (name,) = bench.files()
    (bench.notes / "drafts" / name).unlink()
    (listed,) = (await bench.drafts.listed(ANA)).drafts
    assert listed.status == "closed"


async def test_withdrawn_its_file_and_folders_are_gone(bench: Bench) -> None:
    made = (await bench.drafts.create(page(), ANA)).draft
    gone = (await bench.drafts.withdraw(made.id, ANA)).draft
    assert gone.status == "withdrawn"
    assert list((bench.notes / "drafts").iterdir()) == []


async def test_what_somebody_else_wrote_into_it_is_neither_replaced_nor_removed(
    bench: Bench,
) -> None:
    made = (await bench.drafts.create(page(), ANA)).draft
    (name,) = bench.files()
    (bench.notes / "drafts" / name).write_text("theirs")
    for step in (
        bench.drafts.create(page(body="Mine.", draft=made.id), ANA),
        bench.drafts.withdraw(made.id, ANA),
    ):
        with pytest.raises(ToolFailed) as failed:
            await step
        assert failed.value.code == "changed_meanwhile"
        assert bench.files() == {name: "theirs"}
    (listed,) = (await bench.drafts.listed(ANA)).drafts
    assert listed.status == "open"


async def test_two_people_draft_the_same_page_beside_each_other(bench: Bench) -> None:
    for who in (ANA, BO):
        await bench.drafts.create(page(body=f"By {who.name}."), who)
    assert len(bench.files()) == 2
    assert len((await bench.drafts.listed(ANA)).drafts) == 2


async def test_two_replicas_at_once_make_one_draft(bench: Bench) -> None:
    calls = [bench.replicas[number % 2].create(page(), ANA) for number in range(6)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    ids = {each.draft.id for each in answers if not isinstance(each, BaseException)}
    assert len(ids) == 1
    refused = [each for each in answers if isinstance(each, BaseException)]
    assert all(isinstance(each, ToolFailed) for each in refused), refused
    assert len(bench.files()) == 1
    assert len(await bench.store.of("person:ana")) == 1


async def test_what_is_kept_of_somebody_is_exported_and_erased(bench: Bench) -> None:
    await bench.drafts.create(page(), ANA)
    await bench.drafts.preview(page("Wells"), BO)
    data = personal_data(bench.store, None)
    assert set(await data.people()) == {"person:ana", "person:bo"}
    files = [each async for each in data.export("person:ana")]
    assert [json.loads(each.data)["title"] for each in files] == ["Water rights"]
    await data.erase("person:ana")
    assert set(await data.people()) == {"person:bo"}
    assert [each async for each in data.export("person:ana")] == []


async def test_what_is_old_is_forgotten_and_what_waits_is_not(bench: Bench) -> None:
    waits = (await bench.drafts.create(page(), ANA)).draft
    await bench.drafts.preview(page("Wells"), ANA)
    ended = (await bench.drafts.create(page("Mills"), ANA)).draft
    await bench.drafts.withdraw(ended.id, ANA)
    bench.clock.time += timedelta(days=100)
    await bench.store.forget()
    assert [each.id for each in await bench.store.of("person:ana")] == [waits.id]


async def test_nobody_has_more_drafts_than_there_is_room_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.knowledge.drafts.store.MAX_LIVE", 2)
    for title in ("One", "Two"):
        await bench.drafts.preview(page(title), ANA)
    with pytest.raises(ToolFailed) as failed:
        await bench.drafts.preview(page("Three"), ANA)
    assert failed.value.code == "too_many_drafts"
    await bench.drafts.preview(page("Three"), BO)
