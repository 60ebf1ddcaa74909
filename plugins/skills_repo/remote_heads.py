"""Whether a source may be newer than its index; asks GitHub at most once a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gateway.repositories import Repository, SourceFailed
from plugins.skills_repo.config import Source
from plugins.skills_repo.file_cache import SingleFlight
from plugins.skills_repo.index.entries import SourceIndex

HEAD_TTL_S = 60.0
"""Seconds for which a branch's commit is cached."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The commit of a branch, or why it is unknown, and when it was asked for."""

    commit: str | None
    failure: SourceFailed | None
    asked: float


@dataclass(eq=False, repr=False)
class RemoteHeads:
    """The commit that each source's branch points to.

    Attributes:
        repositories: by the names of the sources.
        clock: seconds that only grow; replaced in tests.
    """

    repositories: Mapping[str, Repository]
    clock: Callable[[], float] = time.monotonic
    _heads: dict[str, _Head] = field(default_factory=dict, init=False)
    _flights: SingleFlight[_Head] = field(default_factory=SingleFlight, init=False)

    async def may_hold_more(self, source: Source, index: SourceIndex | None, *, anew: bool) -> bool:
        """Whether a source may hold a file that its index does not know.

        A directory may at any time, and costs nothing to look into. A repository on GitHub may
        where its branch names another commit than the one that was indexed.

        Args:
            source: the source.
            index: what was read of it, if it was.
            anew: whether to ask GitHub, whatever it said a moment ago.

        Raises:
            SourceFailed: GitHub does not say. For a source that is read with the caller's own
                credential that counts as yes, as the operator's may see less than the caller's.
        """
        if index is None or index.commit is None or source.github is None:
            return True
        head = self._heads.get(source.name)
        if anew or head is None or self.clock() >= head.asked + HEAD_TTL_S:
            head = await self._flights.share((source.name,), lambda: self._ask(source))
        if head.failure is not None and source.credential != "caller":
            raise head.failure.again()
        return head.failure is not None or head.commit != index.commit

    async def close(self) -> None:
        """End the requests that still run."""
        await self._flights.close()

    async def _ask(self, source: Source) -> _Head:
        asked = self.clock()
        try:
            head = _Head(await self.repositories[source.name].stamp(), None, asked)
        except SourceFailed as failure:
            head = _Head(None, failure, asked)
        self._heads[source.name] = head
        return head
