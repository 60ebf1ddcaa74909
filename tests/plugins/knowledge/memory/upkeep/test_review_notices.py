"""Documents ask for a look: once for each cause, and over all replicas."""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.rights.access import is_addressed, notice_keys
from tests.migrated import Migrated
from tests.plugins.knowledge.memory.conftest import (
    ANA,
    BEN,
    CY,
    NOON,
    Clock,
    World,
    opened,
)
from tests.plugins.knowledge.memory.upkeep.conftest import rows, upkeep
from tests.plugins.knowledge.retrieval.conftest import document

pytestmark = pytest.mark.anyio
ADMIN = Caller("person:eve", Tier.MEMBERS, name="Eve", admin=True)
OVER = str((NOON - timedelta(days=30)).date())


async def asked(world: World, who: Caller) -> list[Any]:
    """What somebody was told of documents that ask for a look."""
    told = [each for each in await rows(world, "events") if each.kind == "review_asked"]
    held = notice_keys(who)
    return [each.body for each in told if is_addressed(frozenset(each.readers), held)]


async def overdue(world: World, ids: Collection[str], **fields: Any) -> None:
    """Put documents that hold no more."""
    said = {"author": ["Ana"], "valid_until": OVER, **fields}
    await world.base.put(*(document(f"practice/{each}", "Bread.", **said) for each in ids))


async def test_a_document_asks_its_author_once(world: World) -> None:
    await overdue(world, "ab")
    assert (await upkeep(world))["reviews_asked"] == 2
    assert "reviews_asked" not in await upkeep(world, days=2)
    assert await asked(world, ANA) == [{"documents": 2}]
    assert await asked(world, BEN) == []
    assert await asked(world, ADMIN) == [{"documents": 2}]


@pytest.mark.one_database
async def test_a_name_tells_only_of_what_its_bearer_may_read(world: World) -> None:
    await overdue(world, "ab", author=["Ben", "Cy"], tier=Tier.MEMBERS)
    await overdue(world, "c", author=["Ben", "Cy"])
    await world.base.put(
        document("practice/d", "Bread.", author=["Ben", "Cy"]),
        document("practice/e", "Cake.", contests=["practice/d"], tier=Tier.MEMBERS),
    )
    await upkeep(world)
    assert await asked(world, BEN) == [{"documents": 1}]
    assert sorted(each["documents"] for each in await asked(world, CY)) == [1, 3]
    assert await asked(world, ADMIN) == [{"documents": 5}]


@pytest.mark.one_database
async def test_without_an_author_admins_are_asked(world: World) -> None:
    await overdue(world, "a", author=None)
    await upkeep(world)
    assert await asked(world, ANA) == []
    assert await asked(world, ADMIN) == [{"documents": 1}]


@pytest.mark.one_database
async def test_after_the_next_look_it_asks_anew(world: World) -> None:
    await overdue(world, "a")
    await upkeep(world)
    await overdue(world, "a", date="2025-02-01")
    assert (await upkeep(world))["reviews_asked"] == 1
    assert await asked(world, ANA) == [{"documents": 1}, {"documents": 1}]


@pytest.mark.one_database
async def test_what_still_wants_a_look_after_two_years_asks_again(world: World) -> None:
    await overdue(world, "a")
    await upkeep(world)
    await upkeep(world, days=729)
    await overdue(world, "b")  # what is new is written down, and what is old goes
    assert (await upkeep(world, days=2))["reviews_asked"] == 1
    assert (await upkeep(world))["reviews_asked"] == 1


@pytest.fixture
def shared(knowledge_migrated: Migrated, postgres_url: str) -> str:
    return knowledge_migrated.on(postgres_url)


async def test_replicas_that_ask_at_once_ask_once(shared: str, tmp_path: Path) -> None:
    names = [f"d{each}" for each in range(30)]
    async with (
        opened(shared, tmp_path / "a", Clock()) as one,
        opened(shared, tmp_path / "b", Clock()) as other,
    ):
        for each in (one, other):
            await overdue(each, names)
        parts = [each.memory.upkeep.parts["reviews"] for each in (one, other) for _ in range(3)]
        counts = await asyncio.gather(*(part() for part in parts))
        assert sum(each["reviews_asked"] for each in counts) == len(names)
        assert sum(each["documents"] for each in await asked(one, ANA)) == len(names)
