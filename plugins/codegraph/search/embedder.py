"""Makes vectors for the entities of an indexed repository, as a separate light step.

It works file by file and records each file once its vectors are stored, so an interrupted run
resumes there. It never delays the graph: an entity without a vector is found by its words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import Database
from plugins.codegraph.model import Entity, EntityKind, FileReport, parse_key, shown_key
from plugins.codegraph.search.texts import Texts, texts_of
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph

EMBEDDED = (EntityKind.FUNCTION, EntityKind.METHOD, EntityKind.CLASS, EntityKind.INTERFACE)
"""The kinds that have vectors; files and variables are found by words alone."""
BATCH_SIZE = 64
"""Entities per call of the model; between calls the model answers waiting questions."""
MAX_OVERLAID = 400
"""The most entities of an overlay that are embedded while its sender waits; the rest have only
words."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class _Known:
    digest: str
    mark: str
    texts: Mapping[str, str]


class EntityEmbedder:
    """Embeds repositories.

    Args:
        database: the plugin's database.
        store: the graphs.
        vectors: the vector store, or None if the portal has no model.
    """

    def __init__(self, database: Database, store: GraphStore, vectors: CodeVectors | None) -> None:
        self._database, self._store, self._vectors = database, store, vectors

    async def embed(self, org: str, repo: str, progress: Progress | None = None) -> int:
        """Bring the vectors of a repository up to date.

        Args:
            org: its organisation.
            repo: its id.
            progress: receives the number of files done and in total.

        Returns:
            The number of embedded entities.
        """
        view = await self._store.view(org, repo)
        if view is None or self._vectors is None:
            return 0
        graph = self._store.open(view)
        mark = await self._vectors.mark()
        known = await self._known(org, repo)
        files = [each for each in await graph.reports(False) if not each.skipped and each.language]
        await self._forget(org, repo, known, {each.path for each in files})
        lacking = [each for each in files if not _is_done(known.get(each.path), each, mark)]
        done = 0
        for at, file in enumerate(lacking, 1):
            before = known.get(file.path)
            old = before.texts if before is not None and before.mark == mark else {}
            done += await self._file(view, graph, file, mark, old)
            if progress is not None:
                progress(len(files) - len(lacking) + at, len(files), "embedding")
        await self._finished(view, bool(done))
        return done

    async def embed_overlay(self, view: RepositoryView, paths: Sequence[str]) -> int:
        """Embed the entities of an overlay that differ from the base; returns their number.

        Args:
            view: the repository with the overlay.
            paths: the files of the overlay.
        """
        if self._vectors is None or view.overlay is None:
            return 0
        graph, mark = self._store.open(view), await self._vectors.mark()
        known = await self._known(view.org, view.id)
        changed: dict[int, Texts] = {}
        for path in paths:
            row = known.get(path)
            old = row.texts if row is not None and row.mark == mark else {}
            changed |= _changed(await _texts(graph, path), old)
        some = dict(list(changed.items())[:MAX_OVERLAID])
        await self._stored(view.org, view.id, some, view.overlay.layer)
        return len(some)

    async def sweep(self) -> int:
        """Delete the vectors of overlays that are not served any more; returns how many ended.

        Call it before their layers are swept: as long as these are there, they are found here, so
        whoever is killed after an overlay has ended leaves none.
        """
        if self._vectors is None:
            return 0
        from sqlalchemy import select

        from plugins.codegraph.store.tables import layers

        over = layers.c.state == "dead", layers.c.kind.in_(("branch", "overlay"))
        async with self._database.read() as connection:
            query = select(layers.c.org, layers.c.repo, layers.c.id).where(*over)
            found = (await connection.execute(query)).all()
        for org, repo, layer in found:
            await self._vectors.remove_overlay(org, repo, layer)
        return len(found)

    async def purge(self, org: str, repo: str) -> int:
        """Delete all vectors and file records of a repository; returns their number."""
        from plugins.codegraph.search.tables import embedded as table

        done = 0 if self._vectors is None else await self._vectors.purge(org, repo)
        async with self._database.begin() as connection:
            await connection.execute(table.delete().where(table.c.org == org, table.c.repo == repo))
        return done

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of vectors and file records of a repository."""
        from sqlalchemy import func, select

        from plugins.codegraph.search.tables import embedded as table

        query = select(func.count()).where(table.c.org == org, table.c.repo == repo)
        async with self._database.read() as connection:
            rows = int(await connection.scalar(query) or 0)
        return rows + (0 if self._vectors is None else await self._vectors.count(org, repo))

    async def _file(
        self,
        view: RepositoryView,
        graph: Graph,
        file: FileReport,
        mark: str,
        old: Mapping[str, str],
    ) -> int:
        texts = await _texts(graph, file.path)
        changed = _changed(texts, old)
        await self._stored(view.org, view.id, changed)
        digests = {shown_key(key): each.digest for key, each in texts.items()}
        gone = [parse_key(key) for key in old if key not in digests]
        if self._vectors is not None:
            await self._vectors.remove(view.org, view.id, gone)
        row = {"path": file.path, "digest": file.digest, "mark": mark, "texts": digests}
        await self._remember(view.org, view.id, row)
        return len(changed)

    async def _stored(
        self, org: str, repo: str, texts: Mapping[int, Texts], overlay: int = 0
    ) -> None:
        if self._vectors is None:
            return
        keys = list(texts)
        for start in range(0, len(keys), BATCH_SIZE):
            some = keys[start : start + BATCH_SIZE]
            vectors = await self._vectors.embed([texts[key] for key in some])
            found = dict(zip(some, vectors, strict=True))
            await self._vectors.put(org, repo, found, overlay)

    async def _known(self, org: str, repo: str) -> dict[str, _Known]:
        from sqlalchemy import select

        from plugins.codegraph.search.tables import embedded as table

        query = select(table).where(table.c.org == org, table.c.repo == repo)
        async with self._database.read() as connection:
            rows = await connection.execute(query)
            return {row.path: _Known(row.digest, row.mark, row.texts) for row in rows}

    async def _remember(self, org: str, repo: str, row: Mapping[str, Any]) -> None:
        from plugins.codegraph.search.tables import embedded as table

        own = table.c.org == org, table.c.repo == repo, table.c.path == row["path"]
        async with self._database.begin() as connection:
            await connection.execute(table.delete().where(*own))
            await connection.execute(table.insert().values(org=org, repo=repo, **row))

    async def _forget(
        self, org: str, repo: str, known: Mapping[str, _Known], there: set[str]
    ) -> None:
        """Delete what is stored of files that no longer exist."""
        from plugins.codegraph.search.tables import embedded as table

        for path in known.keys() - there:
            if self._vectors is not None:
                await self._vectors.remove(org, repo, [parse_key(key) for key in known[path].texts])
            own = table.c.org == org, table.c.repo == repo, table.c.path == path
            async with self._database.begin() as connection:
                await connection.execute(table.delete().where(*own))

    async def _finished(self, view: RepositoryView, any_new: bool) -> None:
        from plugins.codegraph.store.tables import repositories as table

        if any_new and self._vectors is not None:
            await (await self._vectors.collection()).flush()
        mine = table.c.id == view.id, table.c.org == view.org
        done = {"embedded_layer": view.layer, "embedded_generation": view.generation}
        async with self._database.begin() as connection:
            await connection.execute(table.update().where(*mine).values(**done))


def _is_done(known: _Known | None, file: FileReport, mark: str) -> bool:
    return known is not None and (known.digest, known.mark) == (file.digest, mark)


def _changed(texts: Mapping[int, Texts], old: Mapping[str, str]) -> dict[int, Texts]:
    return {key: each for key, each in texts.items() if old.get(shown_key(key)) != each.digest}


async def _texts(graph: Graph, path: str) -> dict[int, Texts]:
    """The texts to embed for a file's entities, by key."""
    found = [each for each in await graph.in_file(path) if each.kind in EMBEDDED]
    source = await graph.source(path) if found else None
    if source is None:
        return {}
    return await asyncio.to_thread(_read, found, source)


def _read(found: Sequence[Entity], source: bytes) -> dict[int, Texts]:
    lines = source.split(b"\n")
    return {
        each.key: texts_of(
            each, b"\n".join(lines[each.line - 1 : each.end_line]).decode("utf-8", "replace")
        )
        for each in found
    }
