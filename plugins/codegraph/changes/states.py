"""Reads both states of what an index changes: only of the files whose bytes are others."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import and_, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import among
from plugins.codegraph.changes.versions import Version, versions, without_text
from plugins.codegraph.model import Entity, EntityKind
from plugins.codegraph.store import contents
from plugins.codegraph.store.compression import Content, inflated
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph, entity_of
from plugins.codegraph.store.tables import SELECTED, entities, files

MAX_FILES = 2_000
"""The most changed files that are compared entity by entity; of more, only the files are told."""
MAX_BYTES = 64 * 1024 * 1024
"""The most bytes of changed files, likewise."""


@dataclass(slots=True)
class State:
    """Some files in one state.

    Attributes:
        digests: of each file, by path.
        problems: why files are missing, wholly or partly, by path.
        entities: all of theirs.
        texts: the text of each, by path.
        size: the bytes of all.
    """

    digests: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    entities: list[Entity] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    size: int = 0

    @property
    def is_large(self) -> bool:
        """Whether there is too much to compare entity by entity."""
        return len(self.digests) > MAX_FILES or self.size > MAX_BYTES

    def versions(self, *, whole: bool) -> list[Version]:
        """Its entities to be compared; with ``whole``, only its files."""
        by_path: defaultdict[str, list[Entity]] = defaultdict(list)
        for each in self.entities:
            if not whole or each.kind is EntityKind.FILE:
                by_path[each.path].append(each)
        found: list[Version] = []
        for path, those in by_path.items():
            if whole:
                found += [without_text(each, self.digests.get(path, "")) for each in those]
            else:
                found += versions(self.texts.get(path, ""), those)
        return found


async def digests_of(
    connection: AsyncConnection, layer: int, paths: Collection[str]
) -> dict[str, str]:
    """The digests of files of a layer, by path; those that are not in it are left out."""
    query = select(files.c.path, files.c.digest).where(
        files.c.layer == layer, among(files.c.path, paths)
    )
    return {row[0]: row[1] for row in await connection.execute(query)}


async def other_files(connection: AsyncConnection, layer: int, than: int) -> list[str]:
    """The paths in a layer whose file another layer does not have, or has with other bytes."""
    there = files.alias()
    same = and_(there.c.layer == than, there.c.path == files.c.path)
    same = and_(same, there.c.digest == files.c.digest)
    query = select(files.c.path).where(files.c.layer == layer, ~exists().where(same))
    return list(await connection.scalars(query))


async def state_of(
    connection: AsyncConnection, owner: Owner, layer: int, paths: Collection[str]
) -> State:
    """Some files of a layer; of too many, only the files themselves."""
    state = State()
    mine = files.c.layer == layer, among(files.c.path, paths)
    query = select(files.c.path, files.c.digest, files.c.problem, files.c.size).where(*mine)
    for path, digest, problem, size in await connection.execute(query):
        state.digests[path] = digest
        state.size += size
        if problem:
            state.problems[path] = problem
    of_paths = entities.c.layer == layer, among(entities.c.path, paths)
    chosen = select(*SELECTED).where(*of_paths)
    if state.is_large:
        chosen = chosen.where(entities.c.parent.is_(None))
    state.entities = [entity_of(row) for row in await connection.execute(chosen)]
    if not state.is_large:
        await _read(connection, owner, state, ())
    return state


async def state_after(
    connection: AsyncConnection,
    owner: Owner,
    found: Iterable[FileGraph],
    given: Sequence[Content],
) -> State:
    """Some files as they are to be written.

    Args:
        connection: the database.
        owner: whose they are.
        found: the files.
        given: the texts of new ones; others are in the database.
    """
    state = State()
    for each in found:
        state.digests[each.report.path] = each.report.digest
        state.size += each.report.size
        state.entities += each.entities
        if each.report.problem:
            state.problems[each.report.path] = each.report.problem
    if not state.is_large:
        await _read(connection, owner, state, given)
    return state


async def counted(connection: AsyncConnection, layer: int) -> dict[str, int]:
    """How many files and entities a layer has."""
    of_files = select(func.count()).select_from(files).where(files.c.layer == layer)
    things = entities.c.layer == layer, entities.c.parent.is_not(None)
    of_entities = select(func.count()).select_from(entities).where(*things)
    return {
        "files": int(await connection.scalar(of_files) or 0),
        "entities": int(await connection.scalar(of_entities) or 0),
    }


async def _read(
    connection: AsyncConnection, owner: Owner, state: State, given: Sequence[Content]
) -> None:
    """Read the texts of a state."""
    wanted = set(state.digests.values()) - {""}
    packed = {each.digest: each.text for each in given if each.digest in wanted and each.text}
    missing = wanted - packed.keys()
    if missing:
        packed |= await contents.texts_of(connection, owner, missing)
    state.texts = await asyncio.to_thread(_unpacked, state.digests, packed)


def _unpacked(digests: Mapping[str, str], packed: Mapping[str, bytes]) -> dict[str, str]:
    return {
        path: inflated(packed[digest]).decode("utf-8", "replace")
        for path, digest in digests.items()
        if digest in packed
    }
