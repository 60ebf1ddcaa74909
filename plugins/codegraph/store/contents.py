"""What depends on a file's bytes alone: its facts and its text, kept once by digest."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.codegraph.store.dialects import among, is_postgres
from plugins.codegraph.store.owners import Owner
from plugins.codegraph.tables import facts, texts

_FACTS = ("repo", "digest", "language", "org", "version", "data")
_TEXTS = ("repo", "digest", "org", "data")
LEVEL = 1
"""Of deflating: the fastest, which leaves a third."""


class Content(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file's facts and text.

    Attributes:
        digest: of its bytes.
        language: the module that read it, with the ending of its name.
        version: of the facts' form.
        facts: as MessagePack, deflated.
        text: its bytes, deflated; b"" where they are not kept.
    """

    digest: str
    language: str
    version: int
    facts: bytes
    text: bytes


def deflated(data: bytes) -> bytes:
    """Bytes as they are kept."""
    return zlib.compress(data, LEVEL)


def inflated(data: bytes) -> bytes:
    """Bytes as they were."""
    return zlib.decompress(data)


async def keep(connection: AsyncConnection, owner: Owner, found: Sequence[Content]) -> None:
    """Keep some contents; what is there already stays.

    Args:
        connection: a transaction.
        owner: whose they are.
        found: the contents.
    """
    said = [
        (owner.repo, each.digest, each.language, owner.org, each.version, each.facts)
        for each in found
        if each.facts
    ]
    written = [(owner.repo, each.digest, owner.org, each.text) for each in found if each.text]
    await _upsert(connection, facts, _FACTS, 3, said)
    await _upsert(connection, texts, _TEXTS, 2, written)


async def known(
    connection: AsyncConnection, owner: Owner, version: int, digests: Collection[str]
) -> set[tuple[str, str]]:
    """Digest and language of the facts that are kept already, of this version."""
    query = select(facts.c.digest, facts.c.language).where(
        *_mine(facts, owner), facts.c.version == version, among(connection, facts.c.digest, digests)
    )
    return {(row[0], row[1]) for row in await connection.execute(query)}


async def facts_of(
    connection: AsyncConnection, owner: Owner, version: int, digests: Collection[str]
) -> dict[tuple[str, str], bytes]:
    """The facts of some digests, deflated, by digest and language."""
    query = select(facts.c.digest, facts.c.language, facts.c.data).where(
        *_mine(facts, owner), facts.c.version == version, among(connection, facts.c.digest, digests)
    )
    return {(row[0], row[1]): row[2] for row in await connection.execute(query)}


async def text_of(connection: AsyncConnection, owner: Owner, digest: str) -> bytes | None:
    """A text by its digest, or None."""
    query = select(texts.c.data).where(*_mine(texts, owner), texts.c.digest == digest)
    found = await connection.scalar(query)
    return None if found is None else inflated(found)


def _mine(table: Table, owner: Owner) -> tuple[Any, ...]:
    return table.c.repo == owner.repo, table.c.org == owner.org


async def _upsert(
    connection: AsyncConnection,
    table: Table,
    columns: Sequence[str],
    key: int,
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Insert rows, or write over those of the same key: the first so many of the columns."""
    if not rows:
        return
    postgres = is_postgres(connection)
    marks = ", ".join(f"${n}" if postgres else "?" for n in range(1, len(columns) + 1))
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns[key:])
    await connection.exec_driver_sql(
        f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608
        f"ON CONFLICT ({', '.join(columns[:key])}) DO UPDATE SET {updates}",
        # In one order, so that two transactions never wait for each other.
        sorted({row[:key]: row for row in rows}.values(), key=lambda row: row[:key]),
    )
