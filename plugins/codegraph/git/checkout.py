"""What Git knows of a directory: its files, commit and branch. It only ever reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plugins.codegraph.git.command import GitFailed, git

_LINK = "120000"
_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Listed:
    """One path that Git lists.

    Attributes:
        path: from the directory, with ``/``; bytes that are no UTF-8 as surrogates.
        mode: as the index has it; "" for a file that nobody has added yet.
        blob: the id of the content in the index, or "".
    """

    path: str
    mode: str = ""
    blob: str = ""

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link, by the index."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository's commit."""
        return self.mode == _SUBMODULE


class Checkout:
    """A directory that is, or lies in, a Git working tree.

    Args:
        directory: paths are relative to it.
        top: the working tree's root, which holds ``.git``.
    """

    def __init__(self, directory: Path, top: Path) -> None:
        self.directory = directory
        self.top = top

    @classmethod
    def of(cls, directory: Path) -> Checkout | None:
        """The checkout in which a directory lies, or None where it is a plain one; blocks.

        It is found by looking, not by asking Git, whose answer a setting in the repository
        (``core.worktree``) would lead elsewhere.
        """
        directory = directory.resolve()
        for top in (directory, *directory.parents):
            if (top / ".git").exists():
                return cls(directory, top)
        return None

    async def commit(self) -> str:
        """The full id of the commit that is checked out; "" before the first one."""
        try:
            return (await self._git("rev-parse", "--verify", "--quiet", "HEAD^{commit}")).strip()
        except GitFailed:
            return ""

    async def branch(self) -> str:
        """The branch's name; "" where a commit is checked out by itself."""
        try:
            return (await self._git("symbolic-ref", "--quiet", "--short", "HEAD")).strip()
        except GitFailed:
            return ""

    async def files(self) -> list[Listed]:
        """The files below the directory that are tracked, or new and not ignored; sorted.

        A tracked file that is no longer there is among them; one in conflict is listed once.

        Raises:
            GitFailed: Git cannot read the repository.
        """
        tracked = await self._git("ls-files", "-z", "--stage", "--", ".")
        others = await self._git("ls-files", "-z", "--others", "--exclude-standard", "--", ".")
        found: dict[str, Listed] = {}
        for line in filter(None, tracked.split("\0")):
            described, _, path = line.partition("\t")
            mode, blob, _ = described.split(" ")
            found[path] = Listed(path, mode, blob)
        for path in filter(None, others.split("\0")):
            found.setdefault(path.rstrip("/"), Listed(path.rstrip("/")))
        return [found[path] for path in sorted(found)]

    async def _git(self, *arguments: str) -> str:
        answer = await git(self.directory, *arguments, top=self.top)
        return answer.decode("utf-8", "surrogateescape")
