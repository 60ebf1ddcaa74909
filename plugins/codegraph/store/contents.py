"""The texts of files as they were indexed, stored once per digest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import among, is_postgres
from plugins.codegraph.store.compression import Content, inflated
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.tables import texts


async def keep(connection: AsyncConnection, owner: Owner, found: Sequence[Content]) -> None:
    """Store texts; existing ones stay as they are.

    Args:
        connection: a transaction.
        owner: their owner.
        found: the texts.
    """
    wanted = {each.digest: each.text for each in found if each.text}
    there = await known(connection, owner, wanted)
    # In a fixed order, so that two transactions never deadlock.
    rows = [(owner.repo, key, owner.org, wanted[key]) for key in sorted(wanted.keys() - there)]
    if rows:
        marks = "$1, $2, $3, $4" if is_postgres(connection) else "?, ?, ?, ?"
        await connection.exec_driver_sql(
            f"INSERT INTO {texts.name} (repo, digest, org, data) VALUES ({marks}) "  # noqa: S608
            "ON CONFLICT (repo, digest) DO NOTHING",
            rows,
        )


async def known(connection: AsyncConnection, owner: Owner, digests: Collection[str]) -> set[str]:
    """Those of the digests whose texts are stored."""
    mine = *_mine(owner), among(texts.c.digest, digests)
    return set(await connection.scalars(select(texts.c.digest).where(*mine)))


async def texts_of(
    connection: AsyncConnection, owner: Owner, digests: Collection[str]
) -> dict[str, bytes]:
    """Texts by digest, deflated; missing ones are left out."""
    query = select(texts.c.digest, texts.c.data).where(
        *_mine(owner), among(texts.c.digest, digests)
    )
    return {row[0]: row[1] for row in await connection.execute(query)}


async def text_of(connection: AsyncConnection, owner: Owner, digest: str) -> bytes | None:
    """A text by its digest, inflated, or None."""
    query = select(texts.c.data).where(*_mine(owner), texts.c.digest == digest)
    found = await connection.scalar(query)
    return None if found is None else inflated(found)


def _mine(owner: Owner) -> tuple[Any, ...]:
    return texts.c.repo == owner.repo, texts.c.org == owner.org
