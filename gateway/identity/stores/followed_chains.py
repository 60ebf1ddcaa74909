"""How far each chain's logs were read, and whose wallets they may concern."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import select, update

from auth.chain.follower import FollowerPosition
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import accounts, followed
from gateway.toolkit.sql import insert_into

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}$")


class SqlFollowed:
    """``auth.chain.follower.FollowerStore`` in the database."""

    def __init__(self, database: Reached) -> None:
        self._database = database

    async def place(self, chain: int) -> FollowerPosition:
        """How far a chain was followed."""
        query = select(followed).where(followed.c.chain == chain)
        async with self._database.connect() as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            return FollowerPosition()
        logs = {each: (block, tuple(tags)) for each, (block, tags) in row.logs.items()}
        return FollowerPosition(row.turn, row.holder, row.block, logs, row.heard)

    async def move(self, chain: int, place: FollowerPosition) -> bool:
        """Keep a place, if the one that is kept is of the turn before; whether it was."""
        values = {
            "turn": place.turn,
            "holder": place.holder,
            "block": place.block,
            "logs": dict(place.logs),
            "heard": place.heard,
        }
        async with self._database.begin() as connection:
            if place.turn > 1:
                before = followed.c.turn == place.turn - 1
                change = update(followed).where(followed.c.chain == chain, before).values(values)
                return (await connection.execute(change)).rowcount == 1
            first = insert_into(connection, followed).values(chain=chain, **values)
            made = first.on_conflict_do_nothing().returning(followed.c.chain)
            return (await connection.execute(made)).first() is not None

    async def wallets(self) -> Sequence[str]:
        """The addresses of everyone who is known, each once."""
        query = select(accounts.c.subject).where(accounts.c.provider == "wallet")
        async with self._database.connect() as connection:
            found = [_ADDRESS.search(subject) for subject in await connection.scalars(query)]
        return sorted({match[0] for match in found if match})
