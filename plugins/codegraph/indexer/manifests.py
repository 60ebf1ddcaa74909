"""The manifests (files of settings) that linking may ask for, with their bytes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping

from plugins.codegraph.indexer.paths import is_manifest
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.store.rows import Manifest


async def manifests_of(source: Source, files: Mapping[str, Parsed]) -> list[Manifest]:
    """The manifests among some files, read again; those that have disappeared are left out."""
    paths = sorted(path for path in files if is_manifest(path) and not files[path].report.skipped)
    return await asyncio.to_thread(_read, source, paths)


def _read(source: Source, paths: Iterable[str]) -> list[Manifest]:
    found = []
    for path in paths:
        try:
            data = (source.root / path).read_bytes()
        except OSError:
            continue
        found.append(manifest(path, source.scrub.data(data)[0]))
    return found


def manifest(path: str, data: bytes) -> Manifest:
    """A manifest from its bytes."""
    return Manifest(path, hashlib.sha256(data).hexdigest(), data)
