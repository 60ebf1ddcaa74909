"""A repository as the linker sees it, backed by the facts cache."""

from __future__ import annotations

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.indexer.facts_cache import FactsCache, Key
from plugins.codegraph.indexer.parsed_file import facts_in, unpacked
from plugins.codegraph.indexer.snapshot import Known, Snapshot
from plugins.codegraph.linker.files import Files


class RecentFacts:
    """Recently decoded facts, backed by a cache: the next snapshot needs most of them again.

    Args:
        cache: has all facts.
        lines: the most source lines whose facts are held, besides what the linker holds.
    """

    def __init__(self, cache: FactsCache, lines: int = 60_000) -> None:
        self.cache, self._most = cache, lines
        self._lines = 0
        self._kept: dict[Key, FileFacts] = {}

    def get(self, key: Key) -> FileFacts | None:
        """The facts for a key, or None if they are not cached."""
        facts = self._kept.pop(key, None)
        if facts is None:
            data = self.cache.get(key)
            if data is None:
                return None
            facts = facts_in(unpacked(data))
            self._lines += facts.lines
        self._kept[key] = facts
        while self._lines > self._most and self._kept:
            self._lines -= self._kept.pop(next(iter(self._kept))).lines
        return facts


class SnapshotView(Files[Known]):
    """A :class:`~plugins.codegraph.languages.source_view.SourceView` of one snapshot.

    Args:
        snapshot: the state of the files.
        recent: gives their facts.
    """

    def __init__(self, snapshot: Snapshot, recent: RecentFacts) -> None:
        manifests = {each.path: each.data for each in snapshot.manifests}
        super().__init__(snapshot.repo, snapshot.files, manifests)
        self._recent = recent

    def facts(self, path: str) -> FileFacts | None:
        """The facts of a file, or None where there is no such file.

        Raises:
            LookupError: the file exists, but its facts are not cached.
        """
        known = self._files.get(path)
        if known is None:
            return None
        facts = self._recent.get((known.digest, known.reader))
        if facts is None:
            raise LookupError(f"The facts of {path} are gone. Index the repository again.")
        return facts
