"""A real git repository that tests change, and what git says of the change."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

_QUIET = (
    "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.autocrlf=false",
    "-c", "commit.gpgsign=false", "-c", "gc.auto=0",
)  # fmt: skip


class Worktree:
    """A repository with one commit at a time.

    Args:
        root: an empty directory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *args: str) -> bytes:
        """What a git command prints."""
        done = subprocess.run(
            ["git", *_QUIET, *args], cwd=self.root, check=True, capture_output=True, timeout=30
        )
        return done.stdout

    def put(self, files: Mapping[str, bytes]) -> None:
        """Make the tree hold these files and no others."""
        for path in self.root.rglob("*"):
            if ".git" not in path.relative_to(self.root).parts and path.is_file():
                path.unlink()
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def commit(self, files: Mapping[str, bytes]) -> str:
        """Commit exactly these files; the commit's id."""
        self.put(files)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", "state")
        return self.git("rev-parse", "HEAD").decode().strip()

    def diff(self, *options: str) -> str:
        """The diff of the tree to its commit, as the bootstrap rule asks for it."""
        self.git("add", "-N", "-f", ".")
        return self.git(*(options or ("diff",)), "HEAD").decode("utf-8", "replace")
