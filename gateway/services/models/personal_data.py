"""What the table of usage keeps of people: theirs to have, and anonymous once they are gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

from gateway.contract.personal_data import PersonalData, PersonalFile
from gateway.contract.services import Database

__all__ = ["personal_data"]

_ROWS_A_FILE = 5000


def personal_data(database: Database) -> PersonalData:
    """How the calls of models answer for what they keep of people.

    The calls of somebody who has gone stay, since their cost is the community's; whose they were
    does not.

    Args:
        database: the gateway's share.
    """

    async def people() -> Collection[str]:
        from sqlalchemy import select

        from gateway.services.models.table import model_calls

        known = select(model_calls.c.person).where(model_calls.c.person.is_not(None)).distinct()
        async with database.read() as connection:
            return [each for (each,) in await connection.execute(known)]

    async def export(person: str) -> AsyncIterator[PersonalFile]:
        from pydantic_core import to_json
        from sqlalchemy import select

        from gateway.services.models.table import model_calls

        columns = [each for each in model_calls.c if each.name not in ("person", "ends_by")]
        mine = select(*columns).where(model_calls.c.person == person)
        async with database.read() as connection:
            found = await connection.execute(mine.order_by(model_calls.c.at, model_calls.c.id))
            rows = [dict(each) for each in found.mappings()]
        for number, first in enumerate(range(0, len(rows), _ROWS_A_FILE), start=1):
            some = rows[first : first + _ROWS_A_FILE]
            yield PersonalFile(f"calls-{number}.json", to_json(some, indent=2))

    async def erase(person: str) -> None:
        from gateway.services.models.table import model_calls

        mine = model_calls.update().where(model_calls.c.person == person)
        async with database.begin() as connection:
            await connection.execute(mine.values(person=None))

    return PersonalData(people, export, erase)
