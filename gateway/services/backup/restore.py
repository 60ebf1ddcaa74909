"""Put a backup back: digests first, then an empty place, then a look at what is there."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import ValidationError

from gateway.services.backup.archive import (
    DATA,
    DUMP,
    MANIFEST,
    RESTORING,
    BackupImpossible,
    FileDigest,
    Manifest,
    reason,
    row_counts,
)
from gateway.services.backup.postgres_dump import counts, is_empty, put_back

__all__ = ["restore", "verify"]

_COPY_BYTES = 1024 * 1024
_OURS = {".gitignore", RESTORING, "lost+found"}
"""What an empty data directory may hold: also what an ended restore, or making the disk, left."""


def restore(archive: Path, data_dir: Path, database: str) -> Manifest:
    """Put a backup into an empty data directory, and into an empty PostgreSQL database.

    Every digest is checked before anything is written. What is put back lies in a directory of its
    own there until it is whole: the place may be a volume, or the only one that the portal's user
    may write to.

    Args:
        archive: the backup.
        data_dir: where it goes: a directory that is empty, or not there yet.
        database: the resolved address of the database that it goes into.

    Raises:
        BackupImpossible: the archive is damaged or does not fit here, or the place is not empty or
            cannot be written to.
    """
    manifest = _checked(archive)
    kind = "sqlite" if database == "sqlite" else "postgresql"
    if kind != manifest.database:
        raise BackupImpossible(
            f"{archive} holds a {manifest.database} database, and services.database names "
            f"{kind}. Name a database of the same kind in portal.yaml."
        )
    try:
        with _place(data_dir) as draft:
            _unpack(archive, draft)
            _put_back_database(draft / DUMP, database)
            (draft / ".gitignore").write_text("*\n")
            for path in sorted(draft.iterdir(), key=lambda path: path.suffix == ".db"):
                path.rename(data_dir / path.name)
    except OSError as error:
        raise BackupImpossible(
            f"{data_dir} cannot be filled: {reason(error)}. Nothing is left there; mend that, or "
            "name another directory with --data."
        ) from None
    return manifest


@contextmanager
def _place(data_dir: Path) -> Iterator[Path]:
    """Where to unpack, inside an empty data directory; one that is made here goes where it fails.

    Raises:
        BackupImpossible: the directory is not empty.
    """
    is_made = not data_dir.exists()
    if not is_made and {path.name for path in data_dir.iterdir()} - _OURS:
        raise BackupImpossible(
            f"{data_dir} is not empty; name another with --data, or move away what is there."
        )
    draft = data_dir / RESTORING
    shutil.rmtree(draft, ignore_errors=True)
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        draft.mkdir(mode=0o700)
        yield draft
    except BaseException:
        shutil.rmtree(data_dir if is_made else draft, ignore_errors=True)
        raise
    draft.rmdir()


def verify(manifest: Manifest, data_dir: Path, database: str) -> list[str]:
    """Open what was put back and compare it with what was backed up.

    Returns:
        A sentence for each difference; none where all is well.
    """
    rows: dict[str, int] = {}
    wrong = []
    for name in {each.rpartition("/")[0] for each in manifest.rows if "/" in each}:
        file = data_dir / name
        with closing(sqlite3.connect(file)) as opened:
            (found,) = opened.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            wrong.append(f"{name} is damaged: {found}.")
        rows |= row_counts(file, name)
    if manifest.database == "postgresql":
        rows |= counts(database)
    for table in sorted(manifest.rows.keys() | rows.keys()):
        before, now = manifest.rows.get(table), rows.get(table)
        if before != now:
            wrong.append(f"{table} had {before} rows and has {now}.")
    return wrong


def _checked(archive: Path) -> Manifest:
    """The manifest of an archive, all of whose files are what it says."""
    try:
        text, found = _read(archive)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise BackupImpossible(f"{archive} cannot be read: {error}.") from None
    if not text:
        raise BackupImpossible(f"{archive} has no manifest: it is no backup, or not a whole one.")
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError:
        raise BackupImpossible(
            f"The manifest of {archive} cannot be read; restore with the version that wrote it."
        ) from None
    for name in sorted(manifest.files.keys() | found.keys()):
        if manifest.files.get(name) != found.get(name):
            raise BackupImpossible(f"{archive} is damaged: {name} is not what was backed up.")
    return manifest


def _read(archive: Path) -> tuple[bytes, dict[str, FileDigest]]:
    """The manifest's text, and what all other files are."""
    text, found = b"", {}
    for name, file in _members(archive):
        if name == MANIFEST:
            text = file.read()
            continue
        digest, size = hashlib.sha256(), 0
        while piece := file.read(_COPY_BYTES):
            digest.update(piece)
            size += len(piece)
        found[name] = FileDigest(size=size, sha256=digest.hexdigest())
    return text, found


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Every file of an archive, in its order.

    Raises:
        BackupImpossible: it holds something that no backup holds.
    """
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isreg() else None
            if file is None or not _is_ours(member.name):
                raise BackupImpossible(f"{archive} is no backup: it holds {member.name!r}.")
            yield member.name, file


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    inside = name.startswith(DATA) and ".." not in path.parts and len(path.parts) > 1
    return inside or name in {MANIFEST, DUMP}


def _unpack(archive: Path, place: Path) -> None:
    for name, file in _members(archive):
        if name == MANIFEST:
            continue
        target = place / name.removeprefix(DATA)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target.touch(mode=0o600)
        with target.open("wb") as written:
            shutil.copyfileobj(file, written, _COPY_BYTES)


def _put_back_database(file: Path, database: str) -> None:
    if database == "sqlite":
        return
    try:
        if not is_empty(database):
            raise BackupImpossible(
                "The database that services.database names has tables already; name an empty one."
            )
        put_back(database, file)
    except (OSError, ValueError) as error:
        raise BackupImpossible(str(error)) from None
    file.unlink()
