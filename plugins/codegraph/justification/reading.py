"""Reads what texts tell, once for each state of a file, and keeps it by the text's digest."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec
from sqlalchemy import delete, select

from gateway.contract import Database
from gateway.toolkit.sql import among, batches, exclusive, lock_number
from plugins.codegraph.justification.scripts import is_manifest, scripts_of
from plugins.codegraph.justification.signals import VERSION, FileSignals, read_signals
from plugins.codegraph.model import Entity, FileReport
from plugins.codegraph.store.compression import inflated
from plugins.codegraph.store.contents import texts_of
from plugins.codegraph.store.dialects import insert_rows
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import entity_of
from plugins.codegraph.store.tables import SELECTED, entities, signals

FILES = 100
"""The files that are read at a time; after each such batch, a kill costs nothing of it."""
_LOADED = 500
_COLUMNS = ("repo", "digest", "org", "version", "data")
Progress = Callable[[int, int, str], None]


class SignalReader:
    """Reads and keeps what texts tell.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self, view: RepositoryView, reports: Sequence[FileReport], progress: Progress
    ) -> int:
        """Read every text that has not been read; returns their number.

        Args:
            view: the repository.
            reports: its files.
            progress: receives the number of files done and in total.
        """
        known = await self._known(view)
        lacking = {
            each.digest: each
            for each in reports
            if each.language and not each.skipped and known.get(each.digest) != VERSION
        }
        done = 0
        for some in batches(sorted(lacking.values(), key=lambda each: each.path), FILES):
            await self._batch(view, some)
            done += len(some)
            progress(done, len(lacking), "reading what the code says of itself")
        return done

    async def load(
        self, view: RepositoryView, reports: Sequence[FileReport]
    ) -> tuple[dict[str, FileSignals], dict[tuple[str, str], str]]:
        """What the texts of all files tell, by path, and the programs that manifests name."""
        by_digest: dict[str, FileSignals] = {}
        digests = sorted({each.digest for each in reports if each.language and not each.skipped})
        for some in batches(digests, _LOADED):
            async with self._database.read() as connection:
                query = select(signals.c.digest, signals.c.data).where(
                    *(signals.c.repo == view.id, signals.c.org == view.org),
                    *(signals.c.version == VERSION, among(signals.c.digest, some)),
                )
                for digest, data in await connection.execute(query):
                    by_digest[digest] = msgspec.msgpack.decode(data, type=FileSignals)
        files = {
            each.path: by_digest[each.digest]
            for each in reports
            if each.digest in by_digest and not each.skipped
        }
        return files, await self._scripts(view, reports)

    async def _scripts(
        self, view: RepositoryView, reports: Sequence[FileReport]
    ) -> dict[tuple[str, str], str]:
        digests = [each.digest for each in reports if is_manifest(each.path) and not each.skipped][
            :FILES
        ]
        async with self._database.read() as connection:
            texts = await texts_of(connection, Owner(view.org, view.id), digests)
        return scripts_of(inflated(each).decode("utf-8", "replace") for each in texts.values())

    async def _known(self, view: RepositoryView) -> dict[str, int]:
        query = select(signals.c.digest, signals.c.version).where(
            signals.c.repo == view.id, signals.c.org == view.org
        )
        async with self._database.read() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    async def _batch(self, view: RepositoryView, some: Sequence[FileReport]) -> None:
        async with self._database.read() as connection:
            paths = among(entities.c.path, [each.path for each in some])
            mine = select(*SELECTED).where(
                entities.c.layer == view.layer, entities.c.repo == view.id, paths
            )
            things: defaultdict[str, list[Entity]] = defaultdict(list)
            for row in await connection.execute(mine):
                entity = entity_of(row)
                things[entity.path].append(entity)
            digests = [each.digest for each in some]
            texts = await texts_of(connection, Owner(view.org, view.id), digests)
        rows = await asyncio.to_thread(_read, some, things, texts)
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("codegraph", view.id))
            these = among(signals.c.digest, digests)
            await connection.execute(delete(signals).where(signals.c.repo == view.id, these))
            whole = [(view.id, digest, view.org, VERSION, data) for digest, data in rows]
            await insert_rows(connection, signals, _COLUMNS, whole)


def _read(
    some: Sequence[FileReport],
    things: Mapping[str, Sequence[Entity]],
    texts: Mapping[str, bytes],
) -> list[tuple[str, bytes]]:
    rows = []
    for each in some:
        if each.digest in texts:
            text = inflated(texts[each.digest]).decode("utf-8", "replace")
            found = read_signals(text, each.language, things.get(each.path, ()))
            rows.append((each.digest, msgspec.msgpack.encode(found)))
    return rows
