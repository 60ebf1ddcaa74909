"""What a tier sees of the sources, by their own tiers and by ``tiers.yaml``.

A skill, an agent profile and a page are rows of the plugin: a line of ``tiers.yaml`` names one, by
its own key or by that of its prompt or resource, and counts wherever it is shown. Everything that
answers callers reads a library from which the rest was taken out, and every file is asked for by
its path, so that one which no index has yet is judged too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gateway.contract import RowKind, Rows, Tier
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.entries import SkillEntry, SourceIndex
from plugins.skills_repo.index.library import Library

_SUMMARIES = {
    "skill": "a skill, as SOURCE/DIRECTORY",
    "agent": "an agent profile, as SOURCE/FILE without its ending",
    "page": "a page of the docs, as SOURCE/FILE",
}


def rows_of(source: Source, path: str) -> tuple[str, ...]:
    """The rows that a file is part of, its own first; skills nest.

    Args:
        source: where it is.
        path: from the source's root.
    """
    if source.kind == "agents":
        return (f"agent:{source.name}/{path.rpartition('.')[0]}",)
    if source.kind == "docs":
        return (f"page:{source.name}/{path}",)
    parts = path.split("/")[:-1]
    return tuple("/".join((f"skill:{source.name}", *parts[:n])) for n in range(len(parts), -1, -1))


def row_kinds(library: Callable[[], Library]) -> list[RowKind]:
    """What ``tiers.yaml`` calls the rows of a library."""

    def names(kind: str) -> Callable[[], list[str]]:
        prefix = f"{kind}:"
        return lambda: [
            row.removeprefix(prefix) for row in _rows(library()) if row.startswith(prefix)
        ]

    return [RowKind(kind, summary, names(kind)) for kind, summary in _SUMMARIES.items()]


def _rows(library: Library) -> Iterator[str]:
    for source in library.sources:
        if index := library.indexes.get(source.name):
            yield from (rows_of(source, each.path)[0] for each in index.entries)


class Visibility:
    """Reduces a library to what a tier may see.

    Args:
        rows: what ``tiers.yaml`` says of single rows.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._kept: dict[Tier, Library] = {}
        self._of: tuple[Library, int] | None = None

    @property
    def version(self) -> int:
        """Changes whenever tiers may see another part of the same library."""
        return self._rows.version

    def shows(self, source: Source, path: str, tier: Tier) -> bool:
        """Whether a tier may see a file, by its path from the source's root."""
        asked = (self._rows.tier(row, source.tier) for row in rows_of(source, path))
        return all(map(tier.allows, (source.tier, *asked)))

    def share(self, library: Library, tier: Tier) -> Library:
        """The library as a tier sees it; the very same one where it sees all of it."""
        if self._of != (library, self.version):
            self._of, self._kept = (library, self.version), {}
        if tier not in self._kept:
            self._kept[tier] = self._share(library, tier)
        return self._kept[tier]

    def _share(self, library: Library, tier: Tier) -> Library:
        seen = [each for each in library.sources if tier.allows(each.tier)]
        indexes = {
            each.name: self._index(each, index, tier)
            for each in seen
            if (index := library.indexes.get(each.name))
        }
        same = all(library.indexes[name] is index for name, index in indexes.items())
        is_whole = same and len(seen) == len(library.sources)
        return library if is_whole else Library(seen, indexes)

    def _index(self, source: Source, index: SourceIndex, tier: Tier) -> SourceIndex:
        def shown(path: str) -> bool:
            return self.shows(source, path, tier)

        changed = {
            "skills": tuple(_without(s, shown) for s in index.skills if shown(s.path)),
            "agents": tuple(each for each in index.agents if shown(each.path)),
            "docs": tuple(each for each in index.docs if shown(each.path)),
        }
        same = all(getattr(index, name) == entries for name, entries in changed.items())
        return index if same else index.model_copy(update=changed)


def _without(skill: SkillEntry, shown: Callable[[str], bool]) -> SkillEntry:
    """A skill without the files of nested ones that are not shown."""
    files = tuple(each for each in skill.files if shown(skill.file(each.path)))
    return skill if len(files) == len(skill.files) else skill.model_copy(update={"files": files})
