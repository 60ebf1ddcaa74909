"""Writes single files below a directory on this machine, and nothing outside of it. It blocks.

No link is followed on the way: a path is opened step by step, and whatever is no folder ends it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from gateway.repositories import paths
from gateway.repositories.errors import Place, SourceFailed

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_MODE = 0o644


def write_file(root: Path, path: str, content: bytes) -> None:
    """Write a file whole, in place of one that is there, and make the folders that it lies in.

    Args:
        root: the directory; it is there.
        path: from it, as :mod:`gateway.repositories.paths` allows it.
        content: the file's bytes.

    Raises:
        SourceFailed: the path is not allowed, leads through a link, or cannot be written.
    """
    name = paths.checked(path, "path").rpartition("/")[2]
    with _told(root, path), _folder(root, path, make=True) as folder:
        draft = f".{secrets.token_hex(8)}.part"
        try:
            with os.fdopen(os.open(draft, _NEW, _MODE, dir_fd=folder), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            raise


def remove_file(root: Path, path: str, upto: str) -> None:
    """Remove a file, and the folders that it leaves empty; one that is not there is none to remove.

    Args:
        root: the directory.
        path: from it.
        upto: a folder around the file, which stays.

    Raises:
        SourceFailed: the path is not allowed, leads through a link, or cannot be removed.
    """
    name = paths.checked(path, "path").rpartition("/")[2]
    with _told(root, path):
        try:
            with _folder(root, path, make=False) as folder:
                os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return
        around = path.rpartition("/")[0]
        while paths.is_below(around, upto) and around:
            try:
                with _folder(root, around, make=False) as folder:
                    os.rmdir(around.rpartition("/")[2], dir_fd=folder)
            except OSError:  # something else is in it
                return
            around = around.rpartition("/")[0]


@contextlib.contextmanager
def _folder(root: Path, path: str, *, make: bool) -> Iterator[int]:
    """A descriptor of the folder that a path lies in."""
    folder = os.open(root.resolve(strict=True), _FOLDER)
    try:
        for each in path.split("/")[:-1]:
            if each.casefold() in {".git", "git~1"}:
                raise SourceFailed("INVALID_PATH", f"{path} lies in Git's own folder.")
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(each, dir_fd=folder)
            below = os.open(each, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def _told(root: Path, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = (
            f"{path} cannot be written in {root.name}: {error.strerror}. The portal's admin must "
            "let the portal write there."
        )
        raise SourceFailed("UPSTREAM_ERROR", message, Place(root.name, path)) from None
