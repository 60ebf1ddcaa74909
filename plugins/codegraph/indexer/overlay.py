"""An overlay: what differs from a layer, and what links differently because of that.

What differs is a person's uncommitted work, or another branch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gateway.contract import ContentScrub
from plugins.codegraph.indexer.base_layer import BaseLayer, unchanged
from plugins.codegraph.indexer.cache_dir import CacheDir
from plugins.codegraph.indexer.manifests import manifest
from plugins.codegraph.indexer.parse_stage import ParseStage
from plugins.codegraph.indexer.paths import foreign_directory, is_manifest, normalised
from plugins.codegraph.indexer.progress import Steps
from plugins.codegraph.indexer.relink import Changed, RelinkStage
from plugins.codegraph.indexer.scan import Found
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.compression import Content
from plugins.codegraph.store.layers import Change
from plugins.codegraph.store.rows import FileGraph, Manifest
from plugins.codegraph.store.store import GraphStore


class TooDifferent(Exception):
    """So many files differ that no overlay is made of them.

    Attributes:
        files: how many.
    """

    def __init__(self, files: int) -> None:
        super().__init__(f"{files} files differ")
        self.files = files


@dataclass(frozen=True, slots=True)
class Edits:
    """How files differ from a layer's.

    Attributes:
        given: the bytes of new and changed files, by path.
        gone: paths that no longer exist.
        skipped: files that are left out, and were not, or for another reason.
    """

    given: Mapping[str, bytes]
    gone: Collection[str] = ()
    skipped: Sequence[FileReport] = ()

    @classmethod
    def of(cls, changes: Mapping[str, bytes | None]) -> Edits:
        """Those of a person's changes that would be indexed: bytes by path, None for deleted ones.

        Paths that lead out of the repository are ignored.
        """
        plain = {}
        for path, data in changes.items():
            spelled = normalised(path)
            if spelled is not None and foreign_directory(spelled) is None:
                plain[spelled] = data
        given = {path: data for path, data in plain.items() if data is not None}
        return cls(given, plain.keys() - given.keys())


@dataclass(frozen=True, slots=True)
class OverlayContext:
    """What making an overlay needs.

    Attributes:
        store: the store.
        workers: parse and link.
        cache_dir: where facts are cached.
        source: the repository.
        parser: parses the edits.
    """

    store: GraphStore
    workers: WorkerPool
    cache_dir: CacheDir
    source: Source
    parser: ParseStage


async def overlaid(
    site: OverlayContext,
    base: BaseLayer,
    edits: Edits,
    steps: Steps,
    limit: int | None = None,
) -> Change:
    """The content of an overlay: the edited files, and those that link differently.

    Args:
        site: what making it needs.
        base: the layer that was edited.
        edits: the edits.
        steps: receives the progress.
        limit: the most files that are linked, or None.

    Raises:
        TooDifferent: more would be.
    """
    await base.load_links()
    gone = {path for path in edits.gone if path in base.files}
    texts: list[Content] = []

    async def keep(found: Sequence[Content]) -> None:
        texts.extend(found)

    found = [Found(path, len(data), 0, 0) for path, data in sorted(edits.given.items())]
    steps.begin("reading", len(found))
    read = await site.parser.all(found, keep, steps, edits.given)
    parsed = {path: each for path, each in read.items() if not unchanged(base, each)}
    out = gone | {each.path for each in edits.skipped}
    changed = Changed(parsed, out, _manifests(base, edits, read, site.source.scrub))
    relinking = RelinkStage(
        site.workers, site.cache_dir, site.store.database, site.source.owner, base, changed
    )
    files = await asyncio.to_thread(relinking.files)
    if limit is not None and len(files) > limit:
        raise TooDifferent(len(files))
    linked = await relinking.link(site.parser, files, steps)
    linked += [FileGraph(each) for each in edits.skipped]
    linked += [_hidden(path) for path in sorted(gone)]
    return Change(linked, contents=texts)


def _manifests(
    base: BaseLayer, edits: Edits, read: Mapping[str, Parsed], scrub: ContentScrub
) -> list[Manifest]:
    out = {*edits.given, *edits.gone, *(each.path for each in edits.skipped)}
    kept = [each for each in base.links.manifests if each.path not in out]
    new = [
        manifest(path, scrub.data(data)[0])
        for path, data in edits.given.items()
        if is_manifest(path) and not read[path].report.skipped
    ]
    return sorted([*kept, *new], key=lambda each: each.path)


def _hidden(path: str) -> FileGraph:
    """The entry by which an overlay hides a deleted file of the base."""
    return FileGraph(FileReport(path, "", "", 0, 0, skipped=True), gone=True)
