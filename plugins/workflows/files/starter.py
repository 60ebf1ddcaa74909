"""The starter playbook, which Porch brings: taken in when the plugin opens.

Only what changed is written. What an operator has changed by an import of theirs is left as they
want it. Two replicas that start at once do the same thing twice, which is once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.contract import ToolFailed
from plugins.workflows.files.exporter import item_files
from plugins.workflows.files.importer import import_parsed
from plugins.workflows.files.parsed import FOLDERS
from plugins.workflows.files.reader import ParsedFiles, read
from plugins.workflows.ids import portal_id
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL, TargetType

if TYPE_CHECKING:
    from plugins.workflows.playbook import Playbook
    from plugins.workflows.store.notes import Notes

STARTER = Path(__file__).parents[1] / "starter"
NOTE_NAME = "starter"
"""The note that says which files were taken in."""

_WRITER = Writer(PORTAL, may_publish=True)
_WORKFLOW, _SKILL = TargetType.WORKFLOW, TargetType.SKILL


@dataclass(frozen=True, slots=True)
class _ImportedStarter:
    """What was taken in last: the digest of the whole, and of each item's files by their paths."""

    digest: str = ""
    files: dict[str, str] = field(default_factory=dict)


async def import_starter(
    playbook: Playbook, notes: Notes, wanted: bool = True, directory: Path = STARTER
) -> bool:
    """Bring the starter playbook up to date; one query where nothing is new.

    The two automatic prompts are always taken in, because every stage may ask for them.

    Args:
        playbook: where to.
        notes: which of it was taken in before.
        wanted: whether workflows and skill cards are to be there; where they are not, those that
            were taken in before, and that nobody has changed since, are deleted.
        directory: where the starter playbook lies.

    Returns:
        Whether anything changed.

    Raises:
        RuntimeError: a file of it cannot be taken in.
    """
    digest = await asyncio.to_thread(_digest_of, directory, wanted)
    noted = _read(await notes.get(NOTE_NAME))
    if noted.digest == digest:
        return False
    written = await asyncio.to_thread(read, [directory])
    if not wanted:
        _keep_only_automatic(written)
    shipped = await asyncio.to_thread(_files, directory)
    await _drop_customized(playbook, written, noted.files, shipped)
    report = await import_parsed(playbook, _WRITER, written)
    if report.problems:
        raise RuntimeError("; ".join(map(str, report.problems)))
    deleted = await _delete(playbook, noted.files, written)
    taken = [item async for item in _current(playbook, written)]
    kept = {path: noted.files[path] for path in noted.files if wanted and path in shipped}
    await notes.set(NOTE_NAME, json.dumps({"digest": digest, "files": kept | dict(taken)}))
    return bool(report.added or report.updated or deleted)


def _read(note: str | None) -> _ImportedStarter:
    if note is None:
        return _ImportedStarter()
    read: dict[str, Any] = json.loads(note)
    return _ImportedStarter(read["digest"], read["files"])


def _files(directory: Path) -> dict[str, str]:
    """The digests of a directory's files, by their paths in it."""
    return {
        path.relative_to(directory).as_posix(): _sha(path.read_bytes())
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def _digest_of(directory: Path, wanted: bool) -> str:
    return _sha(json.dumps([wanted, _files(directory)]).encode())


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _keep_only_automatic(written: ParsedFiles) -> None:
    written.workflows.clear()
    written.skills.clear()
    kept = {key: each for key, each in written.prompts.items() if each.draft.automatic}
    written.prompts = kept


def _items(written: ParsedFiles) -> Iterable[tuple[TargetType, dict[str, Any]]]:
    yield TargetType.MINI_PROMPT, written.prompts
    yield _SKILL, written.skills
    yield _WORKFLOW, written.workflows


async def _drop_customized(
    playbook: Playbook, written: ParsedFiles, noted: dict[str, str], shipped: dict[str, str]
) -> None:
    """Leave out the items that are there and are not as Porch wrote them, now or before."""
    for type_, items in _items(written):
        for key in list(items):
            there = await _stored_digests(playbook, type_, key)
            if any(digest not in (noted.get(p), shipped.get(p)) for p, digest in there.items()):
                del items[key]


async def _stored_digests(playbook: Playbook, type_: TargetType, key: str) -> dict[str, str]:
    """The digests of an item's files as it is in the playbook; none where it is not there."""
    try:
        files = await item_files(playbook, type_, portal_id(type_, key), PORTAL)
    except ToolFailed:
        return {}
    return {path: _sha(data) for path, data in files}


async def _current(playbook: Playbook, written: ParsedFiles) -> Any:
    for type_, items in _items(written):
        for key in items:
            for path, digest in (await _stored_digests(playbook, type_, key)).items():
                yield path, digest


async def _delete(playbook: Playbook, noted: dict[str, str], written: ParsedFiles) -> int:
    """Delete the workflows and cards that were brought, are no more, and nobody has changed.

    Mini-prompts stay: members may have built on them, and no list shows them.
    """
    gone = []
    for type_, items in ((_WORKFLOW, written.workflows), (_SKILL, written.skills)):
        keys = {path.split("/")[1].split(".")[0] for path in noted if _is_of(type_, path)}
        for key in sorted(keys - items.keys()):
            there = await _stored_digests(playbook, type_, key)
            if there and all(noted.get(path) == digest for path, digest in there.items()):
                gone.append((type_, key))
    deleted = 0
    for type_, key in gone:
        with suppress(ToolFailed):  # Another replica was quicker.
            await _delete_item(playbook, type_, key)
            deleted += 1
    return deleted


def _is_of(type_: TargetType, path: str) -> bool:
    return path.startswith(f"{FOLDERS[type_]}/") and path.count("/") == 1


async def _delete_item(playbook: Playbook, type_: TargetType, key: str) -> None:
    id_ = portal_id(type_, key)
    if type_ is _SKILL:
        skill = await playbook.skill(id_, PORTAL)
        await playbook.delete_skill(_WRITER, id_, skill.version)
    else:
        workflow = await playbook.workflow(id_, PORTAL)
        await playbook.delete_workflow(_WRITER, id_, workflow.version)
