"""The state of a layer that an index needs before it changes it: its files and their
dependencies."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
from sqlalchemy import select

from gateway.contract import Database
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import Manifest, report_of
from plugins.codegraph.store.tables import REPORTED, files, links, manifests


class FileState(msgspec.Struct, frozen=True, gc=False):
    """A file of a layer: its report, modification time (nanoseconds) and inode."""

    report: FileReport
    mtime: int
    inode: int


class LinkState(msgspec.Struct, frozen=True, gc=False):
    """What linking a file depended on, and its interface digest."""

    interface: str
    package: str
    asked: bytes


@dataclass(slots=True)
class LinkStates:
    """Everything that a layer was linked with."""

    files: dict[str, LinkState] = field(default_factory=dict)
    manifests: list[Manifest] = field(default_factory=list)


async def file_states(database: Database, owner: Owner, layer: int) -> dict[str, FileState]:
    """The files of a layer, by path."""
    query = select(*REPORTED, files.c.mtime, files.c.inode).where(
        files.c.layer == layer, files.c.org == owner.org, files.c.repo == owner.repo
    )
    async with database.read() as connection:
        rows = (await connection.execute(query)).all()
    return {row[0]: FileState(report_of(row), row[-2], row[-1]) for row in rows}


async def link_states(database: Database, owner: Owner, layer: int) -> LinkStates:
    """What a layer was linked with."""
    query = select(links.c.path, links.c.interface, links.c.package, links.c.asked).where(
        links.c.layer == layer, links.c.org == owner.org, links.c.repo == owner.repo
    )
    settings = select(manifests.c.path, manifests.c.digest, manifests.c.data).where(
        manifests.c.layer == layer, manifests.c.org == owner.org, manifests.c.repo == owner.repo
    )
    async with database.read() as connection:
        states = LinkStates()
        for path, interface, package, asked in await connection.execute(query):
            states.files[path] = LinkState(interface, package, asked)
        for row in await connection.execute(settings.order_by(manifests.c.path)):
            states.manifests.append(Manifest(*row))
    return states
