"""A repository as it is without its secrets: what is read of it has its own size and digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from gateway.repositories.protocol import Entry, File, Known, NotModified, Repository
from gateway.repositories.wrapper import RepositoryAround

Clean = Callable[[bytes, str], bytes]
"""``clean(content, path)``: a file's bytes without secrets, the same object where it has none."""


class ScrubbedRepository(RepositoryAround):
    """A repository whose files come without their secrets (see :class:`Repository`).

    The ids of blobs stay those of Git: they name what the files are made from.

    Args:
        repository: the repository.
        clean: takes the secrets out of a file.
    """

    def __init__(self, repository: Repository, clean: Clean) -> None:
        super().__init__(repository)
        self._clean = clean

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`)."""
        found = await super().read(path, credential, known)
        if isinstance(found, NotModified):
            return found
        return replace(found, content=self._clean(found.content, path))

    def shown(self, entry: Entry) -> Entry:
        """An entry without secrets, and of the size and digest that it has then."""
        if entry.content is None:
            return entry
        content = self._clean(entry.content, entry.path)
        if content is entry.content:
            return entry
        digest = hashlib.sha256(content).hexdigest()
        return replace(entry, content=content, size=len(content), digest=digest)
