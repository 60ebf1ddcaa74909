"""A repository on this machine: a directory as it lies there, or a branch of a Git checkout."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from gateway.repositories import paths, working_tree
from gateway.repositories.batches import in_batches
from gateway.repositories.blobs import blob_sha
from gateway.repositories.branch import Blob, Branch
from gateway.repositories.errors import Place, SourceFailed, TooLarge
from gateway.repositories.exclusions import LeavingOut
from gateway.repositories.git import GitFailed
from gateway.repositories.protocol import A_LINK, Entry, File, Known, LeftOut, NotModified
from gateway.repositories.stamps import stamp


class LocalRepository:
    """A directory. Reading it needs no network and no credential.

    Args:
        directory: the repository's root.
        branch: the branch whose committed state counts, or None for the files as they lie there.
        max_file: the largest file that is served, in bytes.
        serves: what links of the files as they lie there may lead to, by its own path.
    """

    def __init__(
        self,
        directory: Path,
        branch: str | None,
        max_file: int,
        serves: working_tree.Serves = working_tree.everything,
    ) -> None:
        self._directory = directory
        self._branch = branch
        self._max_file = max_file
        self._serves = serves

    @property
    def repo(self) -> str:
        """The directory's name."""
        return self._directory.name

    @property
    def branch(self) -> str | None:
        """The branch, or None for the files as they lie there."""
        return self._branch

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[LocalSnapshot]:
        """Open the whole tree (see :class:`Repository`)."""
        await asyncio.to_thread(self._must_be_there)
        commit = await asyncio.to_thread(self._commit) if self._branch else None
        yield LocalSnapshot(
            self._directory, self.place(), self._branch, commit, self._max_file, self._serves
        )

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`); a credential says nothing here."""
        content = await asyncio.to_thread(self._read, path)
        sha = blob_sha(content)
        return NotModified() if known is not None and known.sha == sha else File(path, content, sha)

    async def stamp(self, below: str = "") -> str | None:
        """What changes whenever a file below a folder does, found without reading any.

        Args:
            below: a folder from the root; everything where it is empty.

        Returns:
            The stamp, or None where only reading tells.
        """
        if self._branch is None:
            return await asyncio.to_thread(stamp, self._directory / below)
        try:
            return await asyncio.to_thread(self._commit)
        except SourceFailed:
            return None

    def place(self, path: str | None = None) -> Place:
        """How errors name this repository, or a file of it."""
        return Place(self.repo, path, self._branch)

    def _must_be_there(self) -> None:
        if not self._directory.is_dir():
            message = f"The directory {self.repo} is not there. The portal's admin must look."
            raise SourceFailed("NOT_FOUND", message, self.place())

    def _commit(self) -> str:
        assert self._branch is not None  # noqa: S101  (the callers look)
        try:
            commit = Branch(self._directory, self._branch).commit()
        except GitFailed as failure:
            message = f"{self.repo} cannot be read as a Git checkout: {failure}."
            raise SourceFailed("UPSTREAM_ERROR", message, self.place()) from None
        if commit is None:
            message = f"{self.repo} has no branch {self._branch}."
            raise SourceFailed("NOT_FOUND", message, self.place())
        return commit

    def _read(self, path: str) -> bytes:
        paths.checked(path, "path")
        self._must_be_there()
        content = self._committed(path) if self._branch else self._lying_there(path)
        if isinstance(content, int):
            raise too_large(self.place(path), content, self._max_file)
        return content

    def _lying_there(self, path: str) -> bytes | int:
        try:
            return working_tree.read(self._directory, path, self._max_file, self._serves)
        except working_tree.Outside:
            message = f"{path} leads to what is not served of {self.repo}, and is not read."
            raise SourceFailed("INVALID_PATH", message, self.place(path)) from None
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise self._missing(path) from None
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}."
            raise SourceFailed("UPSTREAM_ERROR", message, self.place(path)) from None

    def _committed(self, path: str) -> bytes | int:
        commit = self._commit()
        branch = Branch(self._directory, self._branch or "")
        try:
            blob = next((blob for blob in branch.blobs(commit, path) if blob.path == path), None)
            if blob is None or not blob.is_file:
                raise self._missing(path)
            return branch.content(blob) if blob.size <= self._max_file else blob.size
        except GitFailed as failure:
            message = f"{path} cannot be read: {failure}."
            raise SourceFailed("UPSTREAM_ERROR", message, self.place(path)) from None

    def _missing(self, path: str) -> SourceFailed:
        where = f" at {self._branch}" if self._branch else ""
        message = f"There is no file {path} in {self.repo}{where}."
        return SourceFailed("NOT_FOUND", message, self.place(path))


class LocalSnapshot:
    """A directory, or a commit of a checkout (see :class:`Snapshot`).

    Args:
        directory: the repository's root.
        place: how errors name it.
        branch: the branch, or None for the files as they lie there.
        commit: the branch's commit.
        max_file: bytes up to which a file's content is kept.
        serves: what links of the files as they lie there may lead to.
    """

    def __init__(
        self,
        directory: Path,
        place: Place,
        branch: str | None,
        commit: str | None,
        max_file: int,
        serves: working_tree.Serves,
    ) -> None:
        self._directory = directory
        self._place = place
        self._branch = branch
        self._commit = commit
        self._max_file = max_file
        self._serves = serves
        self._left_out = LeavingOut()

    @property
    def commit(self) -> str | None:
        """The commit's id, or None for the files as they lie there."""
        return self._commit

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The files that were left out."""
        return self._left_out.files

    async def files(self, below: str = "") -> AsyncGenerator[Entry]:
        """Every file below a folder (see :class:`Snapshot`)."""
        entries = self._committed(below) if self._commit else self._lying_there(below)
        async with aclosing(in_batches(entries)) as found:
            async for entry in found:
                yield entry

    def _lying_there(self, below: str) -> Generator[Entry]:
        try:
            yield from working_tree.walk(
                self._directory, below, self._max_file, self._left_out.report, self._serves
            )
        except working_tree.Outside:
            message = f"The folder {below} leads out of {self._place.repo}."
            raise SourceFailed("INVALID_PATH", message, self._below(below)) from None
        except (FileNotFoundError, NotADirectoryError):
            raise no_folder(self._below(below)) from None
        except OSError as error:
            message = f"{self._place.repo} cannot be read: {error.strerror}."
            raise SourceFailed("UPSTREAM_ERROR", message, self._below(below)) from None

    def _committed(self, below: str) -> Generator[Entry]:
        branch = Branch(self._directory, self._branch or "")
        seen = False

        def wanted() -> Generator[Blob]:
            nonlocal seen
            for blob in branch.blobs(self._commit or ""):
                if paths.is_below(blob.path, below):
                    seen = True
                    if reason := _reason(blob):
                        self._left_out.report(blob.path, reason)
                    else:
                        yield blob

        try:
            yield from branch.entries(wanted(), self._max_file)
        except GitFailed as failure:
            message = f"{self._place.repo} cannot be read: {failure}."
            raise SourceFailed("UPSTREAM_ERROR", message, self._below(below)) from None
        if below and not seen:
            raise no_folder(self._below(below))

    def _below(self, below: str) -> Place:
        return Place(self._place.repo, below or None, self._place.branch)


def _reason(blob: Blob) -> str | None:
    """Why an entry of a tree is left out, or None for a file that is served."""
    if not blob.is_file:
        return A_LINK
    reason = paths.problem(blob.path)
    return f"its path {reason}" if reason else None


def too_large(place: Place, size: int, largest: int, setting: str = "max_file") -> TooLarge:
    """The error for a file that is larger than the portal serves."""
    message = (
        f"{place.path} has {size:,} bytes; this portal serves files up to {largest:,} bytes "
        f"({setting})."
    )
    return TooLarge(message, place, size)


def no_folder(place: Place) -> SourceFailed:
    """The error for a source whose folder is not in its repository."""
    where = f" at {place.branch}" if place.branch else ""
    message = f"There is no folder {place.path} in {place.repo}{where}."
    return SourceFailed("NOT_FOUND", message, place)
