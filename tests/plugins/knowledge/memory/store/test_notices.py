"""Notices lie among the events, for those alone who may hear of them."""

import pytest
import sqlalchemy as sa

from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.store.tables import events
from plugins.knowledge.memory.store.writes import Event
from tests.plugins.knowledge.memory.conftest import ANA, World

pytestmark = pytest.mark.anyio
OWN = [person_key("person:ana")]


async def test_a_notice_stands_in_the_order_of_events_with_its_readers(world: World) -> None:
    told: list[Event] = []
    notices = Notices(world.host.database, world.clock, told.extend)
    entry = await world.remember(ANA, "First.")
    await notices.add(OWN, "batch_completed", {"operation_id": "batch_1"})
    await world.remember(ANA, "Third.")
    async with world.host.database.read() as connection:
        rows = (await connection.execute(sa.select(events).order_by(events.c.number))).all()
    assert [row.kind for row in rows] == ["created", "batch_completed", "created"]
    notice = rows[1]
    assert (notice.readers, notice.body) == (OWN, {"operation_id": "batch_1"})
    assert [(each.number, each.record) for each in told] == [(notice.number, None)]
    assert notice.entry != entry.id


async def test_what_nobody_may_hear_is_not_written(world: World) -> None:
    told: list[Event] = []
    notices = Notices(world.host.database, world.clock, told.extend)
    await notices.add([], "approval_requested", {"request_id": "appr_1"})
    async with world.host.database.read() as connection:
        assert await connection.scalar(sa.select(sa.func.count()).select_from(events)) == 0
    assert told == []
