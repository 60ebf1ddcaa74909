"""Exports the playbook as files, from which an import makes the same rows.

Everything is written into a folder beside first and then moved, file by file, so that a file is
never half there. A file that no export has written, or that somebody has changed since, stays:
then nothing is written at all.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from gateway.contract import ToolFailed
from plugins.workflows.files import serializer
from plugins.workflows.files.fields import SLUG
from plugins.workflows.files.parsed import EXPORT_RECORD, FOLDERS
from plugins.workflows.model import Skill, Summary, TargetType

if TYPE_CHECKING:
    from plugins.workflows.playbook import Playbook

STAGING = ".porch-export-new"
PAGE_SIZE = 100

_ORDER = (TargetType.MINI_PROMPT, TargetType.SKILL, TargetType.WORKFLOW)


@dataclass(slots=True)
class ExportReport:
    """What an export did.

    Attributes:
        written: files that are new or other than before.
        unchanged: files that were there already, byte for byte.
        removed: files of an earlier export whose items are no longer there.
        kept: files in the way, because of which nothing was written.
        refused: items that cannot be files, and why; the others were written.
    """

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


async def export(
    playbook: Playbook, directory: Path, owner: str, force: bool = False
) -> ExportReport:
    """Write all items of an owner.

    Args:
        playbook: where from.
        directory: where to; made if it is not there. Nothing is written outside of it.
        owner: whose: a person's id, or the portal (``model.PORTAL``).
        force: whether files in the way are written over.

    Raises:
        OSError: the directory cannot be written.
    """
    done = ExportReport()
    staging = directory / STAGING
    await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)
    try:
        digests = {}
        async for path, data in owner_files(playbook, owner, done.refused):
            await asyncio.to_thread(_write, staging / path, data)
            digests[path] = _digest(data)
        await asyncio.to_thread(_move, directory, _Batch(owner, digests), done, force)
    finally:
        await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)
    return done


async def owner_files(
    playbook: Playbook, owner: str, refused: list[str]
) -> AsyncIterator[tuple[str, bytes]]:
    """The files of all items of an owner: paths with ``/``, and bytes.

    Args:
        playbook: where from.
        owner: whose.
        refused: where to say which items cannot be files, and why.
    """
    for type_ in _ORDER:
        async for each in _all(playbook, type_, owner):
            if not SLUG.fullmatch(each.key):
                refused.append(f"{FOLDERS[type_]}/{each.key}: the key is no name of a file")
                continue
            try:
                found = await item_files(playbook, type_, each.id, owner)
            except ToolFailed as error:
                refused.append(f"{FOLDERS[type_]}/{each.key}: {error.message}")
                continue
            for path, data in found:
                yield path, data


async def _all(playbook: Playbook, type_: TargetType, owner: str) -> AsyncIterator[Summary]:
    after: str | None = None
    while page := await playbook.page(type_, owner, after, PAGE_SIZE, scope="mine"):
        for each in page:
            yield each
        after = page[-1].id


async def item_files(
    playbook: Playbook, type_: TargetType, id_: str, owner: str
) -> list[tuple[str, bytes]]:
    """The files of one item: paths with ``/``, and bytes.

    Args:
        playbook: where from.
        type_: what kind of item it is.
        id_: its id.
        owner: whose it is.

    Raises:
        ToolFailed: there is none, or a card has a file that cannot be written.
    """
    if type_ is TargetType.MINI_PROMPT:
        prompt = await playbook.mini_prompt(id_, owner)
        return [(f"{FOLDERS[type_]}/{prompt.key}.md", serializer.prompt(prompt).encode())]
    if type_ is TargetType.WORKFLOW:
        workflow = await playbook.workflow(id_, owner)
        return [(f"{FOLDERS[type_]}/{workflow.key}.yaml", serializer.workflow(workflow).encode())]
    skill = await playbook.skill(id_, owner)
    path = f"{FOLDERS[type_]}/{skill.key}"
    beside = [
        (f"{path}/{each.name}", await _attached(playbook, skill, each.name, owner))
        for each in skill.attachments
    ]
    return [(f"{path}.md", serializer.skill(skill).encode()), *beside]


async def _attached(playbook: Playbook, skill: Skill, name: str, owner: str) -> bytes:
    if name in (".", "..") or set(name) & {"/", "\\", "\0"}:
        raise ToolFailed("bad_input", f"its file {name!r} has no name that a file can have")
    return (await playbook.attachment(skill.id, name, owner))[1]


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is staged: whose items, and the digests of their files."""

    owner: str
    digests: Mapping[str, str]


def _move(directory: Path, batch: _Batch, done: ExportReport, force: bool) -> None:
    """Move what is staged to its place, unless something is in the way."""
    digests, record = batch.digests, _recorded(directory, batch.owner)
    kept = sorted(_conflicts(directory, digests, record))
    if kept and not force:
        done.kept += kept
        return
    both = {path: [*record.get(path, ()), digest] for path, digest in digests.items()}
    _record(directory, batch.owner, record | both)
    for path, digest in sorted(digests.items()):
        target = directory / path
        if _digest_of(target) == digest:
            done.unchanged.append(path)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        (directory / STAGING / path).replace(target)
        done.written.append(path)
    for path in sorted(record.keys() - digests.keys()):
        if _digest_of(directory / path) in record[path]:
            _remove(directory, directory / path)
            done.removed.append(path)
    _record(directory, batch.owner, {path: [digest] for path, digest in digests.items()})


def _conflicts(
    directory: Path, digests: Mapping[str, str], record: Mapping[str, list[str]]
) -> Iterator[str]:
    """The paths at which there is what no export has written, or what leads elsewhere."""
    root = directory.resolve()
    for path, digest in digests.items():
        target = directory / path
        if not target.parent.resolve().is_relative_to(root):
            raise OSError(f"{target.parent} leads out of {directory}; nothing was written")
        if target.is_dir():
            raise OSError(f"{target} is a directory; nothing was written")
        there = _digest_of(target)
        if there is not None and there not in (digest, *record.get(path, ())):
            yield path


def _remove(directory: Path, path: Path) -> None:
    """Remove a file, and the folders that it leaves empty."""
    path.unlink()
    for folder in path.parents:
        if folder == directory or any(folder.iterdir()):
            return
        folder.rmdir()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(path: Path) -> str | None:
    return _digest(path.read_bytes()) if path.is_file() else None


def _recorded(directory: Path, owner: str) -> dict[str, list[str]]:
    """What exports of an owner have written here; a path that leads elsewhere is none of theirs."""
    try:
        read = json.loads((directory / EXPORT_RECORD).read_text("utf-8"))
        files = read["files"].items() if read["owner"] == owner else ()
        found = {str(path): [str(each) for each in digests] for path, digests in files}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {path: digests for path, digests in found.items() if _is_inside(path)}


def _is_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts


def _record(directory: Path, owner: str, paths: Mapping[str, list[str]]) -> None:
    written = json.dumps({"owner": owner, "files": dict(sorted(paths.items()))}, indent=1) + "\n"
    staged = directory / STAGING / EXPORT_RECORD
    _write(staged, written.encode())
    staged.replace(directory / EXPORT_RECORD)
