"""A directory that is empty all at once: mostly a volume that is not mounted, and rarely meant."""

from __future__ import annotations

from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.sources import DirectorySource, NoteSource, Scan


class SourceEmptied(OSError):
    """A directory holds nothing any more; what was served from it stays until somebody says so."""


def refuse_emptied(source: NoteSource, scan: Scan, manifest: Manifest) -> None:
    """Remove nothing for a directory in which there is no file at all any more; blocks.

    Args:
        source: the source.
        scan: what it holds now.
        manifest: what the last sync left.

    Raises:
        SourceEmptied: documents are served from it.
    """
    if scan.files or not isinstance(source, DirectorySource):
        return
    if source.key not in manifest.commits or any(source.directory.iterdir()):
        return
    served = sum(path.startswith(source.prefix) for path in manifest.entries())
    if served:
        raise SourceEmptied(
            f"{source.directory} is empty, and documents of it are served ({served}). The "
            "portal's admin mounts or fills the directory; if they are to go, `porch knowledge "
            "sync --emptied` removes them"
        )
