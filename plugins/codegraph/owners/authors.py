"""Who changed files last, by Git's history where there is one: names, never addresses."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plugins.codegraph.git.command import GitFailed, Limits, git

PATIENCE_S = 3.0
"""Seconds for the history of all files of an answer; of those that are left nothing is said."""
AT_ONCE, KEPT = 4, 4_096
"""How many files are asked about at a time, and of how many the answer is kept in memory."""
COMMITS, AUTHORS = 20, 3
"""How many of a file's newest commits are looked at, and how many authors of them are named."""


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who changed a file.

    Attributes:
        name: as Git, or the repository's ``.mailmap``, has it.
        at: when they changed it last.
    """

    name: str
    at: datetime


class LastAuthors:
    """Reads who changed files last, each file once for each commit."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Path, str, str], Sequence[Author]] = OrderedDict()

    async def of(self, root: Path, paths: Sequence[str]) -> dict[str, Sequence[Author]]:
        """The last authors of files, the newest first; those that took too long are left out.

        Args:
            root: the working copy; one without a history of its own has no authors.
            paths: the files, the most important first.
        """
        found: dict[str, Sequence[Author]] = {}
        if not (root / ".git").exists():
            return found
        turns = asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.timeout(PATIENCE_S):
                shallow = await git(root, "rev-parse", "--is-shallow-repository", "HEAD")
                is_shallow, _, commit = shallow.decode().strip().partition("\n")
                if is_shallow != "false":
                    return found

                async def one(path: str) -> None:
                    async with turns:
                        found[path] = await self._one(root, commit, path)

                async with asyncio.TaskGroup() as all_of:
                    for path in paths:
                        all_of.create_task(one(path))
        except* (GitFailed, TimeoutError, OSError, ValueError):
            pass  # who works on code stands beside the answer, which does not wait for it
        return found

    async def _one(self, root: Path, commit: str, path: str) -> Sequence[Author]:
        key = root, commit, path
        if key not in self._known:
            self._known[key] = await _authors(root, commit, path)
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return self._known[key]


async def _authors(root: Path, commit: str, path: str) -> Sequence[Author]:
    told = await git(
        root,
        *("rev-list", f"--max-count={COMMITS}", "--format=%at %aN", commit, "--", path),
        limits=Limits(seconds=PATIENCE_S),
    )
    newest: dict[str, Author] = {}
    for line in told.decode("utf-8", "replace").splitlines():
        at, _, name = line.partition(" ")
        if at.isdigit() and name.strip() and name not in newest:
            newest[name] = Author(name.strip()[:100], datetime.fromtimestamp(int(at), UTC))
    return list(newest.values())[:AUTHORS]
