"""Writes layers: begun, filled in short transactions, then served atomically.

Nobody reads a layer before it is ready. A served layer changes in one transaction or not at all,
so readers always see a consistent one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import exclusive, lock_number
from plugins.codegraph.changes.log import ChangeLog
from plugins.codegraph.store import contents
from plugins.codegraph.store.compression import Content
from plugins.codegraph.store.dialects import delete_some
from plugins.codegraph.store.file_rows import (
    MAX_ROWS,
    delete_files,
    insert_edges,
    insert_files,
    insert_into,
    replace_manifests,
)
from plugins.codegraph.store.fulltext import full_text
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import EdgeRow, FileGraph, Manifest, merged_edges
from plugins.codegraph.store.tables import edges, files, incoming, layers, repositories


class LayerGone(Exception):
    """The layer no longer exists in the expected state: its repository was removed, for example."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a layer reflects.

    Attributes:
        commit, branch: of Git, or "".
        problem: what was wrong with the index, or "".
        author, subject: of the commit, or "".
    """

    commit: str = ""
    branch: str = ""
    problem: str = ""
    author: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Overlay:
    """The owner, base layer and expiry of an overlay."""

    person: str
    branch: str
    digest: str
    expires: datetime
    base: int
    base_generation: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a served layer, applied in one transaction.

    Attributes:
        files: the new state of changed files.
        gone: the paths that no longer exist.
        contents: the texts of new files.
        manifests: the manifests as they are now, or None if none has changed.
    """

    files: Sequence[FileGraph]
    gone: Collection[str] = ()
    contents: Sequence[Content] = ()
    manifests: Sequence[Manifest] | None = None


