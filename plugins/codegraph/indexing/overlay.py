"""Uncommitted work over a layer: what a person changed, and what links differently for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.contract import ContentScrub
from plugins.codegraph.indexing.basis import Basis, unchanged
from plugins.codegraph.indexing.manifests import manifest
from plugins.codegraph.indexing.parse import Parsing
from plugins.codegraph.indexing.paths import foreign_directory, is_manifest, normalised
from plugins.codegraph.indexing.place import Place
from plugins.codegraph.indexing.progress import Steps
from plugins.codegraph.indexing.relink import Changed, Relinking
from plugins.codegraph.indexing.scan import Found
from plugins.codegraph.indexing.source import Source
from plugins.codegraph.indexing.workers import Workers
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.contents import Content
from plugins.codegraph.store.layers import Change
from plugins.codegraph.store.rows import FileGraph, Manifest
from plugins.codegraph.store.store import GraphStore

Edits = Mapping[str, bytes | None]
"""The bytes of files that were changed, by path; None for those that were deleted."""


@dataclass(frozen=True, slots=True)
class Site:
    """What an overlay is made with.

    Attributes:
        store: the store.
        workers: who parses and links.
        place: where facts are kept.
        source: the repository.
        parsing: parses the edits.
    """

    store: GraphStore
    workers: Workers
    place: Place
    source: Source
    parsing: Parsing


async def overlaid(site: Site, layer: int, edits: Edits, steps: Steps) -> Change:
    """What an overlay holds: the edited files, and those that they make link in another way.

    Args:
        site: what it is made with.
        layer: the base layer that was edited.
        edits: what was changed; a path that leads out of the repository is left out.
        steps: told how far it is.
    """
    database, owner = site.store.database, site.source.owner
    plain = _plain(edits)
    basis = await Basis.of(database, owner, layer)
    await basis.load_links()
    given = {path: data for path, data in plain.items() if data is not None}
    gone = {path for path, data in plain.items() if data is None and path in basis.files}
    texts: list[Content] = []

    async def keep(found: Sequence[Content]) -> None:
        texts.extend(found)

    found = [Found(path, len(data), 0, 0) for path, data in sorted(given.items())]
    steps.begin("reading", len(found))
    read = await site.parsing.all(found, keep, steps, given)
    parsed = {path: each for path, each in read.items() if not unchanged(basis, each)}
    changed = Changed(parsed, gone, _manifests(basis.links.manifests, plain, site.source.scrub))
    relinking = Relinking(site.workers, site.place, database, owner, basis, changed)
    files = await asyncio.to_thread(relinking.files)
    linked = await relinking.link(site.parsing, files, steps)
    linked += [_hidden(path) for path in sorted(gone)]
    return Change(linked, contents=texts)


def _plain(edits: Edits) -> dict[str, bytes | None]:
    """The edits of files that an index would take, by their path's one spelling."""
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
    """A file that the overlay hides, and gives no other for."""
    return FileGraph(FileReport(path, "", "", 0, 0, skipped=True), gone=True)
