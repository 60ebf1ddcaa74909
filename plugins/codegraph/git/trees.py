"""Reads commits of a repository without checking them out: their files, and branches on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plugins.codegraph.git.command import GitFailed, git

_LOCAL = ("refs/heads/", "refs/remotes/origin/")
"""Where a checkout keeps branches: a person's own first."""
_SHA256_LENGTH = 64


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a commit.

    Attributes:
        path: relative to the root, as Git has it.
        mode: Git's: ``120000`` is a symbolic link, ``160000`` a submodule.
        blob: the id of its content.
        size: in bytes; 0 for a submodule.
    """

    path: bytes
    mode: str
    blob: str
    size: int


async def tree_of(directory: Path, commit: str) -> list[TreeFile]:
    """The files of a commit, by path.

    Raises:
        GitFailed: the commit, or something of it, is not there.
    """
    answer = await git(directory, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    return sorted(map(_tree_file, filter(None, answer.split(b"\0"))), key=lambda each: each.path)


async def blobs(directory: Path, ids: Sequence[str]) -> dict[str, bytes]:
    """Contents by their ids.

    Raises:
        GitFailed: one of them is not there.
    """
    if not ids:
        return {}
    given = "".join(f"{each}\n" for each in ids).encode()
    answer = await git(directory, "cat-file", "--batch", "--buffer", given=given)
    found, at = {}, 0
    for each in ids:
        end = answer.index(b"\n", at)
        head = answer[at:end].split(b" ")
        if len(head) != 3:
            raise GitFailed(f"The object {each} is missing: {answer[at:end].decode()}.")
        start, size = end + 1, int(head[2])
        found[each] = answer[start : start + size]
        at = start + size + 1
    return found


def blob_id(data: bytes, like: str) -> str:
    """The id that Git gives a content, in a repository with ids like this one."""
    hasher = hashlib.sha256 if len(like) == _SHA256_LENGTH else hashlib.sha1
    return hasher(b"blob %d\0" % len(data) + data).hexdigest()


async def local_heads(directory: Path) -> dict[str, str]:
    """The commits of a checkout's branches by their names: its own, and those of its origin.

    Raises:
        GitFailed: it is no checkout.
    """
    asked = "for-each-ref", "--format=%(objectname) %(refname)", *_LOCAL
    answer = (await git(directory, *asked)).decode("utf-8", "replace")
    found: dict[str, str] = {}
    lines = [line.partition(" ") for line in answer.splitlines()]
    for place in _LOCAL:
        for commit, _, ref in lines:
            name = ref.removeprefix(place)
            if name != ref and name != "HEAD":
                found.setdefault(name, commit)
    return found


def _tree_file(line: bytes) -> TreeFile:
    about, _, path = line.partition(b"\t")
    mode, _, blob, size = about.decode().split()
    return TreeFile(path, mode, blob, int(size) if size != "-" else 0)
