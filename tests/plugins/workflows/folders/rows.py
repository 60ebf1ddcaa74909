"""Rows in the playbook's tables: the least that an item needs."""

from __future__ import annotations

from sqlalchemy import insert

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.ids import new_id
from plugins.workflows.inputs import Writer
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.store.kinds import TABLES
from tests.plugins.workflows.conftest import NOON

ANA = Writer("person:ana", "Ana", may_publish=True)
BEN = Writer("person:ben", "Ben", may_publish=True)
PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE
WORKFLOW, SKILL, PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT


async def item(
    database: OwnedDatabase,
    type: TargetType,
    owner: str,
    visibility: Visibility = PRIVATE,
    name: str = "An item",
    **more: object,
) -> str:
    """Write an item, with the least that it needs; its id."""
    id = new_id()
    row = {
        "id": id,
        "key": id,
        "owner": owner,
        "author": owner,
        "name": name,
        "visibility": visibility,
        "version": 1,
        "created": NOON,
        "updated": NOON,
    }
    own: dict[str, object] = {"content": "Do it."}
    if type is WORKFLOW:
        own = {"complexity": "M", "include_multi_agent_chat": False, "extra": {}}
    if type is PROMPT:
        own["stand_alone"] = True
    async with database.begin() as connection:
        await connection.execute(insert(TABLES[type]).values(**row, **own, **more))
    return id


async def change(database: OwnedDatabase, type: TargetType, id: str, **values: object) -> None:
    """Change a row, as its owner's edit would."""
    table = TABLES[type]
    async with database.begin() as connection:
        await connection.execute(table.update().where(table.c.id == id).values(**values))
