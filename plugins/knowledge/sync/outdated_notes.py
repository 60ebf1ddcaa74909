"""Outdated versions of notes, still served because their files broke or are unavailable."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.contract import Objects
from plugins.knowledge.notes.ids import raw_key
from plugins.knowledge.notes.note import Origin
from plugins.knowledge.sync.keys import Candidate
from plugins.knowledge.sync.plan import Plan, Put
from plugins.knowledge.sync.sources import File, NoteSource, Scan


async def clean_outdated(
    plan: Plan, scans: Sequence[tuple[NoteSource, Scan]], objects: Objects
) -> None:
    """Have the plan take secrets out of them too: their sources cannot give them again.

    Args:
        plan: what the sync is about to do.
        scans: every source with what it holds now.
        objects: the plugin's share of the object store, with the originals.
    """
    for source, scan in scans:
        for path, file in scan.files.items():
            record = plan.files[path]
            broken = any(one.severity == "error" for one in record.problems)
            if record.entry is None or path in plan.puts or not (broken or not record.stamp):
                continue
            if (raw := await objects.get(raw_key(path))) is not None:
                _clean(plan, path, raw, source, file)


def _clean(plan: Plan, path: str, raw: bytes, source: NoteSource, file: File) -> None:
    plan.files[path] = record = plan.files[path].model_copy()
    if record.entry is None or source.clean(raw, path)[0] == raw:
        return
    note = source.parse(raw, Origin(path, file.relative, record.date, record.entry.commit_sha))
    plan.reindex = [each for each in plan.reindex if each != path]
    document = note.document
    if document is None or not _may_be(document.key, record.entry.key, path, source):
        plan.removals.append(record.entry.key)
        plan.raw_removals.append(path)
        record.entry, record.digest = None, ""
        return
    plan.puts[path] = put = Put(document.called(record.entry.key), note.raw)
    record.entry, record.digest = put.document.entry(), put.digest()


def _may_be(claim: str, key: str, path: str, source: NoteSource) -> bool:
    """Whether a file that claims a key may be served under another one."""
    return key in Candidate(path, claim, name=source.name).forms()
