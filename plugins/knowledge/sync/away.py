"""Sources that cannot be listed just now: what is served of them stays, and the others go on."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.knowledge.sync.emptied import refuse_emptied
from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.sources import File, NoteSource, Scan

Scans = list[tuple[NoteSource, Scan]]
"""Every source with what it holds now."""


def scan_all(
    sources: Sequence[NoteSource], manifest: Manifest, *, emptied: bool = False
) -> tuple[Scans, list[str]]:
    """List all sources; blocks.

    Args:
        sources: the sources.
        manifest: what the last sync left.
        emptied: whether a directory that is empty all at once is meant to be.

    Returns:
        Every source with what it holds, those that are away with what is known of them; and why
        these are away.

    Raises:
        SourceMissing: all of them are away, and the first one cannot be listed.
        SourceEmptied: all of them are away, and the first one holds nothing any more.
    """
    scans: Scans = []
    failures: list[OSError] = []
    for source in sources:
        try:
            scan = source.scan()
            if not emptied:
                refuse_emptied(source, scan, manifest)
        except OSError as failure:
            failures.append(failure)
            scan = _as_known(source, manifest)
        scans.append((source, scan))
    if failures and len(failures) == len(scans):
        raise failures[0]
    return scans, [str(failure) for failure in failures]


def _as_known(source: NoteSource, manifest: Manifest) -> Scan:
    """What is known of a source's files, none of which is read."""
    files = {
        path: File(path, path.removeprefix(source.prefix), record.stamp, 0, record.date)
        for path, record in manifest.files.items()
        if path.startswith(source.prefix)
    }
    return Scan(files, manifest.commits.get(source.key, ""), is_away=True)
