"""A directory that is empty all at once: mostly a volume that is not mounted, and rarely meant."""

from __future__ import annotations

from collections.abc import Iterable

from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.sources import DirectorySource, NoteSource, Scan


class SourceEmptied(OSError):
    """A directory holds nothing any more; what was served from it stays until somebody says so."""


def refuse_emptied(scans: Iterable[tuple[NoteSource, Scan]], manifest: Manifest) -> None:
    """Remove nothing for a directory in which there is no file at all any more; blocks.

    Args:
        scans: every source with what it holds now.
        manifest: what the last sync left.

    Raises:
        SourceEmptied: there is one from which documents are served.
    """
    for source, scan in scans:
        if scan.files or not isinstance(source, DirectorySource):
            continue
        if source.key not in manifest.commits or any(source.directory.iterdir()):
            continue
        served = sum(path.startswith(source.prefix) for path in manifest.entries())
        if served:
            raise SourceEmptied(
                f"{source.directory} is empty, and documents of it are served ({served}). The "
                "portal's admin mounts or fills the directory; if they are to go, `porch knowledge "
                "sync --emptied` removes them"
            )
