"""The head of a branch on GitHub, and the listing of its notes.

A tree that GitHub lists whole says everything. A large one is compared with the commit that is
served where that says enough, as its list is 25 MB for 100,000 files; one that GitHub cuts is so,
too, or else read as a tarball.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from datetime import datetime

from gateway.repositories import (
    Comparison,
    GithubRepository,
    LeftOut,
    Retry,
    SourceFailed,
    TreeFile,
)
from plugins.knowledge.sync.github import GithubSource
from plugins.knowledge.sync.listing import ListedFile, Listing

UNKNOWN_SIZE = 0
"""The size of a file that a comparison tells of, since it says none; its fetch finds out."""


LARGE = 10_000
"""Notes from which a commit is compared before its tree is asked for."""


class RemoteBranch:
    """Reads one branch.

    Args:
        source: says what of it is a note.
        repository: the branch.
        retry: how often GitHub is asked again.
    """

    def __init__(self, source: GithubSource, repository: GithubRepository, retry: Retry) -> None:
        self._source = source
        self._repository = repository
        self._retry = retry

    async def head(self, known: str, pushed: str = "") -> str | None:
        """The branch's commit, or None where there is no such branch.

        Args:
            known: the commit that is served.
            pushed: the one that a push told of; it counts where GitHub's API does not know of it
                yet.

        Raises:
            SourceFailed: GitHub refuses, or does not answer.
        """
        head = await self._retry.ask(self._repository.head)
        if head is not None and pushed and head != pushed and head == known:
            try:
                ahead = await self._repository.compare(head, pushed)
            except SourceFailed:
                return head
            return pushed if ahead.status == "ahead" else head
        return head

    async def listed(self, commit: str, known: Listing, told: Mapping[str, datetime]) -> Listing:
        """The notes of a commit.

        Args:
            commit: the commit.
            known: what is served.
            told: when files were written, as pushes said.

        Raises:
            SourceFailed: GitHub refuses, or does not answer.
        """
        if len(known.files) >= LARGE and (compared := await self._compared(known.commit, commit)):
            return await self._changed(commit, known, compared, told)
        tree = await self._retry.ask(lambda: self._repository.tree(commit))
        if not tree.truncated:
            return await self._new(commit, known, _sized(tree.files), told, tree.left_out)
        if compared := await self._compared(known.commit, commit):
            return await self._changed(commit, known, compared, told)
        async with self._repository.snapshot(commit) as snapshot:
            async with aclosing(snapshot.files()) as entries:
                files = {one.path: (one.sha, one.size) async for one in entries}
        return await self._new(commit, known, files, told, tree.left_out)

    async def _new(
        self,
        commit: str,
        known: Listing,
        found: Mapping[str, tuple[str, int]],
        told: Mapping[str, datetime],
        left_out: Iterable[LeftOut],
    ) -> Listing:
        """The notes among files: what is listed of one that is known stays as it is."""
        notes = {path: one for path, one in found.items() if self._source.is_note(path)}
        dates = await self._dated(commit, known, notes, told)
        files = {
            path: _listed(known.files.get(path), sha, size, dates[path])
            for path, (sha, size) in notes.items()
        }
        reasons = {one.path: one.reason for one in left_out if self._source.is_note(one.path)}
        selection = self._source.selection
        return Listing(commit=commit, files=files, left_out=reasons, selection=selection)

    async def _changed(
        self, commit: str, known: Listing, compared: Comparison, told: Mapping[str, datetime]
    ) -> Listing:
        """What is known, with what a comparison says to be different."""
        changed = {one.path: one.sha for one in compared.files}
        sized = {path: (sha, UNKNOWN_SIZE) for path, sha in changed.items() if sha}
        new = await self._new(commit, known, sized, told, compared.left_out)
        files = {**self._notes(known)}
        for path in changed:
            files.pop(path, None)
        left_out = {path: why for path, why in known.left_out.items() if path not in changed}
        found = {"files": files | new.files, "left_out": left_out | new.left_out}
        return new.model_copy(update=found)

    def _notes(self, known: Listing) -> Mapping[str, ListedFile]:
        """The files of a listing that are notes: all, where it was made with these settings."""
        if known.selection == self._source.selection:
            return known.files
        return {path: one for path, one in known.files.items() if self._source.is_note(path)}

    async def _compared(self, base: str, head: str) -> Comparison | None:
        """What changed; None where the comparison does not lead to the head, or not wholly."""
        if not base:
            return None
        try:
            compared = await self._retry.ask(lambda: self._repository.compare(base, head))
        except SourceFailed as failure:
            if failure.code == "NOT_FOUND":
                return None  # a force push has taken the old commit away
            raise
        return compared if compared.complete else None

    async def _dated(
        self,
        commit: str,
        known: Listing,
        found: Mapping[str, tuple[str, int]],
        told: Mapping[str, datetime],
    ) -> dict[str, datetime]:
        """When each file was last committed: as known, as pushed, as Git says, or this commit's."""
        dates = {}
        for path, (sha, _) in found.items():
            before = known.files.get(path)
            if before is not None and before.sha == sha:
                dates[path] = before.date
            elif path in told:
                dates[path] = told[path]
        unknown = found.keys() - dates.keys()
        if unknown:
            history = await self._repository.dates(commit) or {}
            dates |= {path: history[path] for path in unknown & history.keys()}
        if unknown := found.keys() - dates.keys():
            moment = await self._retry.ask(lambda: self._repository.committed(commit))
            dates |= dict.fromkeys(unknown, moment)
        return dates


def _listed(known: ListedFile | None, sha: str, size: int, date: datetime) -> ListedFile:
    """What is said of a file: what is known already, as of most files of a large branch."""
    if known is not None and (known.sha, known.size, known.date) == (sha, size, date):
        return known
    return ListedFile(sha=sha, size=size, date=date)


def _sized(files: Iterable[TreeFile]) -> dict[str, tuple[str, int]]:
    """Blob and size of files, by their paths."""
    return {one.path: (one.sha, one.size) for one in files}