class Layers:
    """Writes the layers of one repository.

    Args:
        database: the plugin's database.
        owner: the owner of the layers.
    """

    def __init__(self, database: Database, owner: Owner) -> None:
        self._database, self._owner = database, owner
        self._log = ChangeLog(database, owner)

    async def begin(self, stamp: Stamp, over: tuple[int, int] | None = None) -> int:
        """Create a base layer, or one of a branch; returns its number.

        Args:
            stamp: what it reflects.
            over: of a branch, the base layer that it lies over, and that one's generation. A branch
                that somebody was writing before ends: who died in the middle begins anew.
        """
        async with self._database.begin() as connection:
            await self._alone(connection)
            if over is None:
                return await self._begun(connection, kind="base", **_stamped(stamp))
            await self._end(connection, "branch", "building")
            return await self._begun(
                connection,
                kind="branch",
                base=over[0],
                base_generation=over[1],
                **_stamped(stamp),
            )

    async def building(self) -> int | None:
        """The most recent base layer that is still being built, or None."""
        query = self._mine("base", "building").order_by(layers.c.id.desc()).limit(1)
        async with self._database.read() as connection:
            found = await connection.scalar(query)
        return None if found is None else int(found)

    async def written(self, layer: int) -> set[str]:
        """The paths whose rows a layer already has."""
        query = select(files.c.path).where(files.c.layer == layer, files.c.repo == self._owner.repo)
        async with self._database.read() as connection:
            return set(await connection.scalars(query))

    async def write(
        self, layer: int, found: Sequence[FileGraph], *, with_edges: bool = True
    ) -> None:
        """Write some files of a layer that is being built, in one transaction.

        Args:
            layer: the layer.
            found: the files.
            with_edges: whether to write their edges too; many edges are faster in key order, by
                :meth:`write_edges`.

        Raises:
            LayerGone: the layer is not being built any more.
        """
        async with self._held(layer, "building") as connection:
            await insert_files(connection, self._owner, layer, found)
            if with_edges:
                arrows = [row for each in found for row in merged_edges(each.edges)]
                await insert_edges(connection, self._owner, layer, arrows)

    async def keep(self, layer: int, found: Sequence[Content]) -> None:
        """Store the texts of files that a layer will contain.

        Raises:
            LayerGone: the layer is not being built any more.
        """
        async with self._held(layer, "building") as connection:
            await contents.keep(connection, self._owner, found)

    async def clear_edges(self, layer: int) -> None:
        """Delete the edges that an interrupted index has written to a layer."""
        for table in (edges, incoming):
            rows = MAX_ROWS
            while rows == MAX_ROWS:
                async with self._held(layer, "building") as connection:
                    here = table.c.layer == layer
                    rows = await delete_some(connection, table, here, MAX_ROWS)

    async def write_edges(self, layer: int, found: Sequence[EdgeRow], *, backward: bool) -> None:
        """Write edges of a layer in one of the two directions, preferably in that order."""
        table = incoming if backward else edges
        async with self._held(layer, "building") as connection:
            await insert_into(connection, table, self._owner, layer, found)

    async def set_manifests(self, layer: int, found: Sequence[Manifest]) -> None:
        """Replace the manifests that a layer is linked with."""
        async with self._held(layer, "building") as connection:
            await replace_manifests(connection, self._owner, layer, found)

    async def serve(self, layer: int, stamp: Stamp) -> None:
        """Serve this base layer instead of the current one.

        Raises:
            LayerGone: the layer is not being built any more, or the repository is gone.
        """
        former, commit = await self._former()
        told = await self._log.of_replacement(former, layer)
        async with self._held(layer, "building") as connection:
            await self._end(connection, "base", "ready")
            ready = update(layers).where(layers.c.id == layer)
            await connection.execute(ready.values(state="ready", **_stamped(stamp)))
            if told is not None:
                await self._log.write(connection, told, (layer, 0), stamp, commit)
            await self._published(connection, layer, stamp)

    async def rewrite(self, layer: int, change: Change, stamp: Stamp) -> int:
        """Change files of the served layer, in one transaction.

        Args:
            layer: the layer.
            change: the change.
            stamp: what the layer reflects now.

        Returns:
            The layer's new generation.

        Raises:
            LayerGone: the layer is no longer served, or the repository is gone.
        """
        told = await self._log.of_rewrite(layer, change)
        _, commit = await self._former()
        async with self._held(layer, "ready") as connection:
            paths = [*change.gone, *(each.report.path for each in change.files)]
            await delete_files(connection, layer, paths)
            await contents.keep(connection, self._owner, change.contents)
            await insert_files(connection, self._owner, layer, change.files)
            arrows = [row for each in change.files for row in merged_edges(each.edges)]
            await insert_edges(connection, self._owner, layer, arrows)
            if change.manifests is not None:
                await replace_manifests(connection, self._owner, layer, change.manifests)
            newer = update(layers).where(layers.c.id == layer)
            newer = newer.values(generation=layers.c.generation + 1, **_stamped(stamp))
            made = await connection.execute(newer.returning(layers.c.generation))
            generation = int(made.scalar_one())
            if told is not None:
                await self._log.write(connection, told, (layer, generation), stamp, commit)
            await self._published(connection, layer, stamp)
            return generation

    async def stamp(self, layer: int, stamp: Stamp) -> None:
        """Update what the served layer reflects, when none of its content has changed."""
        async with self._held(layer, "ready") as connection:
            await connection.execute(
                update(layers).where(layers.c.id == layer).values(**_stamped(stamp))
            )
            await self._published(connection, layer, stamp)

    async def touch(self, layer: int, found: Sequence[tuple[str, int, int]]) -> None:
        """Store new times and inodes of files whose bytes are unchanged: (path, mtime, inode)."""
        async with self._held(layer, "ready") as connection:
            for path, mtime, inode in found:
                row = update(files).where(files.c.layer == layer, files.c.path == path)
                await connection.execute(row.values(mtime=mtime, inode=inode))

    async def overlay(self, overlay: Overlay, change: Change) -> int:
        """Write a person's uncommitted work, replacing their overlay on that branch.

        Args:
            overlay: its owner and base.
            change: the files that it hides of the base, deleted ones included.

        Returns:
            The layer's number.
        """
        async with self._database.begin() as connection:
            await self._alone(connection)
            layer = await self._begun(
                connection,
                kind="overlay",
                state="ready",
                person=overlay.person,
                branch=overlay.branch,
                digest=overlay.digest,
                expires=overlay.expires,
                base=overlay.base,
                base_generation=overlay.base_generation,
            )
            await contents.keep(connection, self._owner, change.contents)
            await insert_files(connection, self._owner, layer, change.files)
            arrows = [row for each in change.files for row in merged_edges(each.edges)]
            await insert_edges(connection, self._owner, layer, arrows)
            others = layers.c.person == overlay.person, layers.c.branch == overlay.branch
            await self._end(connection, "overlay", "ready", *others, layers.c.id != layer)
            return layer

    @asynccontextmanager
    async def show(self, layer: int, branch: str) -> AsyncGenerator[AsyncConnection]:
        """Serve a branch's layer instead of its former one, with what the block writes.

        Raises:
            LayerGone: it is not being built any more.
        """
        async with self._held(layer, "building") as connection:
            await self._end(connection, "branch", "ready", layers.c.branch == branch)
            ready = update(layers).where(layers.c.id == layer)
            await connection.execute(ready.values(state="ready"))
            yield connection

    @asynccontextmanager
    async def hide(self, branch: str) -> AsyncGenerator[AsyncConnection]:
        """Stop serving a branch's layer, with what the block writes; a sweep deletes its rows."""
        async with self._database.begin() as connection:
            await self._alone(connection)
            await self._end(connection, "branch", "ready", layers.c.branch == branch)
            yield connection

    async def end_unfinished_branch(self) -> None:
        """End the layer of a branch that somebody was writing when they died.

        Until it ends, no text of the repository is swept.
        """
        async with self._database.read() as connection:
            if await connection.scalar(self._mine("branch", "building").limit(1)) is None:
                return
        async with self._database.begin() as connection:
            await self._alone(connection)
            await self._end(connection, "branch", "building")

    async def drop(self, layer: int) -> None:
        """Stop serving a layer; a sweep deletes its rows later."""
        async with self._database.begin() as connection:
            await self._alone(connection)
            await connection.execute(
                update(layers)
                .where(layers.c.id == layer, *self._of_owner())
                .values(state="dead", ended=datetime.now(UTC))
            )

    @asynccontextmanager
    async def serving(self, layer: int) -> AsyncGenerator[AsyncConnection]:
        """A transaction that adds rows to the served layer, alone in this repository.

        Raises:
            LayerGone: the layer is no longer served.
        """
        async with self._held(layer, "ready") as connection:
            yield connection

    @asynccontextmanager
    async def _held(self, layer: int, state: str) -> AsyncGenerator[AsyncConnection]:
        async with self._database.begin() as connection:
            await self._alone(connection)
            query = select(layers.c.state).where(layers.c.id == layer, *self._of_owner())
            found = await connection.scalar(query)
            if found != state:
                raise LayerGone(
                    f"The layer {layer} of {self._owner.repo} is {found or 'gone'}, not {state}: "
                    "the repository was removed or indexed by another process. Index it again."
                )
            yield connection

    async def _alone(self, connection: AsyncConnection) -> None:
        # This also begins the transaction, before rows are copied around SQLAlchemy.
        await exclusive(connection, lock_number("codegraph", self._owner.repo))

    async def _former(self) -> tuple[int | None, str]:
        """The base layer that is served and its commit, before an index changes it."""
        query = select(layers.c.id, layers.c.commit).where(
            *self._of_owner(), layers.c.kind == "base", layers.c.state == "ready"
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query.order_by(layers.c.id.desc()).limit(1))).first()
        return (None, "") if row is None else (row[0], row[1] or "")

    def _of_owner(self) -> tuple[Any, ...]:
        return layers.c.org == self._owner.org, layers.c.repo == self._owner.repo

    def _mine(self, kind: str, state: str) -> Any:
        return select(layers.c.id).where(
            *self._of_owner(), layers.c.kind == kind, layers.c.state == state
        )

    async def _begun(self, connection: AsyncConnection, state: str = "building", **of: Any) -> int:
        row = {"org": self._owner.org, "repo": self._owner.repo, "created": datetime.now(UTC)}
        made = insert(layers).values(**row, state=state, **of).returning(layers.c.id)
        layer = int((await connection.execute(made)).scalar_one())
        await full_text(connection).begin(connection, layer)
        return layer

    async def _end(self, connection: AsyncConnection, kind: str, state: str, *also: Any) -> None:
        ended = update(layers).where(
            *self._of_owner(), layers.c.kind == kind, layers.c.state == state, *also
        )
        await connection.execute(ended.values(state="dead", ended=datetime.now(UTC)))

    async def _published(self, connection: AsyncConnection, layer: int, stamp: Stamp) -> None:
        mine = repositories.c.id == self._owner.repo, repositories.c.org == self._owner.org
        served = update(repositories).where(*mine, repositories.c.state == "active")
        done = await connection.execute(
            served.values(layer=layer, indexed=datetime.now(UTC), **_stamped(stamp)).values(
                problem=stamp.problem
            )
        )
        if not done.rowcount:
            raise LayerGone(f"The repository {self._owner.repo} was removed while it was indexed.")


def _stamped(stamp: Stamp) -> dict[str, str]:
    return {"commit": stamp.commit, "branch": stamp.branch}
