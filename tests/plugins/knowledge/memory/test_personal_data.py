import json

import pytest
import sqlalchemy as sa

from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.store.tables import metadata
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, World

pytestmark = pytest.mark.anyio


async def exported(world: World, person: str) -> dict[str, dict[str, object]]:
    return {
        str(told["entry"]["content"]): told
        async for file in world.memory.personal_data.export(person)
        for told in [json.loads(file.data)]
    }


async def test_people_get_all_that_is_remembered_of_them_with_its_versions(world: World) -> None:
    entry = await world.remember(ANA, "One.")
    await world.change(ANA, entry.id, "Two.")
    await world.remember(ANA, "Scratch.", layer="working")
    await world.remember(BEN, "Ben's.")
    told = await exported(world, "person:ana")
    assert set(told) == {"Two.", "Scratch."}
    versions = told["Two."]["versions"]
    assert isinstance(versions, list)
    assert [each["fields"]["content"] for each in versions] == ["One.", "Two."]
    assert set(await world.memory.personal_data.people()) == {"person:ana", "person:ben"}


async def test_what_was_for_everybody_stays_without_whose_it_was(world: World) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    mine = await world.remember(ANA, "My key is under the mat.", shared)
    await world.remember(ANA, "Compost on Mondays.", "organization", "organization")
    await world.memory.personal_data.erase("person:ana")
    assert await world.found(CY, "compost") == ["Compost on Mondays."]
    assert await world.found(CY, "compost", mode="semantic") == ["Compost on Mondays."]
    assert await world.found(BEN, "key under the mat") == []
    with pytest.raises(MemoryFailed):
        await world.memory.reader.entry(mine.id, ANA)
    assert await exported(world, "person:ana") == {}
    assert await world.memory.personal_data.people() == set()


async def test_no_table_but_the_audit_log_names_who_has_left(world: World) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    entry = await world.remember(BEN, "Of Ben.", shared)
    await world.change(ANA, entry.id, "Of Ben and another.")
    await world.remember(ANA, "For all.", "public", "organization")
    await world.remember(ANA, "Mine.", layer="session")
    await world.memory.personal_data.erase("person:ana")
    named = []
    async with world.host.database.read() as connection:
        for table in metadata.sorted_tables:
            rows = [str(row) for row in await connection.execute(sa.select(table))]
            named += [table.name for row in rows if "person:ana" in row]
    assert set(named) == {"memory_audit"}
