"""What members say of entities: it wins over what facts say, and outlives every index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select, update

from gateway.contract import Database, ToolFailed
from gateway.toolkit.sql import exclusive, lock_number
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.statements import CLASS_CODES, Statement
from plugins.codegraph.justification.taxonomy import EntityClass, Sayer
from plugins.codegraph.model import Entity
from plugins.codegraph.store.codes import ENTITY_CODES
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.tables import corrections, justifications, justified, layers

STALE = -1
"""The generation of a layer whose features must be aggregated anew."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a member says of one entity.

    Attributes:
        key, path, qualified, kind: which entity; ``kind`` is a number (``ENTITY_CODES``).
        version: how often it was changed, from 1.
        person: who said it last, or None where they have left.
        at: when.
        values: what they say: type, feature_area, technology_type, purpose, business_value.
    """

    key: int
    path: str
    qualified: str
    kind: int
    version: int
    person: str | None
    at: datetime
    values: Mapping[str, str]


class Corrections:
    """Keeps corrections.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, view: RepositoryView) -> list[Correction]:
        """All corrections of a repository."""
        mine = corrections.c.org == view.org, corrections.c.repo == view.id
        async with self._database.read() as connection:
            rows = await connection.execute(select(corrections).where(*mine))
            return [_correction(dict(row._mapping)) for row in rows]

    async def one(self, view: RepositoryView, entity: Entity) -> Correction | None:
        """The correction of an entity, or None."""
        found = matching(await self.of(view))
        return found(entity.key, entity.path, entity.qualified, ENTITY_CODES[entity.kind])

    async def put(
        self,
        view: RepositoryView,
        entity: Entity,
        values: Mapping[str, str | None],
        version: int,
        said: tuple[str | None, datetime],
    ) -> Correction:
        """Add to what is said of an entity, or take it back.

        Args:
            view: the repository.
            entity: the entity.
            values: what is said; None takes back what was said before.
            version: the version that the writer has seen: 0 where there was none.
            said: the person, and the time.

        Returns:
            The correction as it is now.

        Raises:
            ToolFailed: somebody else corrected it since; the error has what they said.
        """
        lock = lock_number("codegraph", view.id)
        async with self._database.begin() as connection:
            await exclusive(connection, lock)
            before = await self._before(connection, view, entity)
            _check(before, version)
            kept = dict(before.values) if before is not None else {}
            now = {key: text for key, text in {**kept, **values}.items() if text is not None}
            person, at = said
            row = {
                **{"path": entity.path, "qualified": entity.qualified},
                **{"kind": ENTITY_CODES[entity.kind], "version": version + 1},
                **{"person": person, "at": at, "values": now, "key": entity.key},
            }
            mine = corrections.c.org == view.org, corrections.c.repo == view.id
            if before is None:
                await connection.execute(
                    corrections.insert().values(org=view.org, repo=view.id, **row)
                )
            else:
                this = update(corrections).where(*mine, corrections.c.key == before.key)
                await connection.execute(this.values(**row))
            found = _correction(row)
            await _applied(connection, view, found)
            return found

    async def _before(
        self, connection: Any, view: RepositoryView, entity: Entity
    ) -> Correction | None:
        mine = corrections.c.org == view.org, corrections.c.repo == view.id
        rows = await connection.execute(select(corrections).where(*mine))
        find = matching([_correction(dict(row._mapping)) for row in rows])
        return find(entity.key, entity.path, entity.qualified, ENTITY_CODES[entity.kind])


async def _applied(connection: Any, view: RepositoryView, correction: Correction) -> None:
    """Put a correction into the served statement, and have the features aggregated anew."""
    here = justifications.c.layer == view.layer, justifications.c.key == correction.key
    serving = select(layers.c.id).where(layers.c.id == view.layer, layers.c.state == "ready")
    data = await connection.scalar(select(justifications.c.data).where(*here))
    if data is not None and await connection.scalar(serving) is not None:
        new = corrected(msgspec.msgpack.decode(data, type=Statement), correction)
        await connection.execute(update(justifications).where(*here).values(**columns_of(new)))
    stale = update(justified).where(justified.c.layer == view.layer)
    await connection.execute(stale.values(generation=STALE))


def columns_of(statement: Statement) -> dict[str, Any]:
    """The columns of a statement's row, without layer and owner."""
    return {
        "key": statement.key,
        "path": statement.path,
        "type": statement.type,
        "feature": statement.feature,
        "technology": statement.technology,
        "confidence": statement.confidence,
        "digest": statement.digest,
        "data": msgspec.msgpack.encode(statement),
    }


def corrected(statement: Statement, correction: Correction) -> Statement:
    """A statement with what a member says of the same entity."""
    values, person = correction.values, Sayer.PERSON.value
    said = list(statement.said)
    changes: dict[str, Any] = {"corrected": correction.version}
    if any(values.get(each) for each in ("type", "feature_area", "technology_type")):
        said[0] = person
        changes["confidence"] = 100
        if "type" in values:
            changes["type"] = CLASS_CODES[EntityClass(values["type"])]
        changes["feature"] = values.get("feature_area", statement.feature)
        changes["technology"] = values.get("technology_type", statement.technology)
    if "purpose" in values:
        said[1], changes["purpose"], changes["purpose_at"] = person, values["purpose"], ""
    if "business_value" in values:
        said[2], changes["value"] = person, values["business_value"]
    return msgspec.structs.replace(statement, said=tuple(said), **changes)


class matching:  # noqa: N801 - used as a function
    """Finds the correction of an entity by its key, or by place where the key has changed.

    Args:
        found: the corrections of a repository.
    """

    def __init__(self, found: Sequence[Correction]) -> None:
        self._keys = {each.key: each for each in found}
        self._places = {(each.path, each.qualified, each.kind): each for each in found}

    def __call__(self, key: int, path: str, qualified: str, kind: int) -> Correction | None:
        """The correction of an entity, or None."""
        return self._keys.get(key) or self._places.get((path, qualified, kind))


def as_corrected(
    columns: Columns, statements: Iterable[Statement], find: matching
) -> Iterator[Statement]:
    """What is said of entities, with what people say of them instead.

    Args:
        columns: has the entities.
        statements: what is said of them.
        find: finds corrections.
    """
    for each in statements:
        entity = columns.entities[columns.index[each.key]]
        kind = ENTITY_CODES[entity.kind]
        correction = find(each.key, entity.path, entity.qualified, kind)
        yield each if correction is None else corrected(each, correction)


def _check(before: Correction | None, version: int) -> None:
    there = 0 if before is None else before.version
    if there != version:
        said = (
            "Nobody has corrected it" if before is None else f"It was corrected {before.at:%F %R}"
        )
        raise ToolFailed(
            "version_conflict",
            f"{said} (version {there}), and you name version {version}. Read what is said now with "
            "get_business_context, and correct that.",
            {"version": there, "values": dict(before.values) if before is not None else {}},
        )


def _correction(row: Mapping[str, Any]) -> Correction:
    names = ("key", "path", "qualified", "kind", "version", "person", "at", "values")
    return Correction(*(row[name] for name in names))
