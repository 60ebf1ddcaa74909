"""Reads one branch of a Git checkout on this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.repositories.blobs import streamed
from gateway.repositories.git import GitFailed, command, environment, run
from gateway.repositories.protocol import Entry

_EXECUTABLE = "100755"
_FILE_MODES = {"100644", _EXECUTABLE}


@dataclass(frozen=True, slots=True)
class Blob:
    """A line of ``git ls-tree``: a file, or something else by its mode.

    Attributes:
        mode: ``100644`` or ``100755`` for a file, ``120000`` for a link, ``040000`` for a folder.
        sha: the object's id.
        size: in bytes; 0 for what is no file.
        path: from the directory that was asked.
    """

    mode: str
    sha: str
    size: int
    path: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, and neither a link, a folder nor a submodule."""
        return self.mode in _FILE_MODES


class Branch:
    """One branch of the checkout in which a directory lies. Its methods block.

    Args:
        directory: paths are relative to it.
        name: the branch, a tag or a commit.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._name = name

    def commit(self) -> str | None:
        """The id of the branch's commit, or None where there is no such branch.

        Raises:
            GitFailed: the directory is no checkout, or Git cannot read it.
        """
        self._run("rev-parse", "--git-dir")
        try:
            asked = f"{self._name}^{{commit}}"
            return self._run("rev-parse", "--verify", "--quiet", "--end-of-options", asked).strip()
        except GitFailed:
            return None

    def blobs(self, commit: str, path: str | None = None) -> Iterator[Blob]:
        """Everything below the directory, or what is at one path.

        Raises:
            GitFailed: Git cannot read it.
        """
        where = ("-r", commit) if path is None else (commit, "--", path)
        listing = self._run("ls-tree", "-z", "-l", *where)
        for line in listing.split("\0"):
            if line:
                described, _, name = line.partition("\t")
                mode, _, sha, size = described.split()
                yield Blob(mode, sha, int(size) if size.isdigit() else 0, name)

    def content(self, blob: Blob) -> bytes:
        """The bytes of a file.

        Raises:
            GitFailed: Git cannot read it.
        """
        return run(self._directory, "cat-file", "blob", blob.sha)

    def entries(self, blobs: Iterator[Blob], largest: int) -> Iterator[Entry]:
        """Read many files through one process, each once.

        Args:
            blobs: the files.
            largest: bytes up to which a file's content is kept.

        Raises:
            GitFailed: Git stops.
        """
        with subprocess.Popen(  # noqa: S603  (a fixed program, no shell)
            command(self._directory, "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        ) as process:
            try:
                for blob in blobs:
                    yield _read(blob, process, largest)
            except (OSError, EOFError) as error:
                raise GitFailed(f"git stopped: {error}") from None
            finally:
                process.kill()

    def _run(self, *arguments: str) -> str:
        return run(self._directory, *arguments).decode(errors="surrogateescape")


def _read(blob: Blob, process: subprocess.Popen[bytes], largest: int) -> Entry:
    asks, answers = process.stdin, process.stdout
    assert asks is not None  # noqa: S101  (both are pipes)
    assert answers is not None  # noqa: S101
    asks.write(blob.sha.encode() + b"\n")
    asks.flush()
    header = answers.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        raise GitFailed("git does not find a file that its own tree names")
    runs = blob.mode == _EXECUTABLE
    read_entry = streamed(blob.path, int(header[2]), answers.read, largest, executable=runs)
    answers.read(1)
    return read_entry
