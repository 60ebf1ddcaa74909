"""Connects the indexer and the store to the repositories and the tools."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from structlog.typing import FilteringBoundLogger

from gateway.contract import ContentScrub
from plugins.codegraph.indexer.indexer import BranchLayer, Indexer, OverlayOwner
from plugins.codegraph.indexer.source import Source, Summary
from plugins.codegraph.indexer.tree_edits import Tree
from plugins.codegraph.model import EntityKind, FileReport
from plugins.codegraph.repositories.build import Progress, Then, nothing_more
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore

MAX_REASONS = 20
"""The most reasons for skipped files in a summary, each with one example."""
MAX_SECRETS = 50
"""The most files with removed secrets that a summary names; it also has their number."""
_SHOWN = {
    EntityKind.FUNCTION: "functions",
    EntityKind.METHOD: "methods",
    EntityKind.CLASS: "classes",
    EntityKind.INTERFACE: "interfaces",
}


class Indexes:
    """Makes and summarises the indexes of repositories.

    Args:
        indexer: makes the indexes.
        store: the graphs.
        scrub: removes secrets from what is indexed.
        log: receives what was removed, once per state of a repository's files.
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

    async def index(
        self, repository: Repository, root: Path, progress: Progress, then: Then = nothing_more
    ) -> dict[str, Any]:
        """Index a repository; returns a summary as JSON values.

        Args:
            repository: the repository.
            root: its files.
            progress: receives the progress.
            then: what follows at once; to summarise a large graph takes longer than to change it.
        """
        began = time.monotonic()
        done = await self._indexer.index(self._source(repository, root), progress)
        await then(repository)
        return await self._described(repository, done, time.monotonic() - began)

    async def changed(
        self, repository: Repository, root: Path, progress: Progress, then: Then = nothing_more
    ) -> dict[str, Any] | None:
        """Index what changed since the last index, as :meth:`index`; None if nothing did."""
        began = time.monotonic()
        done = await self._indexer.index(self._source(repository, root), progress)
        # The store's view is current, so a rebuilt layer shows by its different number.
        same = done.layer == repository.layer and not (done.parsed or done.linked or done.gone)
        if same:
            return None
        await then(repository)
        return await self._described(repository, done, time.monotonic() - began)

    async def overlay(
        self,
        owner: Owner,
        files: Mapping[str, bytes | None],
        person: str,
        branch: str,
        digest: str,
        expires: datetime,
    ) -> Summary:
        """Write a person's uncommitted work over the served index.

        Raises:
            LookupError: the repository has no served index.
        """
        view = await self._store.view(owner.org, owner.repo)
        if view is None:
            raise LookupError("Nothing of the repository is served.")
        source = Source(owner.org, owner.repo, Path(), self._scrub_of(view.name))
        work = OverlayOwner(person, branch, digest, expires)
        return await self._indexer.overlay(source, view, files, work)

    async def branch(
        self,
        repository: Repository,
        view: RepositoryView,
        tree: Tree,
        stamp: Stamp,
        progress: Progress,
    ) -> BranchLayer:
        """Write another branch as a layer over what is served (``Indexer.branch``)."""
        source = self._source(repository, tree.directory)
        return await self._indexer.branch(source, view, tree, stamp, progress)

    async def purge(self, org: str, repo: str) -> int:
        """Delete a repository's derived data outside of the database; returns the number of
        files."""
        there = await self._indexer.leftovers(repo)
        await self._indexer.forget(repo)
        return there

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of a repository's files outside of the database."""
        return await self._indexer.leftovers(repo)

    def _source(self, repository: Repository, root: Path) -> Source:
        return Source(repository.org, repository.id, root, self._scrub_of(repository.name))

    def _scrub_of(self, name: str) -> ContentScrub:
        return self._scrub if self._scrub.applies(name) else ContentScrub(enabled=False)

    def _redaction_summary(
        self, repository: Repository, found: Sequence[FileReport]
    ) -> dict[str, Any]:
        """What was removed from which files, for the admin."""
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
        sizes = await graph.sizes()
        languages = {name: each.files for name, each in sizes.languages.items() if name}
        return found | {
            "files": sum(each.files for each in sizes.languages.values()),
            "lines": sum(each.lines for each in sizes.languages.values()),
            "languages": dict(sorted(languages.items(), key=lambda item: -item[1])),
            "entities": sum(sizes.entities.values()),
            "edges": sizes.all_edges,
            **{word: sizes.entities.get(kind, 0) for kind, word in _SHOWN.items()},
            "secrets": self._redaction_summary(repository, await graph.secrets()),
            "skipped": sizes.skipped,
            "problems": sizes.problems,
            "reasons": _reasons(await graph.reports(problems_only=True)),
        }


def _reasons(reports: Sequence[FileReport]) -> list[dict[str, Any]]:
    """Why files are missing from the graph, wholly or partly: the most frequent reasons first."""
    counts = Counter((each.problem, each.skipped) for each in reports)
    first = {(each.problem, each.skipped): each.path for each in reversed(reports)}
    return [
        {"reason": key[0], "skipped": key[1], "files": count, "example": first[key]}
        for key, count in counts.most_common(MAX_REASONS)
    ]
