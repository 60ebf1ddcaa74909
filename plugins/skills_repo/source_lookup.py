"""Finds a skill or an agent profile by its name, and reads it whole, for a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.contract import Tier, ToolFailed, near
from gateway.repositories import LeftOut, Repository, SourceFailed, is_below
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.build import build, source_fingerprint
from plugins.skills_repo.index.entries import AgentEntry, SkillEntry, SourceIndex
from plugins.skills_repo.index.library import Found, Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.installation import Wanted

Named = Found[SkillEntry] | Found[AgentEntry]
"""What a name means."""


@dataclass(frozen=True, slots=True)
class Content:
    """All that was read of a skill or a profile.

    Attributes:
        files: its files; of a profile the one, by its name alone.
        left_out: what is in its folder and is not served.
    """

    files: Sequence[Wanted]
    left_out: Sequence[LeftOut]


class SourceLookup:
    """Looks names up in the indexes that are kept, and reads files from the sources themselves.

    Args:
        sources: where to look.
        repositories: by the names of the sources.
        store: keeps indexes.
    """

    def __init__(
        self, sources: Sequence[Source], repositories: Mapping[str, Repository], store: IndexStore
    ) -> None:
        self._sources = sources
        self._repositories = repositories
        self._store = store

    async def find(self, name: str) -> Named:
        """What the name means; the sources are read anew where no index that is kept has it.

        Raises:
            ToolFailed: it means nothing, or several things; or a source cannot be read.
        """
        library = Library(self._sources, {})
        for anew in (False, True):
            indexes = {each.name: await self._index(each, anew) for each in self._sources}
            library = Library(self._sources, indexes)
            if (found := _meant(library, name)) is not None:
                return found
        known = [*library.names("skills", Tier.MEMBERS), *library.names("agents", Tier.MEMBERS)]
        nearest = ", ".join(near(name, known))
        hint = f" The nearest: {nearest}." if nearest else ""
        raise ToolFailed("NOT_FOUND", f"There is no skill or agent profile {name}.{hint}")

    async def _index(self, source: Source, anew: bool) -> SourceIndex:
        kept = await self._store.load(source.name, source.kind, source_fingerprint(source))
        if kept is not None and not anew:
            return kept
        index, _ = await build(source, self._repositories[source.name])
        return index

    async def read(self, found: Named) -> Content:
        """Everything of a skill or a profile, as its source has it now.

        Raises:
            ToolFailed: the source cannot be read, a file is too large, or nothing is there.
        """
        source, entry = found.source, found.entry
        inside, alone = (
            (entry.directory, "")
            if isinstance(entry, SkillEntry)
            else (entry.path.rpartition("/")[0], entry.path.rpartition("/")[2])
        )
        folder = "/".join(part for part in (source.path, inside) if part)
        start = len(folder) + 1 if folder else 0
        async with self._repositories[source.name].snapshot() as snapshot:
            files = [
                Wanted.of(each, each.path[start:])
                async for each in snapshot.files(folder)
                if not alone or each.path[start:] == alone
            ]
            left_out = [e for e in snapshot.left_out if not alone and is_below(e.path, folder)]
        if not files:
            message = f"{source.name} has {entry.name} no longer. Read it anew: porch skills index."
            raise ToolFailed("NOT_FOUND", message)
        return Content(sorted(files, key=lambda file: file.path), left_out)


def _meant(library: Library, name: str) -> Named | None:
    """What a name means, of all kinds; raises ``ToolFailed`` where it means several."""
    try:
        skill = library.skill(name, Tier.MEMBERS)
        agent = library.agent(name, Tier.MEMBERS)
    except SourceFailed as error:
        if not (sources := error.details.get("sources")):
            raise
        message = f"{name} is in several sources: {', '.join(sources)}. Say which with --source."
        raise ToolFailed("NOT_FOUND", message) from None
    if skill is not None and agent is not None:
        message = (
            f"{name} is a skill of {skill.source.name} and an agent profile of "
            f"{agent.source.name}. Say which with --source."
        )
        raise ToolFailed("NOT_FOUND", message)
    return skill if skill is not None else agent
