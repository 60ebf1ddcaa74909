"""The indexer and the store, as the repositories and the tools use them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from structlog.typing import FilteringBoundLogger

from gateway.contract import ContentScrub
from plugins.codegraph.indexer.indexer import Indexer, OverlayOwner
from plugins.codegraph.indexer.source import Source, Summary
from plugins.codegraph.model import EntityKind, FileReport
from plugins.codegraph.repositories.build import Progress
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore

MAX_REASONS = 20
"""How many reasons for skipped files a summary holds, each with one file that it is of."""
MAX_SECRETS = 50
"""Files whose secrets a summary names; how many there are, it says."""
_SHOWN = {
    EntityKind.FUNCTION: "functions",
    EntityKind.METHOD: "methods",
    EntityKind.CLASS: "classes",
    EntityKind.INTERFACE: "interfaces",
}


class Indexes:
    """Makes and describes the indexes of repositories.

    Args:
        indexer: what indexes.
        store: where the graphs are.
        scrub: takes secrets out of what is indexed.
        log: is told what was taken out, once for each state of a repository's files.
    """

    def __init__(
        self,
        indexer: Indexer,
        store: GraphStore,
        scrub: ContentScrub | None = None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        self._indexer, self._store, self._log = indexer, store, log
        self._scrub = scrub or ContentScrub()

    async def index(self, repository: Repository, root: Path, progress: Progress) -> dict[str, Any]:
        """Index a repository; what was found, as JSON values."""
        began = time.monotonic()
        done = await self._indexer.index(self._source(repository, root), progress)
        return await self._described(repository, done, time.monotonic() - began)

    async def changed(
        self, repository: Repository, root: Path, progress: Progress
    ) -> dict[str, Any] | None:
        """Take in what changed since; None where nothing did."""
        began = time.monotonic()
        done = await self._indexer.index(self._source(repository, root), progress)
        # The view that the store gives is of now: a layer that was built anew has another number.
        same = done.layer == repository.layer and not (done.parsed or done.linked or done.gone)
        return None if same else await self._described(repository, done, time.monotonic() - began)

    async def overlay(
        self,
        owner: Owner,
        files: Mapping[str, bytes | None],
        person: str,
        branch: str,
        digest: str,
        expires: datetime,
    ) -> Summary:
        """Write a person's uncommitted work over what is served.

        Raises:
            LookupError: nothing of the repository is served.
        """
        view = await self._store.view(owner.org, owner.repo)
        if view is None:
            raise LookupError("Nothing of the repository is served.")
        source = Source(owner.org, owner.repo, Path(), self._scrub_of(view.name))
        work = OverlayOwner(person, branch, digest, expires)
        return await self._indexer.overlay(source, view, files, work)

    async def purge(self, org: str, repo: str) -> int:
        """Delete what the indexer keeps of a repository beside the database."""
        there = await self._indexer.leftovers(repo)
        await self._indexer.forget(repo)
        return there

    async def leftovers(self, org: str, repo: str) -> int:
        """How many files the indexer keeps of a repository."""
        return await self._indexer.leftovers(repo)

    def _source(self, repository: Repository, root: Path) -> Source:
        return Source(repository.org, repository.id, root, self._scrub_of(repository.name))

    def _scrub_of(self, name: str) -> ContentScrub:
        return self._scrub if self._scrub.applies(name) else ContentScrub(enabled=False)

    def _told(self, repository: Repository, found: Sequence[FileReport]) -> dict[str, Any]:
        """What was taken out of which files, for the admin."""
        places = [f"{each.path}: {each.secrets}" for each in found]
        before = repository.state.summary.get("secrets", {})
        told = {"files": len(found), "places": places[:MAX_SECRETS]}
        if self._log is not None and found and told != before:
            self._log.warning("secrets_taken_out", repository=repository.name, **told)
        return told

    async def _described(
        self, repository: Repository, done: Summary, seconds: float
    ) -> dict[str, Any]:
        found: dict[str, Any] = {
            "files": done.files,
            "lines": done.lines,
            "seconds": round(seconds, 2),
            "full": done.full,
        }
        view = await self._store.view(repository.org, repository.id)
        if view is None:
            return found
        graph = self._store.open(view)
        stats = await graph.stats()
        languages = {name: each.files for name, each in stats.languages.items() if name}
        return found | {
            "files": sum(each.files for each in stats.languages.values()),
            "lines": sum(each.lines for each in stats.languages.values()),
            "languages": dict(sorted(languages.items(), key=lambda item: -item[1])),
            "entities": sum(stats.entities.values()),
            "edges": sum(stats.edges.values()),
            **{word: stats.entities.get(kind, 0) for kind, word in _SHOWN.items()},
            "secrets": self._told(repository, await graph.secrets()),
            "skipped": stats.skipped,
            "problems": stats.problems,
            "reasons": _reasons(await graph.reports(problems_only=True)),
        }


def _reasons(reports: Sequence[FileReport]) -> list[dict[str, Any]]:
    """Why files are not, or not wholly, in the graph: the most frequent first."""
    counts = Counter((each.problem, each.skipped) for each in reports)
    first = {(each.problem, each.skipped): each.path for each in reversed(reports)}
    return [
        {"reason": key[0], "skipped": key[1], "files": count, "example": first[key]}
        for key, count in counts.most_common(MAX_REASONS)
    ]
