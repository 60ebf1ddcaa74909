"""Looks for what no index has in sources that are newer than their index.

A name that exists nowhere costs no request for a file: the indexes say what there is, and which
names come nearest.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from gateway.contract import near
from gateway.repositories import Place, SourceFailed, joined_path
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.library import Library
from plugins.skills_repo.remote_heads import RemoteHeads

Found = TypeVar("Found")

LookupKind = Literal["skills", "agents", "docs", "files"]
_WORDS = {"skills": "skill", "agents": "agent profile", "docs": "page", "files": "file"}
_ADVICE = {kind: f"`list_{kind}` names the {kind} there are." for kind in _WORDS} | {
    "files": "`list_skills` names the skill's files, where it is asked for them."
}


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """Something that no index has.

    Attributes:
        what: what it would be; a file is one of a skill.
        name: what was asked for.
        paths: the files that it may be, from a source's root, in the order they are tried.
        sources: where it may be: those that the caller may see.
        known: the names of what there is, of which the nearest are told.
        anew: whether the caller asked to read past what is kept.
        has_token: whether the caller sent a GitHub token of their own.
    """

    what: LookupKind
    name: str
    paths: Sequence[str]
    sources: Sequence[Source]
    known: Callable[[], Sequence[str]]
    anew: bool
    has_token: bool


@dataclass(eq=False, repr=False)
class FallbackLookup(Generic[Found]):
    """Looks for a file in the sources whose index may be out of date.

    Attributes:
        heads: says which sources may hold more than their index.
        behind: told of each source that has moved on since it was indexed.
    """

    heads: RemoteHeads
    behind: Callable[[str], None]

    async def find(
        self,
        library: Library,
        wanted: LookupRequest,
        read: Callable[[Source, str], Awaitable[Found]],
    ) -> Found:
        """The first of the files that a source holds which is newer than its index.

        Args:
            library: the indexes.
            wanted: what none of them has.
            read: reads a file of a source.

        Raises:
            SourceFailed: ``NOT_FOUND``, with the nearest names; or, where no source could say,
                why the first of them could not.
        """
        answers = _Failures()
        for source in wanted.sources:
            try:
                if not await self._may_hold_more(library, source, wanted):
                    continue
                if self._lacks_token(library, source, wanted):
                    answers.unasked.append(source.name)
                    continue
                return await _first(source, wanted.paths, read)
            except SourceFailed as failure:
                answers.take(source, failure)
        if answers.silent and len(answers.silent) == len(wanted.sources):
            raise answers.silent[0][1]
        raise await _not_found(wanted, answers)

    async def _may_hold_more(self, library: Library, source: Source, wanted: LookupRequest) -> bool:
        index = library.indexes.get(source.name)
        more = await self.heads.may_hold_more(source, index, anew=wanted.anew)
        if more and index is not None and source.github is not None:
            self.behind(source.name)
        return more

    def _lacks_token(self, library: Library, source: Source, wanted: LookupRequest) -> bool:
        """Whether only the caller's token could tell, there is none, and an index answers."""
        has_index = source.name in library.indexes
        return source.credential == "caller" and not wanted.has_token and has_index


async def _first(
    source: Source, paths: Sequence[str], read: Callable[[Source, str], Awaitable[Found]]
) -> Found:
    """The first of the paths that a source has; raises as the last of them where it has none."""
    *before, last = paths
    for path in before:
        try:
            return await read(source, path)
        except SourceFailed as failure:
            if failure.code != "NOT_FOUND":
                raise
    return await read(source, last)


@dataclass(slots=True)
class _Failures:
    """The sources that did not have it.

    Attributes:
        unasked: sources that only a token of the caller's own could ask.
        silent: sources that could not say, and why.
    """

    unasked: list[str] = field(default_factory=list)
    silent: list[tuple[str, SourceFailed]] = field(default_factory=list)

    def take(self, source: Source, failure: SourceFailed) -> None:
        if failure.code != "NOT_FOUND":
            self.silent.append((source.name, failure))


async def _not_found(wanted: LookupRequest, answers: _Failures) -> SourceFailed:
    word = _WORDS[wanted.what]
    if not wanted.sources:
        return SourceFailed("NOT_FOUND", f"There is no source of {wanted.what} for your tier.")
    # Thousands of names take a moment to compare, which others need not wait for.
    nearest = await asyncio.to_thread(lambda: near(wanted.name, wanted.known()))
    said = [f"There is no {word} {_quoted([wanted.name])}."]
    if nearest:
        said.append(f"Did you mean {_quoted(nearest)}?")
    if answers.unasked:
        said.append(
            f"What is newer than the index of {_quoted(answers.unasked)} is read with your own "
            "GitHub token, and the request carries none."
        )
    for name, failure in answers.silent:
        said.append(f"The source {name} could not be asked: {failure.message}")
    said.append(_ADVICE[wanted.what])
    error = SourceFailed("NOT_FOUND", " ".join(said), _place(wanted))
    if nearest:
        error.details["near"] = nearest
    return error


def _place(wanted: LookupRequest) -> Place:
    """Where it would be, if only one source may hold it; else no repository is to blame."""
    if len(wanted.sources) != 1:
        return Place()
    [source] = wanted.sources
    repo = source.github or (source.directory.name if source.directory else None)
    return Place(repo, joined_path(source.path, wanted.paths[0]), source.ref)


def _quoted(names: Sequence[str]) -> str:
    *before, last = [json.dumps(name, ensure_ascii=False) for name in names]
    return f"{', '.join(before)} or {last}" if before else last
