"""Reads a directory as it lies there, and nothing outside of it. All of it blocks.

Links are followed as far as they lead to files in the directory that are served by their own path
too: a link counts as what it leads to. What a path leads to is then
opened step by step without following any, so that a link put there in between is refused too.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path, PurePosixPath

from gateway.repositories import paths
from gateway.repositories.blobs import streamed
from gateway.repositories.protocol import Entry

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
# Without O_NONBLOCK a named pipe would wait for someone to write.
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW | os.O_NONBLOCK


Serves = Callable[[str], bool]
"""Whether a file is served, by its path from the directory."""


class Outside(Exception):
    """A path leads out of the directory, into its ``.git``, or to what is not served."""


def everything(path: str) -> bool:
    """Says that every file is served."""
    return True


def read(root: Path, path: str, largest: int, serves: Serves = everything) -> bytes | int:
    """The file's bytes, or its size where it has more than ``largest`` bytes.

    Args:
        root: the directory.
        path: from the directory, as :mod:`gateway.repositories.paths` allows it.
        largest: bytes.
        serves: what a link may lead to.

    Raises:
        Outside: the path leads out of the directory, or to what is not served.
        OSError: there is no such file, or it cannot be read.
    """
    with os.fdopen(_opened(root.resolve(strict=True), path, serves), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            return size
        content = file.read(largest + 1)
        return content if len(content) <= largest else len(content)


def walk(
    root: Path,
    below: str,
    largest: int,
    left_out: Callable[[str, str], None],
    serves: Serves = everything,
) -> Generator[Entry]:
    """Every file below a folder, each read once; ``.git`` is passed over.

    Args:
        root: the directory.
        below: a folder in it, or an empty text.
        largest: bytes up to which a file's content is kept.
        left_out: told the path of what is passed over, and why.
        serves: what a link may lead to.

    Raises:
        Outside: the folder is not in the directory.
        OSError: a folder cannot be listed.
    """
    root = root.resolve(strict=True)
    if below:
        real_path(root, below)
    folders = [below]
    while folders:
        folder = folders.pop()
        with os.scandir(root / folder) as listed:
            found = sorted(listed, key=lambda item: item.name)
        for item in found:
            path = f"{folder}/{item.name}" if folder else item.name
            reason = paths.problem(path)
            if _is_git(item.name):
                continue
            if reason:
                left_out(path.encode(errors="backslashreplace").decode(), f"its path {reason}")
            elif item.is_dir(follow_symlinks=False):
                folders.append(path)
            elif (read_entry := _entry(root, path, largest, left_out, serves)) is not None:
                yield read_entry


def _entry(
    root: Path, path: str, largest: int, left_out: Callable[[str, str], None], serves: Serves
) -> Entry | None:
    try:
        with os.fdopen(_opened(root, path, serves), "rb") as file:
            found = os.fstat(file.fileno())
            runs = bool(found.st_mode & stat.S_IXUSR)
            return streamed(path, found.st_size, file.read, largest, executable=runs)
    except Outside:
        left_out(path, "it is a link that leads out of the directory, or to what is left out")
    except (OSError, EOFError) as error:
        left_out(path, f"it cannot be read as a file: {getattr(error, 'strerror', error)}")
    return None


def _opened(root: Path, path: str, serves: Serves) -> int:
    """A descriptor of a regular file that is in the directory, links and all.

    Args:
        root: the directory, itself without links.
        path: from the directory.
        serves: what a link may lead to.

    Raises:
        Outside: the path leads out of the directory, or to what is not served.
        OSError: there is no such file, or it cannot be read.
    """
    parts = PurePosixPath(real_path(root, path, serves)).parts
    folder = os.open(root, _FOLDER)
    try:
        # None of the steps is a link, but for one that somebody has put there in between.
        for each in parts[:-1]:
            below = os.open(each, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        descriptor = os.open(parts[-1] if parts else ".", _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, "it is no regular file")


def real_path(root: Path, path: str, serves: Serves = everything) -> str:
    """The path from the directory of what a path leads to, links and all.

    Args:
        root: the directory, itself without links.
        path: from the directory.
        serves: what a link may lead to.

    Raises:
        Outside: the path leads out of the directory, or to what is not served.
        OSError: there is nothing.
    """
    # Path.resolve has an error of its own for links in a circle.
    real = Path(os.path.realpath(root / path, strict=True))
    if not real.is_relative_to(root) or any(map(_is_git, real.relative_to(root).parts)):
        raise Outside
    found = real.relative_to(root).as_posix()
    if found != path and not serves(found):
        raise Outside
    return found


def _is_git(name: str) -> bool:
    return name.casefold() in {".git", "git~1"}
