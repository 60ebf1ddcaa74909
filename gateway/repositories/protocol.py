"""The protocol of repositories, whichever backend reads them.

Every path begins at the repository's root; what lies in front of a source's entries is the
source's own ``path``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, as a snapshot finds it.

    Attributes:
        path: from the repository's root.
        size: in bytes.
        sha: the id of its Git blob (SHA-1).
        digest: the SHA-256 of its bytes, in hexadecimal digits.
        content: its bytes, or None where it is larger than the largest file that is served.
        executable: whether its owner may run it.
    """

    path: str
    size: int
    sha: str
    digest: str
    content: bytes | None
    executable: bool = False


A_LINK = "it is a link or a submodule"
"""Why what is no file of its own is passed over; what it leads to is served where that lies."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that a snapshot passes over, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class File:
    """One file, as a read finds it.

    Attributes:
        path: from the repository's root.
        content: its bytes.
        sha: the id of its Git blob.
        etag: what the server knows this state of the file by, for the next conditional request.
    """

    path: str
    content: bytes
    sha: str
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """The state of a file that the one who asks has already."""

    sha: str
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class NotModified:
    """The file is as the one who asks knows it."""


ComparisonStatus = Literal["identical", "ahead", "behind", "diverged"]
"""How one commit is related to another."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file of a tree.

    Attributes:
        path: from the repository's root.
        sha: the id of its Git blob; equal ids mean equal bytes.
        size: in bytes.
    """

    path: str
    sha: str
    size: int


@dataclass(frozen=True, slots=True)
class Tree:
    """Every file at a commit.

    Attributes:
        commit: the commit's id.
        files: in the order of Git's trees.
        left_out: links, submodules and paths that are not served; at most 100 of them.
        truncated: whether GitHub lists only some of the files, as there are too many; a snapshot
            holds all of them.
    """

    commit: str
    files: tuple[TreeFile, ...]
    left_out: tuple[LeftOut, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that differs between two commits. One that was renamed is removed and added.

    Attributes:
        path: from the repository's root.
        kind: ``added``, ``modified`` or ``removed``.
        sha: the id of its Git blob at the newer commit; an empty text where it is removed.
        previous: its path before, where it was renamed.
    """

    path: str
    kind: Literal["added", "modified", "removed"]
    sha: str = ""
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes from an older commit to a newer one.

    Attributes:
        status: where the newer one stands: it is ``identical``; ``ahead``, built upon the older;
            ``behind``, one of those that the older is built upon; or both have ``diverged``.
        files: what differs from the last commit that both have in common.
        left_out: changed paths that are not served; at most 100 of them.
        complete: whether ``files`` leads from the older commit to the newer one. It does not where
            they have diverged, as after a force push, nor where too many files have changed; then
            compare two trees.
    """

    status: ComparisonStatus
    files: tuple[Changed, ...]
    left_out: tuple[LeftOut, ...] = ()
    complete: bool = True


class Snapshot(Protocol):
    """The whole tree at one commit."""

    @property
    def commit(self) -> str | None:
        """The commit's id, where there is one; after the first file is read."""
        ...

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """What :meth:`files` has passed over so far; at most 100 of them."""
        ...

    def files(self, below: str = "") -> AsyncGenerator[Entry]:
        """Every file below a folder, in no fixed order, each read once; to be called once.

        Args:
            below: a folder from the root; everything where it is empty.

        Raises:
            SourceFailed: the repository cannot be read to its end.
        """
        ...


class Repository(Protocol):
    """A repository at one branch.

    Attributes:
        repo: how errors name it: ``owner/repo``, or the directory's name.
        branch: its branch, or None for a directory as it lies there.
    """

    @property
    def repo(self) -> str: ...  # noqa: D102

    @property
    def branch(self) -> str | None: ...  # noqa: D102

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open the whole tree, with the operator's credential; for the index.

        Raises:
            SourceFailed: it cannot be read.
        """
        ...

    async def stamp(self, below: str = "") -> str | None:
        """What changes whenever a file below a folder does, found without reading any.

        It is the commit where there is one. None says that only reading tells.

        Args:
            below: a folder from the root; everything where it is empty.

        Raises:
            SourceFailed: the repository does not say.
        """
        ...

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file.

        Args:
            path: from the repository's root; one that :mod:`gateway.repositories.paths` allows.
            credential: the caller's own, where the source asks for it.
            known: the state that is known already, for a conditional request.

        Raises:
            SourceFailed: it cannot be read.
        """
        ...
