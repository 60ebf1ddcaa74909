"""What was kept before versions had readers of their own is opened to nobody by the migration."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from gateway.services.database.service import open_database
from plugins.knowledge.knowledge import MIGRATIONS
from plugins.knowledge.memory.model.policy import ANYONE_KEY, person_key
from plugins.knowledge.memory.store.reads import Reads
from tests.conftest import new_database

pytestmark = pytest.mark.anyio
AT = datetime(2026, 3, 1, tzinfo=UTC).replace(tzinfo=None)
OWNER, DEE = person_key("person:ana"), frozenset({ANYONE_KEY})
ENTRY = {
    "owner": "person:ana",
    "content": "x",
    "metadata": "{}",
    "source": "{}",
    "fingerprint": "f",
    "versioned": True,
    "embedded": False,
    "created": AT,
    "placed": AT,
    "uses": 0,
    "used": AT,
}


@pytest.fixture(params=["sqlite", "postgresql"])
async def before(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Any]:
    """A database with the tables of the release before."""
    versions = tmp_path / "before" / "versions"
    versions.mkdir(parents=True)
    for each in (MIGRATIONS / "versions").glob("000[1-5]_*.py"):
        shutil.copy(each, versions)
    for each in MIGRATIONS.glob("*.*"):
        shutil.copy(each, versions.parent)
    async with AsyncExitStack() as stack:
        url = "sqlite"
        if request.param == "postgresql":
            server = request.getfixturevalue("postgres_url")
            url = await stack.enter_async_context(new_database(server))
        service = open_database(url, tmp_path)
        stack.push_async_callback(service.close)
        database = service.for_owner("knowledge")
        await database.migrate(versions.parent)
        yield database


async def kept(database: Any, id: str, layer: str, *policies: tuple[str, str], **more: str) -> None:
    """An entry as it was kept: by whom each version was written, and under which policy."""
    access = [json.dumps({"policy": policy}) for _, policy in policies]
    row = {**ENTRY, "id": id, "layer": layer, "access": access[-1], "version": len(policies)}
    row |= more
    said = {"entry": id, "at": AT}
    past = [
        {**said, "version": n, "by": by, "fields": json.dumps({"access": {"policy": policy}})}
        for n, (by, policy) in enumerate(policies, 1)
    ]
    async with database.begin() as connection:
        found = sa.MetaData()
        tables = ["memory_entries", "memory_versions"]
        await connection.run_sync(lambda sync: found.reflect(sync, only=tables))
        await connection.execute(sa.insert(found.tables["memory_entries"]), [row])
        await connection.execute(sa.insert(found.tables["memory_versions"]), past)


async def test_a_version_is_for_those_whom_its_own_policy_named(before: Any) -> None:
    await kept(before, "opened", "semantic", ("person:ana", "private"), ("person:ana", "public"))
    await kept(before, "here", "session", ("person:ana", "public"), ("person:ana", "public"))
    moved = [("person:ana", "public"), ("upkeep", "private"), ("person:ana", "public")]
    await kept(before, "moved", "episodic", *moved)
    await before.migrate(MIGRATIONS)
    reads = Reads(before, lambda: datetime.now(UTC))
    for id, theirs in (("opened", [2]), ("here", []), ("moved", [3])):
        every = await reads.versions(id, frozenset({OWNER}))
        assert len(every) == max(each.number for each in every) > 1
        assert [each.number for each in await reads.versions(id, DEE)] == theirs


async def test_what_happened_and_the_rules_are_to_be_found_by_meaning_from_now_on(
    before: Any,
) -> None:
    for layer in ("session", "episodic", "procedural"):
        await kept(before, layer, layer, ("person:ana", "private"))
    await before.migrate(MIGRATIONS)
    async with before.read() as connection:
        named = sa.text("SELECT id FROM memory_entries WHERE embedded ORDER BY id")
        assert [row.id for row in await connection.execute(named)] == ["episodic", "procedural"]


async def test_facts_know_the_turn_that_they_were_found_in_where_it_is_their_owners(
    before: Any,
) -> None:
    own, other = ("person:ana", "private"), ("person:ben", "private")
    await kept(before, "turn", "episodic", own)
    await kept(before, "theirs", "episodic", other, owner="person:ben")
    for turn in ("turn", "theirs", "gone"):
        metadata = json.dumps({"custom": {"from": turn}}, separators=(",", ":"))
        await kept(before, f"of-{turn}", "semantic", own, metadata=metadata)
    await before.migrate(MIGRATIONS)
    async with before.read() as connection:
        rows = sa.text("SELECT id, number, taken_from FROM memory_entries")
        said = {row.id: row for row in await connection.execute(rows)}
    assert said["of-turn"].taken_from == said["turn"].number
    assert said["of-theirs"].taken_from is said["of-gone"].taken_from is None
