"""What has become of one file: the commits that touched it, and what it said after each.

On this machine Git tells it, and follows renames; :mod:`gateway.repositories.remote_history` asks
GitHub.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gateway.repositories.branch import Blob, Branch
from gateway.repositories.git import run

_FORMAT = "%x01%H%x00%ct%x00%aN%x00%s"
"""What is said of a commit, before what it changed: its id, when, who, and its subject."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as one commit left it.

    Attributes:
        commit: the commit's id.
        date: when it was committed.
        author: who wrote it, as the repository shows them.
        subject: the first line of what the commit says of itself.
        path: the file's path then.
        content: its bytes, or None where it is larger than was asked for.
    """

    commit: str
    date: datetime
    author: str
    subject: str
    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class FileHistory:
    """The versions of a file.

    Attributes:
        versions: the newest first; commits that removed the file are none.
        older: whether there may be older ones than these.
        missing: why older ones cannot be told, where that is known; else an empty text.
    """

    versions: Sequence[FileVersion]
    older: bool = False
    missing: str = ""


@dataclass(frozen=True, slots=True)
class _Touch:
    """A commit that touched the file, and the blob that it left."""

    commit: str
    date: datetime
    author: str
    subject: str
    blob: Blob


def local_history(directory: Path, path: str, most: int, largest: int) -> FileHistory:
    """The commits that touched a file of the checkout that a directory is, or lies in. It blocks.

    Args:
        directory: where paths begin; what lies outside of it is never read.
        path: the file's path now.
        most: how many commits are looked at, at most.
        largest: bytes up to which a version's content is read.

    Raises:
        GitFailed: it is no checkout, or Git cannot read it.
    """
    listing = ("log", "--follow", "--relative", "-M", "--raw", "--no-abbrev", "-z")
    asked = (*listing, f"-n{most + 1}", f"--format={_FORMAT}", "HEAD", "--", path)
    touches = list(_touches(run(directory, *asked)))
    shallow = run(directory, "rev-parse", "--is-shallow-repository").strip() == b"true"
    kept = [each for each in touches[:most] if each.blob.is_file]
    older = len(touches) > most
    missing = "The checkout is shallow: what was before is not in it." if shallow else ""
    versions = _versions(Branch(directory, "HEAD"), kept, largest)
    return FileHistory(versions, older, "" if older else missing)


def _versions(branch: Branch, touches: Sequence[_Touch], largest: int) -> list[FileVersion]:
    entries = branch.entries((each.blob for each in touches), largest)
    return [
        FileVersion(
            each.commit, each.date, each.author, each.subject, each.blob.path, entry.content
        )
        for each, entry in zip(touches, entries, strict=True)
    ]


def _touches(log: bytes) -> Iterator[_Touch]:
    """The commits of a log in :data:`_FORMAT`, each followed by the one file that it changed."""
    parts = iter(log.split(b"\0"))
    for part in parts:
        if not part.startswith(b"\x01"):
            continue
        commit, seconds = part[1:].decode(), int(next(parts))
        author, subject = _text(next(parts)), _text(next(parts))
        described = next(parts, b"").lstrip(b"\n")
        if not described.startswith(b":"):  # it changed nothing, as a merge
            continue
        _, mode, _, sha, status = described[1:].decode().split()
        path = next(parts)
        if status[0] in "RC":
            path = next(parts)
        blob = Blob(mode, sha, 0, path.decode(errors="surrogateescape"))
        yield _Touch(commit, datetime.fromtimestamp(seconds, UTC), author, subject, blob)


def _text(said: bytes) -> str:
    return said.decode(errors="replace")
