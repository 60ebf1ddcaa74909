"""Reads a repository's tarball from its beginning to its end, without unpacking it.

Nothing is written under a name that the archive chooses, and it cannot make the portal read or
hold much more than it is large.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zlib
from collections.abc import Callable, Generator, Mapping
from typing import IO

from gateway.repositories import paths
from gateway.repositories.blobs import streamed
from gateway.repositories.protocol import Entry

MAX_COMPRESSED_BYTES = 256 * 1024 * 1024
"""Bytes of a tarball as it is sent."""
MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
"""Bytes of everything in it."""
MAX_MEMBERS = 250_000
"""Files and folders in it: a base of 100,000 documents has folders, and other files, too."""
MAX_RATIO = 100
"""How many times larger than itself it may become, once that is more than what is exempt."""
RATIO_EXEMPT_BYTES = 64 * 1024 * 1024

_HEX = frozenset("0123456789abcdef")


class BadTarball(Exception):
    """The tarball is broken, or too large; the message is the end of a sentence."""


class Tarball:
    """One tarball; :meth:`entries` reads it once, and blocks.

    Args:
        file: the archive, from its beginning.
        size: its bytes.
        largest: bytes up to which a file's content is kept.
        left_out: told the path of what is passed over, and why.
    """

    def __init__(
        self, file: IO[bytes], size: int, largest: int, left_out: Callable[[str, str], None]
    ) -> None:
        self._file = file
        self._most = min(MAX_UNPACKED_BYTES, max(RATIO_EXEMPT_BYTES, size * MAX_RATIO))
        self._largest = largest
        self._left_out = left_out
        self.commit: str | None = None

    def entries(self, below: str) -> Generator[Entry]:
        """Every file below a folder, in the order of the archive.

        Raises:
            BadTarball: it cannot be read to its end.
        """
        try:
            with self._unzipped() as plain:
                with tarfile.open(fileobj=_Counted(plain, self._most), mode="r|") as archive:
                    yield from self._members(archive, below)
                while plain.read(64 * 1024):  # the check sum stands at the end
                    pass
        except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
            raise BadTarball(f"sends a tarball that is broken ({type(error).__name__})") from None

    def _unzipped(self) -> IO[bytes]:
        start = self._file.read(2)
        self._file.seek(0)
        return gzip.open(self._file, "rb") if start == b"\x1f\x8b" else self._file  # type: ignore[return-value]

    def _members(self, archive: tarfile.TarFile, below: str) -> Generator[Entry]:
        count = 0
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # it would keep them all
            count += 1
            if count > MAX_MEMBERS:
                raise BadTarball(f"sends a tarball of more than {MAX_MEMBERS:,} files")
            self.commit = self.commit or _commit(archive.pax_headers)
            path = member.name.partition("/")[2]
            if not member.isdir() and path and paths.is_below(path, below):
                yield from self._entry(archive, member, path)

    def _entry(
        self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str
    ) -> Generator[Entry]:
        reason = paths.problem(path)
        if reason:
            self._left_out(path, f"its path {reason}")
        elif not member.isreg() or member.issparse():
            self._left_out(path, "it is a link, or no file")
        elif (file := archive.extractfile(member)) is not None:
            runs = bool(member.mode & stat.S_IXUSR)
            yield streamed(path, member.size, file.read, self._largest, executable=runs)


class _Counted(io.RawIOBase):
    """A file of which only so much is read."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        super().__init__()
        self._file = file
        self._left = most

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise BadTarball("sends a tarball that becomes too large when it is unpacked")
        return data


def _commit(headers: Mapping[str, str]) -> str | None:
    """The commit that ``git archive`` notes in its archives."""
    comment = headers.get("comment", "")
    return comment if len(comment) in {40, 64} and _HEX.issuperset(comment) else None
