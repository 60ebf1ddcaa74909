"""Links files in the workers, all against one snapshot."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from plugins.codegraph.indexer.parsed_file import reader_of
from plugins.codegraph.indexer.snapshot import Known, Snapshot
from plugins.codegraph.indexer.tasks import LinkTask, Parsed
from plugins.codegraph.indexer.worker_pool import FileFailure, WorkerPool
from plugins.codegraph.store.rows import FileGraph, Manifest

_MIN_TASK_FILES, _MAX_TASK_FILES = 16, 64
"""Files per task: with fewer, two processes would do the same work twice, ..."""
_MAX_TASK_LINES = 8_000
"""... and about this many lines per task."""


def known_of(parsed: Parsed) -> Known | None:
    """A file as the linker knows it, or None for an unknown language."""
    path, report = parsed.report.path, parsed.report
    reader = reader_of(path)
    if report.skipped or not reader:
        return None
    return Known(report.digest, reader, report.language, parsed.package, parsed.interface)


def snapshot_of(
    repo: str, cache: Path, files: Mapping[str, Known], manifests: Sequence[Manifest]
) -> Snapshot:
    """A snapshot of some files."""
    return Snapshot(repo, str(cache), dict(files), list(manifests))


def unlinked(parsed: Parsed) -> FileGraph:
    """The graph of a file before it is linked."""
    return FileGraph(parsed.report, parsed.found.mtime, parsed.found.inode)


async def link(
    workers: WorkerPool, snapshot: Path, files: Sequence[FileGraph]
) -> AsyncGenerator[list[FileGraph]]:
    """Link files; yields results in batches as they complete.

    Args:
        workers: link the files.
        snapshot: the file with the state that they are linked against.
        files: the unlinked files, by path. Skipped ones are yielded unchanged.
    """
    skipped = [each for each in files if each.report.skipped]
    if skipped:
        yield skipped
    whole = [each for each in files if not each.report.skipped]
    by_path = {each.report.path: each for each in whole}
    async for results in workers.each(_tasks(snapshot, whole, workers.most), FileGraph):
        yield [_linked(each, by_path) for each in results]


def _tasks(snapshot: Path, files: Sequence[FileGraph], workers: int) -> Iterator[LinkTask]:
    most = max(_MIN_TASK_FILES, min(_MAX_TASK_FILES, -(-len(files) // workers)))
    part: list[FileGraph] = []
    lines = 0
    for each in files:
        part.append(each)
        lines += each.report.lines
        if len(part) >= most or lines >= _MAX_TASK_LINES:
            yield LinkTask(str(snapshot), part)
            part, lines = [], 0
    if part:
        yield LinkTask(str(snapshot), part)


def _linked(result: FileGraph | FileFailure, files: Mapping[str, FileGraph]) -> FileGraph:
    if isinstance(result, FileGraph):
        return result
    file = files[result.path]
    problem = f"its calls could not be linked: {result.reason}"
    report = msgspec.structs.replace(file.report, problem=problem, skipped=True)
    return msgspec.structs.replace(file, report=report)
