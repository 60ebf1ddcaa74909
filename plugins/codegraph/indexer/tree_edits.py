"""How the files of a commit differ from a layer, without checking the commit out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select

from gateway.contract import Database
from plugins.codegraph.git.trees import TreeFile, blob_id, blobs, tree_of
from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.indexer.overlay import Edits, TooDifferent
from plugins.codegraph.indexer.scan import IS_LINK, IS_REPOSITORY, Found, Limits, PathSifter
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.compression import inflated
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.tables import files, texts

MAX_FILES = 4_000
"""The most files that differ, or link differently: they are in memory until they are written."""
_BATCH = 200
"""Texts that are read at once."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A commit.

    Attributes:
        directory: the repository, with what it has in ``.git``.
        commit: its id.
        links: whether a symbolic link is one where the commit is checked out, or else a plain file
            with what it leads to, as in the portal's own copies.
    """

    directory: Path
    commit: str
    links: bool


async def tree_edits(
    database: Database, base: BaseLayer, owner: Owner, tree: Tree, limits: Limits
) -> Edits:
    """How a commit's files differ from a layer's.

    A file counts as the layer's where Git would give its text the same id. Where secrets were taken
    out of the text it would not: such a file is read, and compared once they are taken out again.

    Args:
        database: has the layer's texts.
        base: the layer.
        owner: its owner.
        tree: the commit.
        limits: the limits of what is indexed.

    Raises:
        GitFailed: the commit, or something of it, is not there.
        TooDifferent: too many files differ.
    """
    sifter = _TreeSifter(limits, links=tree.links)
    for file in await tree_of(tree.directory, tree.commit):
        sifter.one(file)
    ids = sifter.blobs
    same = await _same(database, base, owner, ids)
    read = [path for path in ids if path not in same]
    if len(read) > MAX_FILES:
        raise TooDifferent(len(read))
    found = await blobs(tree.directory, sorted({ids[path] for path in read}))
    reports = sifter.reports()
    skipped = [each for each in reports if _known(base, each.path) != each]
    gone = base.files.keys() - ids.keys() - {each.path for each in reports}
    return Edits({path: found[ids[path]] for path in read}, gone, skipped)


class _TreeSifter(PathSifter):
    """Sifts the files of a commit as if they were checked out."""

    def __init__(self, limits: Limits, *, links: bool) -> None:
        super().__init__(limits)
        self._skipped_modes = {"160000": IS_REPOSITORY, **({"120000": IS_LINK} if links else {})}
        self.blobs: dict[str, str] = {}

    def one(self, file: TreeFile) -> None:
        """Classify one file."""
        path = self.path(file.path)
        if path is None:
            return
        reason = self._skipped_modes.get(file.mode) or self.problem(path, file.size)
        if reason:
            self.skip(path, reason, file.size)
            return
        self.found.append(Found(path, file.size, 0, 0))
        self.blobs[path] = file.blob


async def _same(
    database: Database, base: BaseLayer, owner: Owner, ids: Mapping[str, str]
) -> set[str]:
    """The paths whose text in the layer has the id that Git gives it."""
    here = files.c.layer == base.layer, files.c.repo == owner.repo, files.c.skipped.is_(False)
    kept = texts.c.repo == files.c.repo, texts.c.digest == files.c.digest
    query = select(files.c.path, texts.c.data).where(*here, *kept, texts.c.org == owner.org)
    found: set[str] = set()
    async with database.engine.connect() as connection:  # a cursor needs a transaction
        result = await connection.stream(query)
        async for rows in result.partitions(_BATCH):
            found.update(await asyncio.to_thread(_matching, rows, ids))
    return found


def _matching(rows: Sequence[Any], ids: Mapping[str, str]) -> list[str]:
    return [
        path
        for path, data in rows
        if path in ids and blob_id(inflated(bytes(data)), ids[path]) == ids[path]
    ]


def _known(base: BaseLayer, path: str) -> FileReport | None:
    state = base.files.get(path)
    return None if state is None else state.report
