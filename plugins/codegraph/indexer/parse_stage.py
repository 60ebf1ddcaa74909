"""Reads and parses files in the workers; stores facts and texts as they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from posixpath import splitext

import msgspec

from plugins.codegraph.indexer.cache_dir import CacheDir
from plugins.codegraph.indexer.facts_cache import FactsCache, Key
from plugins.codegraph.indexer.parsed_file import reader_of
from plugins.codegraph.indexer.progress import Steps
from plugins.codegraph.indexer.scan import Found, Limits
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.indexer.tasks import Parsed, ParseTask, refused
from plugins.codegraph.indexer.worker_pool import FileFailure, WorkerPool
from plugins.codegraph.store.compression import Content

_MAX_TASK_FILES = 48
"""The most files per task ..."""
_MAX_TASK_BYTES = 384 * 1024
"""... and about this many bytes."""
Keep = Callable[[Sequence[Content]], Awaitable[None]]


class ParseStage:
    """Reads and parses the files of one repository.

    Args:
        workers: parse the files.
        cache_dir: where its facts are cached.
        source: the repository.
        limits: the limits of what is indexed.
    """

    def __init__(
        self, workers: WorkerPool, cache_dir: CacheDir, source: Source, limits: Limits
    ) -> None:
        self._workers, self._cache_dir = workers, cache_dir
        self._root, self._limits, self._scrub = str(source.root), limits, source.scrub

    async def all(
        self,
        files: Sequence[Found],
        keep: Keep,
        steps: Steps,
        given: Mapping[str, bytes] | None = None,
    ) -> dict[str, Parsed]:
        """Read and parse files.

        Args:
            files: the files.
            keep: stores their texts; called before their facts are cached.
            steps: receives the progress.
            given: their bytes by path, if they do not come from the directory.

        Returns:
            The result for each file, by path, without facts and text.
        """
        cache = await asyncio.to_thread(FactsCache, self._cache_dir.cache)
        sizes = {each.path: each for each in files}
        as_parsed: dict[str, Parsed] = {}
        try:
            async for results in self._workers.each(self._tasks(files, given), Parsed):
                found = [_settled(each, sizes) for each in results]
                texts = [Content(each.report.digest, each.text) for each in found if each.text]
                await keep(texts)
                await asyncio.to_thread(cache.put, list(_facts(found)))
                for each in found:
                    as_parsed[each.report.path] = _light(each)
                steps.done(len(found))
        finally:
            cache.close()
        return as_parsed

    def warm(self, paths: Iterable[str]) -> None:
        """Start a worker that can parse files like these, in the background; returns at once."""
        if not self._workers.cold:
            return
        endings = {reader_of(path): splitext(path)[1] for path in paths}
        files = [Found(f"warm{ending}", 0, 0, 0) for reader, ending in endings.items() if reader]
        cache = str(self._cache_dir.cache)
        task = ParseTask(self._root, cache, self._limits, files, [b""] * len(files))
        self._workers.warm(task)

    def _tasks(
        self, files: Sequence[Found], given: Mapping[str, bytes] | None
    ) -> Iterator[ParseTask]:
        cache = str(self._cache_dir.cache)
        for part in _parts(files, self._workers.most):
            data = None if given is None else [given[each.path] for each in part]
            yield ParseTask(self._root, cache, self._limits, part, data, self._scrub)


def _parts(files: Sequence[Found], workers: int) -> Iterator[list[Found]]:
    # Spread a few files over the workers, so that none is idle.
    most = max(1, min(_MAX_TASK_FILES, -(-len(files) // workers)))
    part: list[Found] = []
    size = 0
    for each in files:
        part.append(each)
        size += each.size
        if len(part) >= most or size >= _MAX_TASK_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _settled(result: Parsed | FileFailure, files: Mapping[str, Found]) -> Parsed:
    if isinstance(result, Parsed):
        return result
    found = files[result.path]
    return Parsed(refused(found, f"it could not be parsed: {result.reason}"), found)


def _facts(found: Iterable[Parsed]) -> Iterator[tuple[Key, bytes]]:
    for each in found:
        if each.facts:
            yield (each.report.digest, reader_of(each.report.path)), each.facts


def _light(parsed: Parsed) -> Parsed:
    if not parsed.facts and not parsed.text:
        return parsed
    return msgspec.structs.replace(parsed, facts=b"", text=b"")
