"""Links again what a change affects: the changed files and their dependents."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from gateway.contract import Database
from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.indexer.cache_dir import CacheDir
from plugins.codegraph.indexer.facts_cache import FactsCache, missing_in
from plugins.codegraph.indexer.invalidation import Invalidation
from plugins.codegraph.indexer.link_stage import known_of, link, snapshot_of, unlinked
from plugins.codegraph.indexer.parse_stage import ParseStage
from plugins.codegraph.indexer.progress import Steps, silent
from plugins.codegraph.indexer.scan import Found
from plugins.codegraph.indexer.snapshot import Known
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.store.compression import Content, inflated
from plugins.codegraph.store.contents import texts_of
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph, Manifest


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes relative to a layer.

    Attributes:
        parsed: files that are new or changed, by path.
        gone: paths that no longer exist.
        manifests: the manifests as they are now.
    """

    parsed: Mapping[str, Parsed]
    gone: Collection[str]
    manifests: Sequence[Manifest]


class RelinkStage:
    """Links what a change affects, and no more.

    Args:
        workers: link the files.
        cache_dir: where the facts are cached.
        database: has the texts of files whose facts are not cached.
        owner: the owner of the files.
        base: the layer before the change, with its links loaded.
        changed: the change.
    """

    def __init__(
        self,
        workers: WorkerPool,
        cache_dir: CacheDir,
        database: Database,
        owner: Owner,
        base: BaseLayer,
        changed: Changed,
    ) -> None:
        self._workers, self._cache_dir = workers, cache_dir
        self._database, self._owner = database, owner
        self._base, self._changed = base, changed
        self.known = _known(base, changed)

    def files(self) -> list[FileGraph]:
        """The files to link: those that changed, and those that depend on a change; by path."""
        base, changed = self._base, self._changed
        files = [unlinked(each) for each in changed.parsed.values()]
        with closing(FactsCache(self._cache_dir.cache)) as cache:
            invalidation = Invalidation(base, self.known, cache)
            hit = invalidation.affected([*changed.parsed, *changed.gone], changed.manifests)
        for path in hit.difference(changed.parsed, changed.gone):
            state = base.files[path]
            files.append(FileGraph(state.report, state.mtime, state.inode))
        return sorted(files, key=lambda each: each.report.path)

    async def link(
        self, parser: ParseStage, files: Sequence[FileGraph], steps: Steps
    ) -> list[FileGraph]:
        """Link files in the new state.

        Args:
            parser: parses stored texts again where facts are missing.
            files: the files.
            steps: receives the progress.
        """
        await self._refill(parser)
        repo = self._owner.repo
        snapshot = snapshot_of(repo, self._cache_dir.cache, self.known, self._changed.manifests)
        steps.begin("linking", len(files))
        linked: list[FileGraph] = []
        with self._cache_dir.snapshot(snapshot) as file:
            async for some in link(self._workers, file, files):
                linked += some
                steps.done(len(some))
        return linked

    async def _refill(self, parser: ParseStage) -> None:
        """Parse again what the cache lacks: it may be another replica's, or deleted."""
        keys = {(each.digest, each.reader): path for path, each in self.known.items()}
        missing = await asyncio.to_thread(missing_in, self._cache_dir.cache, set(keys))
        if not missing:
            return
        paths = {keys[key]: key[0] for key in missing}
        async with self._database.read() as connection:
            texts = await texts_of(connection, self._owner, set(paths.values()))
        given = {path: inflated(texts[digest]) for path, digest in paths.items() if digest in texts}
        found = [Found(path, len(data), 0, 0) for path, data in given.items()]

        async def keep(_: Sequence[Content]) -> None:
            """The texts are stored already."""

        await parser.all(found, keep, Steps(silent), given)


def _known(base: BaseLayer, changed: Changed) -> dict[str, Known]:
    known = dict(base.known)
    for path in changed.gone:
        known.pop(path, None)
    for path, parsed in changed.parsed.items():
        found = known_of(parsed)
        if found is None:
            known.pop(path, None)
        else:
            known[path] = found
    return known
