"""All indexes together: what is listed, and which entry a name means.

Whoever is below a source's tier finds nothing of it, as if it were not there.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.contract import Tier
from gateway.repositories import SourceFailed
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.entries import AgentEntry, DocEntry, Kind, SkillEntry, SourceIndex
from plugins.skills_repo.index.pages import candidates, page_name

Entry = TypeVar("Entry", SkillEntry, AgentEntry)


def composed(name: str) -> str:
    """A name with its marks in its letters: macOS writes them apart, and people ask for either."""
    return unicodedata.normalize("NFC", name)


@dataclass(frozen=True, slots=True)
class Found(Generic[Entry]):
    """An entry, and the source that it is from."""

    source: Source
    entry: Entry


class Library:
    """The sources and what was read of them; made anew whenever an index is.

    Args:
        sources: the configured sources, in their order.
        indexes: the indexes there are, by the source's name.
    """

    def __init__(self, sources: Sequence[Source], indexes: Mapping[str, SourceIndex]) -> None:
        self.sources = tuple(sources)
        self.indexes = dict(indexes)
        self._skills = _by_name(self._entries(lambda index: index.skills))
        self._called = _by_folded_name(self.skills(Tier.MEMBERS))
        self._agents = _by_name(self._entries(lambda index: index.agents))
        self._pages = {
            (name, composed(page.path)): page
            for name, index in indexes.items()
            for page in index.docs
        }

    def seen(self, kind: Kind, tier: Tier, source: str | None = None) -> list[Source]:
        """The sources of a kind that a tier may see.

        Args:
            kind: what they hold.
            tier: the caller's tier.
            source: the only one that is asked for.

        Raises:
            SourceFailed: NOT_FOUND, where the one asked for is not among them.
        """
        found = [s for s in self.sources if s.kind == kind and tier.allows(s.tier)]
        if source is None:
            return found
        named = [each for each in found if each.name == source]
        if not named:
            known = ", ".join(each.name for each in found) or "none"
            message = f"There is no source {source!r} of {kind}. Sources of {kind}: {known}."
            raise SourceFailed("NOT_FOUND", message)
        return named

    def skills(self, tier: Tier, source: str | None = None) -> Iterator[Found[SkillEntry]]:
        """The skills that a tier may see, by source and directory; raises as :meth:`seen`."""
        for each in self.seen("skills", tier, source):
            for entry in self._index(each).skills:
                yield Found(each, entry)

    def agents(self, tier: Tier, source: str | None = None) -> Iterator[Found[AgentEntry]]:
        """The agent profiles that a tier may see; raises as :meth:`seen`."""
        for each in self.seen("agents", tier, source):
            for entry in self._index(each).agents:
                yield Found(each, entry)

    def docs(
        self, tier: Tier, source: str | None = None
    ) -> Iterator[tuple[Source, Sequence[DocEntry]]]:
        """The pages that a tier may see, by source; raises as :meth:`seen`."""
        for each in self.seen("docs", tier, source):
            yield each, self._index(each).docs

    def skill(self, name: str, tier: Tier, source: str | None = None) -> Found[SkillEntry] | None:
        """The skill of that name, directory or folder; None where no index has it.

        Raises:
            SourceFailed: NOT_FOUND, there is no such source; or several have it.
        """
        called = self._skills.get(composed(name), ())
        return _one(name, called, self.seen("skills", tier, source))

    def called(self, name: str, tier: Tier) -> Iterator[Found[SkillEntry]]:
        """The skills that a tier may see that have a name, whatever its capitals."""
        for found in self._called.get(name.casefold(), ()):
            if tier.allows(found.source.tier):
                yield found

    def agent(self, name: str, tier: Tier, source: str | None = None) -> Found[AgentEntry] | None:
        """The agent of that file name or frontmatter name; else as :meth:`skill`."""
        called = self._agents.get(composed(name), ())
        return _one(name, called, self.seen("agents", tier, source))

    def names(self, kind: Kind, tier: Tier, source: str | None = None) -> list[str]:
        """What may be asked for by name, of all that a tier may see; raises as :meth:`seen`."""
        if kind == "skills":
            skills = self.skills(tier, source)
            return [name for each in skills for name in (each.entry.name, each.entry.directory)]
        if kind == "agents":
            agents = self.agents(tier, source)
            return [name for each in agents for name in (each.entry.name, each.entry.stem)]
        return [page_name(page.path) for _, pages in self.docs(tier, source) for page in pages]

    def page(self, source: Source, path: Sequence[str]) -> DocEntry | None:
        """The page that a path means, if the source's index has it."""
        for file in candidates(path):
            if page := self._pages.get((source.name, composed(file))):
                return page
        return None

    @property
    def has_several_docs(self) -> bool:
        """Whether the sources' names stand in front of the pages' paths."""
        return sum(source.kind == "docs" for source in self.sources) > 1

    def _index(self, source: Source) -> SourceIndex:
        return self.indexes.get(source.name) or SourceIndex(source=source.name, kind=source.kind)

    def _entries(
        self, of: Callable[[SourceIndex], Sequence[Entry]]
    ) -> Iterator[tuple[Source, Entry]]:
        for source in self.sources:
            for entry in of(self._index(source)):
                yield source, entry


@dataclass(frozen=True, slots=True)
class _Candidate(Generic[Entry]):
    """An entry under one of its names; the lower the rank, the surer the name."""

    rank: int
    found: Found[Entry]


def _by_name(entries: Iterable[tuple[Source, Entry]]) -> dict[str, list[_Candidate[Entry]]]:
    names: dict[str, list[_Candidate[Entry]]] = defaultdict(list)
    for source, entry in entries:
        for rank, name in enumerate(entry.names):
            names[composed(name)].append(_Candidate(rank, Found(source, entry)))
    return names


def _by_folded_name(
    skills: Iterable[Found[SkillEntry]],
) -> dict[str, list[Found[SkillEntry]]]:
    names: dict[str, list[Found[SkillEntry]]] = defaultdict(list)
    for found in skills:
        for name in {name.casefold() for name in found.entry.names}:
            names[name].append(found)
    return names


def _one(
    name: str, candidates: Sequence[_Candidate[Entry]], seen: Sequence[Source]
) -> Found[Entry] | None:
    """The one entry meant: of each source the surest, and only one source may have it."""
    best: list[Found[Entry]] = []
    for source in seen:
        own = [each for each in candidates if each.found.source is source]
        surest = min((each.rank for each in own), default=0)
        best += [each.found for each in own if each.rank == surest]
    if len(best) > 1:
        raise _ambiguous(name, best)
    return best[0] if best else None


def _ambiguous(name: str, found: Sequence[Found[Entry]]) -> SourceFailed:
    sources = list(dict.fromkeys(each.source.name for each in found))
    if len(sources) > 1:
        error = SourceFailed(
            "NOT_FOUND",
            f"{name!r} is in several sources: {', '.join(sources)}. Ask again with `source`.",
        )
        error.details["sources"] = sources
        return error
    paths = [each.entry.names[0] for each in found]
    error = SourceFailed(
        "NOT_FOUND", f"{name!r} means several: {', '.join(paths)}. Ask for one of these names."
    )
    error.details["names"] = paths
    return error
