"""Who works on some files: whom CODEOWNERS names, and who changed them last."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from gateway.toolkit.visible_text import visible
from plugins.codegraph.owners.authors import LastAuthors
from plugins.codegraph.owners.declared import declared

MAX_FILES = 24
"""The most files whose history is read for one answer."""

_FILE = "CODEOWNERS"

Root = Callable[[str], Awaitable[Path | None]]
"""``await root(repo)``: the working copy of a repository, or None where it is gone."""


@dataclass(slots=True)
class Owning:
    """Somebody who works on some of the files.

    Attributes:
        name: a person's or a team's.
        by: ``CODEOWNERS`` says so, or ``git`` shows that they changed them.
        files: which.
        last: when they changed one last, where Git says so.
    """

    name: str
    by: Literal["CODEOWNERS", "git"]
    files: list[str] = field(default_factory=list)
    last: datetime | None = None


class Owners:
    """Finds who works on files.

    Args:
        root: finds working copies.
    """

    def __init__(self, root: Root) -> None:
        self._root, self._authors = root, LastAuthors()

    async def of(self, repo: str, paths: Sequence[str]) -> list[Owning]:
        """Who works on files: whom CODEOWNERS names first, then those with the most files.

        Args:
            repo: the repository.
            paths: the files, the most important first.
        """
        root = await self._root(repo)
        if root is None:
            return []
        owners_of = await asyncio.to_thread(declared, root)
        found: dict[tuple[str, str], Owning] = {}
        for path in paths:
            for name in () if owners_of is None else owners_of(path):
                told = visible(name)[:100]
                owning = found.setdefault((_FILE, told), Owning(told, "CODEOWNERS"))
                owning.files.append(path)
        for path, authors in (await self._authors.of(root, paths[:MAX_FILES])).items():
            for each in authors:
                told = visible(each.name)
                owning = found.setdefault(("git", told), Owning(told, "git"))
                owning.files.append(path)
                owning.last = max(filter(None, (owning.last, each.at)))
        return sorted(found.values(), key=_weight)


def _weight(each: Owning) -> tuple[bool, int, float, str]:
    last = 0.0 if each.last is None else each.last.timestamp()
    return each.by == "git", -len(each.files), -last, each.name
