"""A backup: one archive of what cannot be built again, taken while the portal runs.

The archive is a gzipped tar with a manifest at its end: the portal's version, each file's digest,
and how many rows each table has. SQLite files are copied by SQLite's online backup, which sees
one instant of each and stops no writer; PostgreSQL by ``pg_dump``, at the instant at which its
rows are counted. What can be built again stays out: the search index, and every directory of a
plugin that is marked as a cache (:func:`gateway.contract.rebuildable`).

Whatever is in the making lies beside the archive, under names of its own, and is locked for as long
as its backup runs: what an ended one has left is taken up by the next of that name.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import shutil
import sqlite3
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from gateway.contract.directories import CACHE_TAG
from gateway.services.backup.postgres_dump import dump

__all__ = [
    "DUMP",
    "MANIFEST",
    "RESTORING",
    "BackupImpossible",
    "FileDigest",
    "Manifest",
    "back_up",
    "row_counts",
]

MANIFEST = "manifest.json"
DUMP = "postgres.dump"
DATA = "data/"
"""The archive's directory of the data directory's files."""
_SQLITE = b"SQLite format 3\0"
_COMPANIONS = ("-wal", "-shm", "-journal")
RESTORING = ".restoring"
"""The directory, in a data directory, of what is being put back into it."""
_LEFT_OUT = {"vectors", "portal.lock", "portal.sock", ".gitignore"}
_UNFINISHED = (RESTORING, ".backup-")
"""How directories begin that a restore, or a backup of an earlier version, was ended in."""
_FIRST = "jobs.db"
"""Copied before all else: what a job in it has yet to do may have been done, never the reverse."""


class BackupImpossible(Exception):
    """The backup cannot be made or put back; the message says why and what to do."""


class FileDigest(BaseModel):
    """One file of a backup: its size in bytes and its SHA-256."""

    model_config = ConfigDict(frozen=True)

    size: int
    sha256: str


class Manifest(BaseModel):
    """What a backup holds.

    Attributes:
        format: the version of the archive's own form.
        porch: the version of the portal that was backed up.
        created: when.
        database: where people, records and plugins' tables were kept.
        files: every file of the archive.
        rows: how many rows each table has, by ``FILE/TABLE`` or PostgreSQL's ``SCHEMA.TABLE``.
        left_out: what is not in the archive, in words.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    porch: str
    created: datetime
    database: Literal["sqlite", "postgresql"]
    files: dict[str, FileDigest]
    rows: dict[str, int]
    left_out: tuple[str, ...] = ()


def back_up(data_dir: Path, database: str, objects: str, archive: Path) -> Manifest:
    """Write a backup, beside a portal that runs or without one.

    The archive is its user's alone (it holds the signing key), and is there only once it is whole.

    Args:
        data_dir: the portal's data directory.
        database: the database's resolved address.
        objects: the address of the object store.
        archive: the file to write, which is not there yet.

    Raises:
        BackupImpossible: there is nothing to back up, the file is there already, its directory
            is not or may not be written to, another backup is writing it, the disk is full, or a
            database cannot be copied.
    """
    if archive.exists():
        raise BackupImpossible(f"{archive} is there already; name another file.")
    if not archive.parent.is_dir():
        raise BackupImpossible(f"{archive.parent} is not there; make it, or name another FILE.")
    if not os.access(archive.parent, os.W_OK):
        raise BackupImpossible(f"{archive.parent} may not be written to; name another FILE.")
    if not data_dir.is_dir():
        raise BackupImpossible(f"{data_dir} is not there; name the data directory with --data.")
    try:
        with _draft(archive) as (raw, copies):
            with tarfile.open(fileobj=raw, mode="w:gz") as tar:
                manifest = _Writing(tar, data_dir, copies).all(database, objects)
            Path(raw.name).rename(archive)
    except (OSError, sqlite3.Error) as error:
        raise BackupImpossible(
            f"{archive} cannot be written: {reason(error)}. It takes the right to read "
            f"{data_dir}, and room for itself and for a copy of each database in turn. Nothing "
            "is left of it."
        ) from None
    return manifest


