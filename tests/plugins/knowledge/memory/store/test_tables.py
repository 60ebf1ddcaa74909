from typing import Any

import pytest

from plugins.knowledge.memory.store.tables import metadata
from tests.migrated import differences
from tests.plugins.knowledge.memory.conftest import World

pytestmark = pytest.mark.anyio


async def test_the_migrations_make_the_declared_tables(world: World) -> None:
    database: Any = world.host.database
    found = await differences(database, metadata)
    assert [each for each in found if "memory" in str(each)] == []
