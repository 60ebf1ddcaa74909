"""The files of skill cards: rows in the database, bytes in the object store.

The bytes are written before the row, and deleted after it. Both is decided in transactions that
are alone with the playbook: bytes that nobody uses are deleted in one, and a writer looks in one
whether its bytes are still there.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import asdict

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Objects
from plugins.workflows.inputs import AttachmentDraft
from plugins.workflows.model import Attachment
from plugins.workflows.store.change import Change
from plugins.workflows.store.tables import revision_files, skill_attachments

_FOLDER = "attachments/"


def describe(files: Sequence[AttachmentDraft]) -> tuple[Attachment, ...]:
    """What is stored of files, beside their bytes."""
    return tuple(
        Attachment(each.name, each.mime_type, len(each.data), _digest(each)) for each in files
    )


async def store(objects: Objects, files: Sequence[AttachmentDraft]) -> None:
    """Write the bytes of files, and raise only once nothing is being written any more.

    Raises:
        OSError: the object store cannot be written.
    """
    once = {_digest(each): each.data for each in files}
    writes = (objects.put(_FOLDER + digest, data) for digest, data in once.items())
    for result in await asyncio.gather(*writes, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


async def ensure(objects: Objects, files: Sequence[AttachmentDraft]) -> None:
    """Write again the bytes that somebody else has deleted since :func:`store`.

    It is called in a transaction that is alone with the playbook, as :func:`delete_unused` is.
    """
    for each in files:
        if await load(objects, _digest(each)) is None:
            await objects.put(_FOLDER + _digest(each), each.data)


async def load(objects: Objects, digest: str) -> bytes | None:
    """The bytes of a file."""
    return await objects.get(_FOLDER + digest)


async def delete_unused(
    connection: AsyncConnection, objects: Objects, digests: Collection[str]
) -> None:
    """Delete the bytes that no card uses.

    Args:
        connection: a writing transaction that is alone with the playbook.
        objects: where the bytes are.
        digests: of files that were taken from a card, or were not written in the end.
    """
    for digest in sorted(await unused(connection, digests)):
        await objects.delete(_FOLDER + digest)


async def stored_digests(objects: Objects) -> AsyncIterator[str]:
    """The digests of all files whose bytes are there, whoever uses them."""
    async for each in objects.list(_FOLDER):
        yield each.key.removeprefix(_FOLDER)


async def unused(connection: AsyncConnection, digests: Collection[str]) -> set[str]:
    """Those of some digests that no card uses, and no version of one that is kept."""
    used: set[str] = set()
    for column in (skill_attachments.c.digest, revision_files.c.digest):
        query = select(column).where(column.in_(sorted(digests)))
        used |= set(await connection.scalars(query))
    return set(digests) - used


async def write(change: Change, skill: str, files: Sequence[Attachment]) -> None:
    """Write the files of a card in place of those that it has."""
    if skill not in change.added:
        before = {each.digest for each in await of_skill(change.connection, skill)}
        change.dropped |= before - {each.digest for each in files}
        of = skill_attachments.c.skill
        await change.connection.execute(delete(skill_attachments).where(of == skill))
    rows = [
        {"skill": skill, "position": position, **asdict(each)}
        for position, each in enumerate(files)
    ]
    if rows:
        await change.connection.execute(insert(skill_attachments), rows)


async def of_skill(connection: AsyncConnection, skill: str) -> tuple[Attachment, ...]:
    """The files of a card."""
    query = select(skill_attachments).where(skill_attachments.c.skill == skill)
    rows = await connection.execute(query.order_by(skill_attachments.c.position))
    return tuple(Attachment(row.name, row.mime_type, row.size, row.digest) for row in rows)


def _digest(file: AttachmentDraft) -> str:
    return hashlib.sha256(file.data).hexdigest()
