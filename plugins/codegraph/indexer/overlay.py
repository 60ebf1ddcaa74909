"""An overlay: a person's uncommitted changes over a layer, and what links differently because of
them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
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
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.compression import Content
from plugins.codegraph.store.layers import Change
from plugins.codegraph.store.rows import FileGraph, Manifest
from plugins.codegraph.store.store import GraphStore

Edits = Mapping[str, bytes | None]
"""The bytes of changed files by path; None for deleted ones."""


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


async def overlaid(site: OverlayContext, layer: int, edits: Edits, steps: Steps) -> Change:
    """The content of an overlay: the edited files, and those that link differently.

    Args:
        site: what making it needs.
        layer: the base layer that was edited.
        edits: the changes; paths that lead out of the repository are ignored.
        steps: receives the progress.
    """
    database, owner = site.store.database, site.source.owner
    plain = _plain(edits)
    base = await BaseLayer.of(database, owner, layer)
    await base.load_links()
    given = {path: data for path, data in plain.items() if data is not None}
    gone = {path for path, data in plain.items() if data is None and path in base.files}
    texts: list[Content] = []

    async def keep(found: Sequence[Content]) -> None:
        texts.extend(found)

    found = [Found(path, len(data), 0, 0) for path, data in sorted(given.items())]
    steps.begin("reading", len(found))
    read = await site.parser.all(found, keep, steps, given)
    parsed = {path: each for path, each in read.items() if not unchanged(base, each)}
    changed = Changed(parsed, gone, _manifests(base.links.manifests, plain, site.source.scrub))
    relinking = RelinkStage(site.workers, site.cache_dir, database, owner, base, changed)
    files = await asyncio.to_thread(relinking.files)
    linked = await relinking.link(site.parser, files, steps)
    linked += [_hidden(path) for path in sorted(gone)]
    return Change(linked, contents=texts)


def _plain(edits: Edits) -> dict[str, bytes | None]:
    """The edits of files that would be indexed, by normalised path."""
    plain = {}
    for path, data in edits.items():
        spelled = normalised(path)
        if spelled is not None and foreign_directory(spelled) is None:
            plain[spelled] = data
    return plain


def _manifests(base: Sequence[Manifest], edits: Edits, scrub: ContentScrub) -> list[Manifest]:
    kept = [each for each in base if each.path not in edits]
    new = [
        manifest(path, scrub.data(data)[0])
        for path, data in edits.items()
        if data is not None and is_manifest(path)
    ]
    return sorted([*kept, *new], key=lambda each: each.path)


def _hidden(path: str) -> FileGraph:
    """The entry by which an overlay hides a deleted file of the base."""
    return FileGraph(FileReport(path, "", "", 0, 0, skipped=True), gone=True)
