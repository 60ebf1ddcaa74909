"""The catalogue of skills, agents and docs, and the files behind them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from gateway.contract import Caller, Exchange, Tier, is_outage
from gateway.repositories import Place, SourceFailed, checked_path, joined_path
from plugins.skills_repo.config import Source
from plugins.skills_repo.fallback_lookup import FallbackLookup, LookupKind, LookupRequest
from plugins.skills_repo.file_reader import FileReader, ReadResult
from plugins.skills_repo.index.build import SKILL_FILE
from plugins.skills_repo.index.entries import Kind
from plugins.skills_repo.index.library import Library, composed
from plugins.skills_repo.index.pages import candidates, tree
from plugins.skills_repo.media_types import media_type
from plugins.skills_repo.remote_heads import RemoteHeads
from plugins.skills_repo.results import (
    AgentInfo,
    AgentText,
    DocText,
    ListedFile,
    SkillFileContent,
    SkillInfo,
    SkillText,
    file_fields,
)
from plugins.skills_repo.uses import UseLog, Uses
from plugins.skills_repo.visibility import Visibility, rows_of


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """A file that was read: from which source, and whether the copy is stale."""

    source: Source
    reading: ReadResult

    @property
    def text(self) -> str:
        """The file as text.

        Raises:
            SourceFailed: UPSTREAM_ERROR, it is none.
        """
        try:
            return self.reading.file.content.decode()
        except UnicodeDecodeError:
            place = Place(self.source.github, self.reading.file.path, self.source.ref)
            message = (
                "The file is not UTF-8 text, so that it cannot be shown as one. Whoever keeps the "
                "repository must save it as UTF-8; get_skill_file gives its bytes."
            )
            raise SourceFailed("UPSTREAM_ERROR", message, place) from None

    def origin(self) -> dict[str, Any]:
        """The fields that say where a file in an answer comes from."""
        reading = self.reading
        return {"sha": reading.file.sha, "source": self.source.name, "stale": reading.stale}


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """How a file is asked for.

    Attributes:
        caller: who asks.
        source: the only source to look in, or None.
        skip_cache: whether to read it anew, whatever is cached.
    """

    caller: Caller
    source: str | None = None
    skip_cache: bool = False


class Catalogue:
    """Lists entries and reads files, as the caller's tier sees them.

    Args:
        library: the indexes; replaced whole whenever one of them changes.
        reader: reads files.
        exchange: the call that runs now, for the caller's own credential.
        heads: says which sources may hold more than their index.
        visible: says what of it each tier sees.
        uses: counts what is read, or None.

    Attributes:
        library: what is served now.
        visible: says what of it each tier sees.
        out_of_step: the sources that were seen to differ from their index.
    """

    def __init__(
        self,
        library: Library,
        reader: FileReader,
        exchange: Callable[[], Exchange],
        heads: RemoteHeads,
        visible: Visibility,
        uses: UseLog | None = None,
    ) -> None:
        self._uses = uses
        self._reader = reader
        self.visible = visible
        self._exchange = exchange
        self.out_of_step: set[str] = set()
        self._fallback = FallbackLookup[LocatedFile](heads, self.out_of_step.add)
        self.show(library)

    def show(self, library: Library) -> None:
        """Serve other indexes from now on."""
        self.library = library
        self._lists: dict[tuple[Kind, Tier, str | None, int], Any] = {}

    def seen(self, tier: Tier) -> Library:
        """The library as a tier sees it; everything that answers a caller reads this."""
        return self.visible.share(self.library, tier)

    def forget(self, source: str) -> None:
        """Read a source's files anew from now on, because it has changed."""
        self._reader.forget(source)

    # Lists: no network call (REQ-SKILL-001, REQ-AGENT-001, REQ-DOC-001).

    def listed(self, kind: Kind, tier: Tier, source: str | None) -> Any:
        """What a tier may see of a kind, all of it; made once for each tier and index.

        Args:
            kind: which list.
            tier: the caller's tier.
            source: the only one that is asked for.

        Raises:
            SourceFailed: there is no such source.
        """
        key = (kind, tier, source, self.visible.version)
        if (kept := self._lists.get(key)) is None:
            made = {"skills": self._skills, "agents": self._agents, "docs": self._docs}[kind]
            kept = self._lists[key] = made(tier, source)
        return kept

    def _skills(self, tier: Tier, source: str | None) -> list[dict[str, Any]]:
        return [
            SkillInfo(
                name=each.entry.name,
                description=each.entry.description,
                argument_hint=each.entry.argument_hint,
                user_invocable=each.entry.user_invocable,
                files=[file.path for file in each.entry.files],
                source=each.source.name,
                directory=each.entry.directory,
            ).wire()
            for each in self.seen(tier).skills(tier, source)
        ]

    def _agents(self, tier: Tier, source: str | None) -> list[dict[str, Any]]:
        return [
            AgentInfo(
                name=each.entry.name,
                description=each.entry.description,
                model=each.entry.model,
                allowed_tools=each.entry.allowed_tools,
                source=each.source.name,
                file=each.entry.stem,
            ).wire()
            for each in self.seen(tier).agents(tier, source)
        ]

    def _docs(self, tier: Tier, source: str | None) -> dict[str, Any]:
        """Sections within sections, below the sources' names where there are several."""
        pages_of = self.seen(tier).docs(tier, source)
        trees = {each.name: tree(pages) for each, pages in pages_of}
        return trees if self.library.has_several_docs else next(iter(trees.values()), {})

    # Files.

    async def skill(self, name: str, request: ReadRequest) -> SkillText:
        """A skill's SKILL.md (REQ-SKILL-002).

        Raises:
            SourceFailed: no such skill, or it cannot be read.
        """
        at = await self._skill_file(checked_path(name, "name"), SKILL_FILE, request)
        return SkillText(
            name=name,
            content=at.text,
            path=at.reading.file.path,
            files=self._listed(name, at, request.caller.tier),
            uses=await self._uses_of(at),
            **at.origin(),
        )

    async def skill_file(self, skill: str, file: str, request: ReadRequest) -> SkillFileContent:
        """A file of a skill, as bytes and as text (REQ-SKILL-004); raises as :meth:`skill`."""
        checked_path(skill, "skill")
        at = await self._skill_file(skill, checked_path(file, "file"), request)
        content = at.reading.file.content
        return SkillFileContent(
            skill=skill,
            file=file,
            **file_fields(content),
            path=at.reading.file.path,
            **at.origin(),
        )

    async def agent(self, name: str, request: ReadRequest) -> AgentText:
        """An agent profile, by its file's or its frontmatter's name; raises as :meth:`skill`."""
        tier = request.caller.tier
        found = self.seen(tier).agent(checked_path(name, "name"), tier, request.source)
        if found is not None:
            at = await self.read(found.source, found.entry.path, request)
        else:
            at = await self._newer("agents", name, [f"{name}.md"], request)
        uses, path = await self._uses_of(at), at.reading.file.path
        return AgentText(name=name, content=at.text, path=path, uses=uses, **at.origin())

    async def doc(self, path: Sequence[str], request: ReadRequest) -> DocText:
        """A page, by the index.md convention (REQ-DOC-002, REQ-DOC-003); raises as :meth:`skill`.

        With several docs sources the path may begin with the name of one.
        """
        inside = [checked_path(part, "path") for part in path]
        if request.source is None and inside and self.library.has_several_docs:
            tier = request.caller.tier
            names = {each.name for each in self.seen(tier).seen("docs", tier)}
            if inside[0] in names:
                request = replace(request, source=inside.pop(0))
        at = await self._page(inside, request)
        file_path = at.reading.file.path
        return DocText(path=list(path), content=at.text, file_path=file_path, **at.origin())

    async def read(self, source: Source, path: str, request: ReadRequest) -> LocatedFile:
        """One file of a source, by its path from the source's root.

        Raises:
            SourceFailed: it cannot be read, or is not there for this caller.
        """
        if not self.visible.shows(source, path, request.caller.tier):
            raise SourceFailed("NOT_FOUND", "There is no such file.")
        reading = await self._reader.read(
            source,
            joined_path(source.path, path),
            skip_cache=request.skip_cache,
            credential=self._exchange().credential,
            caller=request.caller,
        )
        if self._uses is not None and _is_read_whole(source, path):
            self._uses.count(rows_of(source, path)[0], request.caller)
        return LocatedFile(source, reading)

    async def _uses_of(self, at: LocatedFile) -> Uses | None:
        """How often a skill or a profile that was read is read."""
        path = at.reading.file.path.removeprefix(f"{at.source.path}/" if at.source.path else "")
        try:
            return None if self._uses is None else await self._uses.of(rows_of(at.source, path)[0])
        except Exception as error:
            if is_outage(error):  # the text is worth more than its numbers
                return None
            raise

    def _listed(self, name: str, at: LocatedFile, tier: Tier) -> list[ListedFile] | None:
        """The files of a skill that was read, as its index has them; None where it has not."""
        found = self.seen(tier).skill(name, tier, at.source.name)
        if found is None:
            return None
        entries = (found.entry.skill_file, *found.entry.files)
        files = ((each.path or SKILL_FILE, each.size) for each in entries)
        return [ListedFile(path=path, size=size, kind=media_type(path)) for path, size in files]

    async def _skill_file(self, skill: str, file: str, request: ReadRequest) -> LocatedFile:
        tier = request.caller.tier
        found = self.seen(tier).skill(skill, tier, request.source)
        if found is None:
            return await self._newer("skills", skill, [f"{skill}/{file}"], request)
        entry = found.entry
        files = [each.path for each in entry.files]
        if file == SKILL_FILE or (file := _meant(file, files)) in files:
            return await self.read(found.source, entry.file(file), request)
        request = replace(request, source=found.source.name)
        return await self._newer("files", file, [entry.file(file)], request, files)

    async def _page(self, path: Sequence[str], request: ReadRequest) -> LocatedFile:
        """The page of the only source whose index has it, or whatever is found upstream."""
        tier = request.caller.tier
        library = self.seen(tier)
        seen = library.seen("docs", tier, request.source)
        known = [(each, page) for each in seen if (page := library.page(each, path))]
        if len(known) > 1:
            names = ", ".join(each.name for each, _ in known)
            message = f"The page is in several sources: {names}. Ask again with `source`."
            raise SourceFailed("NOT_FOUND", message)
        for each, page in known:
            try:
                return await self.read(each, page.path, request)
            except SourceFailed as error:  # It may have moved since the index was built.
                if error.code != "NOT_FOUND":
                    raise
        return await self._newer("docs", "/".join(path), candidates(path), request)

    async def _newer(
        self,
        what: LookupKind,
        name: str,
        paths: Sequence[str],
        request: ReadRequest,
        known: Sequence[str] | None = None,
    ) -> LocatedFile:
        """What no index has yet: the first of the paths that some source has."""
        kind: Kind = "skills" if what == "files" else what
        tier, source = request.caller.tier, request.source
        library = self.seen(tier)
        wanted = LookupRequest(
            what=what,
            name=name,
            paths=paths,
            sources=library.seen(kind, tier, source),
            known=lambda: library.names(kind, tier, source) if known is None else known,
            anew=request.skip_cache,
            has_token=bool(self._exchange().credential),
        )
        return await self._fallback.find(
            library, wanted, lambda each, path: self.read(each, path, request)
        )


def _meant(file: str, files: Collection[str]) -> str:
    """The file that is asked for, by its name or as a link of a text writes it (``%20``)."""
    by_name = {composed(each): each for each in files}
    for asked in (file, unquote(file)):
        if asked in files:
            return asked
        if found := by_name.get(composed(asked)):
            return found
    return file


def _is_read_whole(source: Source, path: str) -> bool:
    """Whether a file is a skill's or a profile's own text, which is read to be followed."""
    name = path.rpartition("/")[2]
    return source.kind == "agents" or (source.kind == "skills" and name == SKILL_FILE)
