"""How often skills are read: counted in numbers alone, on both databases, by several processes."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ANONYMOUS, Caller, Database, Tier
from gateway.services.database.service import OwnedDatabase, open_database
from plugins.skills_repo.uses import DAYS, MIGRATIONS, UseLog
from tests.examples import examples
from tests.migrated import Migrated

DAY = date(2026, 11, 27)
ROW = "skill:house/prune"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    with Migrated("skills_repo", MIGRATIONS, tmp_path_factory.mktemp("migrated")) as made:
        yield made


@pytest.fixture(scope="module")
def file(migrated: Migrated) -> Path:
    """SQLite's database, migrated and empty, for copies."""
    return migrated.file


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, migrated: Migrated, tmp_path: Path) -> str:
    if request.param == "sqlite":
        shutil.copy(migrated.file, tmp_path)
        return "sqlite"
    return migrated.on(request.getfixturevalue("postgres_url"))


@asynccontextmanager
async def opened(address: str, folder: Path) -> AsyncGenerator[Database]:
    service = open_database(address, folder)
    try:
        yield OwnedDatabase(service, "skills_repo")
    finally:
        await service.close()


def member(name: str) -> Caller:
    return Caller(name, Tier.MEMBERS)


async def test_every_use_counts_and_each_person_once_a_day(address: str, tmp_path: Path) -> None:
    async with opened(address, tmp_path) as database:
        uses = UseLog(database, lambda: DAY)
        for caller in (member("ann"), member("ann"), member("ben"), ANONYMOUS):
            uses.count(ROW, caller)
        uses.count("skill:house/other", member("cid"))
        for _ in range(2):  # before it is written, and after
            found = await uses.of(ROW)
            assert (found.days, found.times, found.people) == (DAYS, 4, 2)
            await uses.flush()


async def test_processes_add_to_the_same_numbers_and_old_days_go(
    address: str, tmp_path: Path
) -> None:
    day = DAY
    async with opened(address, tmp_path) as database:
        first, second = UseLog(database, lambda: day), UseLog(database, lambda: day)
        first.count(ROW, member("ann"))
        second.count(ROW, member("ben"))
        await first.flush()
        await second.flush()
        assert (await first.of(ROW)).times == 2
        day = DAY + timedelta(days=DAYS - 1)
        assert (await first.of(ROW)).times == 2
        day = DAY + timedelta(days=DAYS)
        first.count(ROW, member("ann"))
        assert (await first.of(ROW)).times == 1
        day += timedelta(days=1)
        second.count(ROW, ANONYMOUS)
        await first.flush()
        await second.flush()
        async with database.read() as connection:
            kept = (await connection.execute(sa.text("SELECT day FROM skills_repo_uses"))).all()
        assert len(kept) == 2


async def test_what_another_process_counted_is_told_after_the_next_write(
    address: str, tmp_path: Path
) -> None:
    async with opened(address, tmp_path) as database:
        first, second = UseLog(database, lambda: DAY), UseLog(database, lambda: DAY)
        assert (await first.of(ROW)).times == 0
        second.count(ROW, ANONYMOUS)
        await second.flush()
        await first.flush()
        assert (await first.of(ROW)).times == 1


async def test_nothing_that_is_kept_tells_who_it_was(tmp_path: Path, file: Path) -> None:
    shutil.copy(file, tmp_path)
    async with opened("sqlite", tmp_path) as database:
        uses = UseLog(database, lambda: DAY)
        uses.count(ROW, Caller("person-ann", Tier.MEMBERS, name="Ann Other"))
        await uses.flush()
        async with database.read() as connection:
            kept = (await connection.execute(sa.text("SELECT * FROM skills_repo_uses"))).all()
        assert [tuple(map(str, row)) for row in kept] == [("2026-11-27", ROW, "1", "1")]


async def test_what_cannot_be_written_waits(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as database:  # its tables are not there yet
        uses = UseLog(database, lambda: DAY)
        uses.count(ROW, member("ann"))
        with pytest.raises(sa.exc.SQLAlchemyError):
            await uses.flush()
        await database.migrate(MIGRATIONS)
        await uses.flush()
        assert (await uses.of(ROW)).times == 1


async def test_what_is_written_when_the_writer_is_cancelled_is_not_written_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(file, tmp_path)
    async with opened("sqlite", tmp_path) as database:
        uses, written, go_on = UseLog(database, lambda: DAY), asyncio.Event(), asyncio.Event()
        write = uses._write

        async def slowly(waiting: Any) -> None:
            await write(waiting)
            written.set()
            await go_on.wait()

        monkeypatch.setattr(uses, "_write", slowly)
        uses.count(ROW, member("ann"))
        flushing = asyncio.create_task(uses.flush())
        await written.wait()
        flushing.cancel()
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.wait({flushing})
        await uses.flush()
        assert (flushing.cancelled(), (await uses.of(ROW)).times) == (True, 1)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("use"), st.sampled_from(["", "ann", "ben", "cid"])),
        st.tuples(st.sampled_from(["ask", "flush", "night"]), st.just("")),
    ),
    max_size=20,
)


@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(events=EVENTS)
async def test_the_numbers_are_those_of_what_happened(
    tmp_path_factory: pytest.TempPathFactory, file: Path, events: list[tuple[str, str]]
) -> None:
    folder, day = tmp_path_factory.mktemp("uses"), DAY
    shutil.copy(file, folder)
    times, people = 0, Counter[tuple[date, str]]()
    async with opened("sqlite", folder) as database:
        uses = UseLog(database, lambda: day)
        for kind, name in events:
            if kind == "use":
                uses.count(ROW, member(name) if name else ANONYMOUS)
                times += 1
                people.update([(day, name)] if name else [])
            elif kind == "ask":
                assert (await uses.of(ROW)).times == times
            elif kind == "flush":
                await uses.flush()
            else:
                day += timedelta(days=1)
        found = await uses.of(ROW)
    most = Counter(each for each, _ in people)
    assert found.times == times
    assert found.people == max(most.values(), default=0)
