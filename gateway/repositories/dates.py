"""When files were last committed, from one pass over a history, and what a commit holds of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from gateway.repositories.blobs import blob_sha
from gateway.repositories.git import GitFailed, run

PASS_TIMEOUT_SECONDS = 120.0
"""How long one pass may take."""

# One line for each commit, then its files; of a merge none are listed.
_LOG = ("log", "--format=%x01%ct", "--name-only", "-z", "--no-renames")


class Checkout:
    """A directory that is, or lies in, a Git checkout. Its methods block; call them in a thread.

    Args:
        directory: the directory; paths are relative to it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._dates: tuple[str, dict[str, datetime]] = ("", {})
        self._blobs: tuple[str, dict[str, bytes]] = ("", {})

    def commit(self) -> str:
        """The full id of the commit that is checked out; an empty text outside of Git."""
        try:
            return run(self._directory, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
        except GitFailed:
            return ""

    def dates(self, commit: str) -> dict[str, datetime]:
        """When each file was last committed, by its path; one pass over the history.

        Args:
            commit: the commit that is checked out; the last answer is kept for it.
        """
        if not commit:
            return {}
        if self._dates[0] != commit:
            try:
                dates = last_dates(self._directory, "--relative", commit, "--", ".")
            except GitFailed:
                dates = {}
            self._dates = (commit, dates)
        return self._dates[1]

    def holds(self, commit: str, path: str, content: bytes) -> bool:
        """Whether a commit has a file with just this content; one listing for all of its files.

        Git itself is not asked what has changed: it would start what the checkout names to filter
        files.

        Args:
            commit: the commit that is checked out; its listing is kept.
            path: of the file.
            content: its bytes.
        """
        return self._listed(commit).get(path) == bytes.fromhex(blob_sha(content))

    def has(self, commit: str, path: str) -> bool:
        """Whether a commit has a file at a path, whatever is in it."""
        return path in self._listed(commit)

    def _listed(self, commit: str) -> dict[str, bytes]:
        """The ids of a commit's files, by their paths."""
        if not commit:
            return {}
        if self._blobs[0] != commit:
            try:
                listing = run(self._directory, "ls-tree", "-r", "-z", commit)
            except GitFailed:
                listing = b""
            self._blobs = (commit, dict(_blobs(listing.decode(errors="surrogateescape"))))
        return self._blobs[1]


def _blobs(listing: str) -> Iterator[tuple[str, bytes]]:
    for line in filter(None, listing.split("\0")):
        described, _, path = line.partition("\t")
        yield path, bytes.fromhex(described.split()[2])


def last_dates(directory: Path, *span: str) -> dict[str, datetime]:
    """When each file was last committed, by its path.

    Args:
        directory: a checkout, or a bare repository.
        span: the commit, and what else narrows the history.

    Raises:
        GitFailed: Git cannot read it.
    """
    log = run(directory, *_LOG, *span, seconds=PASS_TIMEOUT_SECONDS).decode(
        errors="surrogateescape"
    )
    dates: dict[str, datetime] = {}
    date = datetime.fromtimestamp(0, UTC)
    for part in log.split("\0"):  # the newest commit is first, so a path's first date is its last
        if part.startswith("\x01"):
            date = datetime.fromtimestamp(int(part[1:]), UTC)
        elif path := part.removeprefix("\n"):
            dates.setdefault(path, date)
    return dates