def reason(error: Exception) -> str:
    """What the system, or SQLite, says was wrong, and with which file."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.strerror} ({error.filename})" if error.filename else error.strerror


def row_counts(file: Path, name: str) -> dict[str, int]:
    """How many rows each ordinary table of a SQLite file has, by ``NAME/TABLE``."""
    with closing(_read_only(file)) as database:
        tables = database.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        ).fetchall()
        counts = {}
        for (table,) in tables:
            quoted = table.replace('"', '""')
            query = f'SELECT count(*) FROM "{quoted}"'  # noqa: S608  (a name of the schema)
            counts[f"{name}/{table}"] = int(database.execute(query).fetchone()[0])
        return counts


@contextmanager
def _draft(archive: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """The file that is to be the archive, and a directory for copies; both are gone in the end."""
    draft = archive.with_name(f".{archive.name}.part")
    copies = archive.with_name(f".{archive.name}.copies")
    with open(draft, "ab", opener=_private) as raw:
        try:
            fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = draft.exists() and os.path.samestat(draft.stat(), os.fstat(raw.fileno()))
        except BlockingIOError:
            is_ours = False
        if not is_ours:
            raise BackupImpossible(f"Another backup is writing {archive}; name another FILE.")
        try:
            raw.truncate(0)
            shutil.rmtree(copies, ignore_errors=True)
            copies.mkdir(mode=0o700)
            yield raw, copies
        finally:
            shutil.rmtree(copies, ignore_errors=True)
            draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read_only(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)


class _Writing:
    """Adds to an archive, and remembers what."""

    def __init__(self, tar: tarfile.TarFile, data_dir: Path, copies: Path) -> None:
        self._tar = tar
        self._data_dir = data_dir
        self._copies = copies
        self._draft = copies.with_suffix(".part").absolute()
        self._files: dict[str, FileDigest] = {}
        self._rows: dict[str, int] = {}
        self._left_out: list[str] = []

    def all(self, database: str, objects: str) -> Manifest:
        embedded = database == "sqlite"
        if not embedded:
            self._postgres(database)
        for path in self._paths():
            self._add_path(path)
        if objects != "embedded" and not self._is_inside(objects):
            self._left_out.append(f"the documents in {objects}, built again from the content")
        manifest = Manifest(
            porch=version("porch"),
            created=datetime.now(UTC),
            database="sqlite" if embedded else "postgresql",
            files=self._files,
            rows=self._rows,
            left_out=tuple(self._left_out),
        )
        content = manifest.model_dump_json(indent=2).encode()
        self._add(MANIFEST, io.BytesIO(content), len(content))
        return manifest

    def _is_inside(self, objects: str) -> bool:
        return "://" not in objects and Path(objects).is_relative_to(self._data_dir)

    def _paths(self) -> Iterator[Path]:
        """The files to copy, the jobs first and what databases speak of last."""
        first = self._data_dir / _FIRST
        if first.exists():
            yield first
        databases = sorted(self._data_dir.glob("*.db"))
        yield from (path for path in databases if path != first)
        for folder, directories, names in os.walk(self._data_dir):
            place = Path(folder)
            top = place == self._data_dir
            directories[:] = [each for each in directories if self._is_kept(place / each, top)]
            own = {path.name for path in databases} if top else set()
            for name in sorted(set(names) - own - (_LEFT_OUT if top else set())):
                if not name.endswith(_COMPANIONS):
                    yield place / name

    def _is_kept(self, directory: Path, top: bool) -> bool:
        if (top and directory.name in _LEFT_OUT) or (directory / CACHE_TAG).exists():
            name = directory.relative_to(self._data_dir)
            self._left_out.append(f"{name}, which is built again")
            return False
        if top and directory.name.startswith(_UNFINISHED):
            self._left_out.append(f"{directory.name}, which was left unfinished: delete it")
            return False
        return directory.absolute() != self._copies.absolute()

    def _add_path(self, path: Path) -> None:
        if path.absolute() == self._draft:
            return
        name = str(path.relative_to(self._data_dir))
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return
                if file.read(len(_SQLITE)) != _SQLITE:
                    file.seek(0)
                    self._add(DATA + name, file, status.st_size)
                    return
        except FileNotFoundError:
            return  # deleted since it was listed
        self._add_database(path, name)

    def _add_database(self, path: Path, name: str) -> None:
        with tempfile.TemporaryDirectory(dir=self._copies) as place:
            copy = Path(place) / "copy.db"
            with closing(_read_only(path)) as live, closing(sqlite3.connect(copy)) as target:
                live.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            self._rows |= row_counts(copy, name)
            with copy.open("rb") as file:
                self._add(DATA + name, file, copy.stat().st_size)

    def _postgres(self, database: str) -> None:
        with tempfile.TemporaryDirectory(dir=self._copies) as place:
            file = Path(place) / DUMP
            try:
                self._rows |= dump(database, file)
            except (OSError, ValueError) as error:
                raise BackupImpossible(str(error)) from None
            with file.open("rb") as content:
                self._add(DUMP, content, file.stat().st_size)

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        info.mtime = int(datetime.now(UTC).timestamp())
        reader = _Hashing(file)
        self._tar.addfile(info, reader)  # type: ignore[arg-type]  # it reads, and no more is asked
        self._files[name] = FileDigest(size=size, sha256=reader.digest.hexdigest())


class _Hashing:
    """A file that is digested as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Read the next piece."""
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece
