"""The table of usage under crashes, replicas and clocks: no call lost, none doubled."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError

from gateway.services.database.service import OwnedDatabase
from gateway.services.models.ledger import Ledger
from gateway.services.models.records import CallEnd, CallStart, Tokens
from tests.examples import examples
from tests.gateway.services.models.conftest import rows
from tests.migrated import Migrated

NOW = datetime.now(UTC)


def call(id: str, ends_by: datetime | None = None) -> CallStart:
    ends_by = ends_by or datetime.now(UTC) + timedelta(minutes=5)  # a long run is over NOW
    return CallStart(
        id, NOW, ends_by, "person:anna", "notes", None, "judge", "simple", "local", "m"
    )


END = CallEnd("ok", 12, "m-1", Tokens(10, 2), 300, "portal.yaml", NOW.date())


async def test_a_row_is_there_before_the_request_and_complete_after_it(
    database: OwnedDatabase,
) -> None:
    ledger = Ledger(database)
    await ledger.begin(call("a"))
    [row] = await rows(database)
    assert (row["outcome"], row["tokens_in"], row["cost_nano_usd"]) == ("started", None, None)
    await ledger.finish(call("a"), END)
    [row] = await rows(database)
    assert (row["outcome"], row["tokens_in"], row["cost_nano_usd"]) == ("ok", 10, 300)
    assert (row["at"], row["price_date"]) == (NOW, NOW.date())


async def test_what_is_complete_is_not_written_again(database: OwnedDatabase) -> None:
    ledger = Ledger(database)
    await ledger.begin(call("a"))
    await ledger.finish(call("a"), END)
    before = await rows(database)
    await ledger.finish(call("a"), CallEnd("cancelled", 1))
    await ledger.sweep()
    assert await rows(database) == before


async def test_what_a_dead_process_left_is_unknown_once_it_should_have_ended(
    database: OwnedDatabase,
) -> None:
    ledger = Ledger(database)
    await ledger.begin(call("dead", NOW - timedelta(seconds=1)))
    await ledger.begin(call("alive"))
    assert await ledger.sweep() == 1
    assert await ledger.sweep() == 0
    found = {row["id"]: row["outcome"] for row in await rows(database)}
    assert found == {"dead": "unknown", "alive": "started"}
    await ledger.finish(call("dead"), END)  # its machine has slept
    found = {row["id"]: row["outcome"] for row in await rows(database)}
    assert found == {"dead": "ok", "alive": "started"}


class Flaky:
    """A database that is away for so many transactions."""

    def __init__(self, database: OwnedDatabase, away: int) -> None:
        self._database, self.away = database, away
        self.engine, self.read, self.migrate = database.engine, database.read, database.migrate

    def begin(self) -> Any:
        if self.away:
            self.away -= 1
            raise OperationalError("UPDATE", {}, ConnectionRefusedError("away"))
        return self._database.begin()


@pytest.mark.one_database
async def test_where_the_database_is_away_the_answer_is_kept_and_written_later(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    flaky = Flaky(database, 0)
    ledger = Ledger(flaky)
    await ledger.begin(call("a"))
    flaky.away = 2
    monkeypatch.setattr("gateway.services.models.ledger.FIRST_RETRY_SECONDS", 0.001)
    await ledger.finish(call("a"), END)
    assert "1 calls" in next(ledger.notices())
    await asyncio.gather(*ledger._late)
    assert [row["outcome"] for row in await rows(database)] == ["ok"]
    assert not list(ledger.notices())


STEPS = st.lists(
    st.tuples(st.sampled_from(["begin", "finish", "sweep", "die"]), st.integers(0, 3)), max_size=30
)


@pytest.mark.one_database
@settings(max_examples=examples(60))
@given(STEPS)
def test_in_every_history_the_sums_are_those_of_what_was_billed(
    migrated: Migrated, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """Two replicas begin, finish, sweep and die; what was begun has a row, and one only."""
    from gateway.services.database.service import open_database

    folder = tmp_path_factory.mktemp("history")
    (folder / "porch.db").write_bytes(migrated.file.read_bytes())

    async def history() -> None:
        service = open_database("sqlite", folder)
        database = service.for_owner("gateway")
        replicas = [Ledger(database), Ledger(database)]
        running: dict[str, int] = {}
        begun, billed, lost = set[str](), 0, set[str]()
        for step, number in steps:
            ledger = replicas[number % 2]
            if step == "begin":
                id = f"call-{len(begun)}"
                await ledger.begin(call(id, NOW - timedelta(seconds=number)))
                begun.add(id)
                running[id] = number % 2
            elif step == "finish" and running:
                id = sorted(running)[number % len(running)]
                del running[id]
                await ledger.finish(call(id), END)
                billed += 12
            elif step == "die":
                gone = {id for id, owner in running.items() if owner == number % 2}
                lost |= gone
                running = {id: owner for id, owner in running.items() if id not in gone}
            else:
                await ledger.sweep()
        await replicas[0].sweep()
        found = await rows(database)
        await service.close()
        assert {row["id"] for row in found} == begun
        assert len(found) == len(begun)
        assert sum((row["tokens_in"] or 0) + (row["tokens_out"] or 0) for row in found) == billed
        unknown = {row["id"] for row in found if row["outcome"] == "unknown"}
        assert unknown == lost | set(running)

    asyncio.run(history())
