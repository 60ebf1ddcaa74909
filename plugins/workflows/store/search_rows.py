"""The rows that search reads and completes; imported late, for SQLAlchemy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from gateway.contract import Database
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.store import tables
from plugins.workflows.store.sequence import next_value


class StoredText(NamedTuple):
    """What is stored for search of one item; ``vector`` is None where it is by another model."""

    id: str
    stamp: int
    gone: bool
    public: bool
    text: str
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class SearchRows:
    """What is stored for search of all items of one kind."""

    database: Database
    type: TargetType

    async def changed(self, after: int) -> Sequence[tuple[str, int]]:
        """The ids and stamps of the rows written after a stamp, in that order.

        Stamps are given out in the order of the commits, and a transaction's rows are there
        together, so nothing that comes later has a stamp that was read.
        """
        _, texts, of = self._tables()
        chosen = sa.select(of, texts.c.stamp).where(texts.c.stamp > after).order_by(texts.c.stamp)
        async with self.database.read() as connection:
            return [(row[0], row[1]) for row in await connection.execute(chosen)]

    async def read(self, ids: Sequence[str], model: str | None) -> Sequence[StoredText]:
        """Some rows as they are now."""
        items, texts, of = self._tables()
        vector = sa.case((texts.c.model == model, texts.c.vector)) if model else sa.null()
        chosen = (
            sa.select(
                of,
                texts.c.stamp,
                items.c.deleted.is_not(None),
                items.c.visibility == Visibility.PUBLIC,
                texts.c.text,
                vector,
            )
            .join(items, items.c.id == of)
            .where(of.in_(ids))
        )
        async with self.database.read() as connection:
            return [StoredText(*row) for row in await connection.execute(chosen)]

    async def lacking(self, model: str, after: str, most: int) -> Sequence[tuple[str, str]]:
        """The ids, in their order, and texts of items without a vector by a model."""
        items, texts, of = self._tables()
        chosen = (
            sa.select(of, texts.c.text)
            .join(items, items.c.id == of)
            .where(of > after, items.c.deleted.is_(None), _lacks(texts, model))
            .order_by(of)
            .limit(most)
        )
        async with self.database.read() as connection:
            return [(row[0], row[1]) for row in await connection.execute(chosen)]

    async def complete(self, model: str, vectors: Sequence[tuple[str, str, bytes]]) -> int:
        """Store vectors that were missing, each with its item's id and the text it is of.

        An item that has another text by now, or the vector already, is left alone.

        Returns:
            How many were stored.
        """
        _, texts, of = self._tables()
        done = 0
        async with self.database.begin() as connection:
            stamp = await next_value(connection)
            for id, text, vector in vectors:
                changed = await connection.execute(
                    sa.update(texts)
                    .where(of == id, texts.c.text == text, _lacks(texts, model))
                    .values(model=model, vector=vector, stamp=stamp)
                )
                done += changed.rowcount
        return done

    def _tables(self) -> tuple[sa.Table, sa.Table, sa.Column[str]]:
        if self.type is TargetType.WORKFLOW:
            texts = tables.workflow_embeddings
            return tables.workflows, texts, texts.c.workflow
        texts = tables.skill_embeddings
        return tables.skills, texts, texts.c.skill


def _lacks(texts: sa.Table, model: str) -> sa.ColumnElement[bool]:
    other = sa.or_(texts.c.model.is_(None), texts.c.model != model)
    return sa.or_(texts.c.vector.is_(None), other)
