"""Brings a branch here, and writes its graph as a layer over the index."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from structlog.typing import FilteringBoundLogger

from gateway.contract import Host, ToolFailed
from gateway.toolkit.spans import span
from plugins.codegraph.branches.branches import Branch, Branches
from plugins.codegraph.git.command import GitFailed
from plugins.codegraph.git.trees import local_heads
from plugins.codegraph.git.working_copy import WorkingCopy
from plugins.codegraph.indexer.overlay import TooDifferent
from plugins.codegraph.indexer.tree_edits import MAX_FILES, Tree
from plugins.codegraph.repositories.build import IndexBuilder, Progress, failure_reason
from plugins.codegraph.repositories.leases import Busy, Gone
from plugins.codegraph.repositories.repository import LOOKING, Repository
from plugins.codegraph.search.embedder import EntityEmbedder
from plugins.codegraph.search.overlay_vectors import embed_in_time
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore

NO_SUCH_BRANCH = "no_such_branch"
"""The code of the error for a branch that is not there."""
_MAX_NEAR, _MAX_LISTED = 3, 20
"""The most names of branches that an error offers: those like the one asked for, and others."""


@dataclass(frozen=True, slots=True)
class BranchBuilder:
    """Makes the layers of branches.

    Attributes:
        store: the graphs.
        branches: which branches have a layer.
        builder: knows where a repository's files and its working copy are.
        embedder: makes the vectors of what differs.
        log: is told where no vectors are made.
        now: the time, in UTC.
    """

    store: GraphStore
    branches: Branches
    builder: IndexBuilder
    embedder: EntityEmbedder
    log: FilteringBoundLogger
    now: Callable[[], datetime]

    @classmethod
    def of(
        cls,
        host: Host,
        store: GraphStore,
        builder: IndexBuilder,
        embedder: EntityEmbedder,
        now: Callable[[], datetime],
    ) -> BranchBuilder:
        """A builder on a portal's services."""
        return cls(store, Branches(host.database), builder, embedder, host.log, now)

    async def make(
        self, repository: Repository, name: str, holder: str, progress: Progress
    ) -> dict[str, Any]:
        """Bring a branch's layer up to date with the branch, and with the index below it.

        Args:
            repository: the repository.
            name: the branch.
            holder: the holder of the repository's lease (``Leases.held``): nobody may index it
                meanwhile.
            progress: receives the progress.

        Returns:
            What was done, as JSON values.

        Raises:
            Busy: somebody else works on the repository.
            Gone: the repository was removed meanwhile.
            ToolFailed: there is no such branch, or it cannot be read; the message says why.
        """
        leases, owner = self.builder.leases, Owner(repository.org, repository.id)
        async with leases.held(repository.id, holder, message=LOOKING):
            view = await self.store.view(owner.org, owner.repo)
            if view is None:
                return {"skipped": "Nothing of the repository is served."}
            await self.store.layers(owner).end_unfinished_branch()
            try:
                with span("read branch", root=True):
                    made = await self._made(repository, view, name, progress)
                    await self._make_room(repository, owner)
            except (Busy, Gone, ToolFailed):
                raise
            except Exception as error:
                raise _unread(repository, name, error) from error
        if made is None:
            return {"unchanged": True}
        return {"layer": made.layer, "commit": made.commit, "files": len(made.files)}

    async def _made(
        self, repository: Repository, view: RepositoryView, name: str, progress: Progress
    ) -> Branch | None:
        """The branch with a new layer; None where the one that it has is right."""
        owner, began = Owner(repository.org, repository.id), self.now()
        known = await self.branches.of(owner, name)
        progress(0, 0, f"looking for the branch {name}")
        head = await self._head(repository, name)
        if head is None:
            await self._let_go(repository, owner, known)
            raise no_such_branch(repository.name, name, await self._names(repository))
        if known is not None and known.lies_over(view) and known.commit == head:
            await self.branches.note_look(owner, name, began)
            return None
        copy = self._copy(repository)
        commit = head if copy is None else await copy.fetch_branch(name)
        tree = Tree(self.builder.root(repository), commit, links=copy is None)
        stamp = Stamp(commit, name)
        layer = await self.builder.index.branch(repository, view, tree, stamp, progress)
        branch = Branch(
            *(name, layer.layer, commit, view.layer, view.generation, view.commit),
            files=layer.files,
            checked=began,
            used=self.now(),
        )
        # Before it is served: whoever is killed in between begins anew, and embeds it then.
        await embed_in_time(self.embedder, branch.over(view), branch.files, self.log)
        async with self.store.layers(owner).show(layer.layer, name) as connection:
            await self.branches.put(connection, owner, branch)
        return branch

    async def _make_room(self, repository: Repository, owner: Owner) -> None:
        """Let those branches go that are too many, and were asked about longest ago."""
        kept = await self.branches.all(owner)
        for each in kept[self.builder.config.most_branches :]:
            await self._let_go(repository, owner, each)

    async def _let_go(self, repository: Repository, owner: Owner, known: Branch | None) -> None:
        if known is None:
            return
        copy = self._copy(repository)
        if copy is not None:  # first, since only who is still known is let go of again
            await copy.forget_branch(known.name)
        async with self.store.layers(owner).hide(known.name) as connection:
            await self.branches.remove(connection, owner, known.name)

    async def _head(self, repository: Repository, name: str) -> str | None:
        """The commit that a branch is at, where it comes from; None if there is none."""
        copy = self._copy(repository)
        heads = await (self._local(repository) if copy is None else copy.heads(name))
        return heads.get(name)

    async def _names(self, repository: Repository) -> list[str]:
        copy = self._copy(repository)
        return sorted(await (self._local(repository) if copy is None else copy.heads()))

    async def _local(self, repository: Repository) -> dict[str, str]:
        return await local_heads(self.builder.root(repository))

    def _copy(self, repository: Repository) -> WorkingCopy | None:
        return None if repository.kind == "path" else self.builder.copy(repository)


def no_such_branch(repository: str, name: str, names: Collection[str]) -> ToolFailed:
    """The error for a branch that is not there, with the names that may be meant."""
    near = difflib.get_close_matches(name, names, n=_MAX_NEAR)
    meant = f" Is {' or '.join(near)} meant?" if near else ""
    listed = sorted(names)[:_MAX_LISTED]
    more = f" and {len(names) - len(listed)} more" if len(names) > len(listed) else ""
    there = f" There: {', '.join(listed)}{more}." if listed else " It has none."
    return ToolFailed(NO_SUCH_BRANCH, f"{repository} has no branch {name[:80]!r}.{meant}{there}")


def _unread(repository: Repository, name: str, error: Exception) -> ToolFailed:
    if isinstance(error, TooDifferent):
        return ToolFailed(
            "branch_too_different",
            f"The branch {name} of {repository.name} differs from the indexed one in "
            f"{error.files:,} files; {MAX_FILES:,} is the most. An admin can have it indexed on "
            "its own: porch codegraph add ADDRESS --branch BRANCH --name NAME.",
        )
    if isinstance(error, GitFailed) and repository.kind == "path":
        return ToolFailed(
            "branch_not_read",
            f"The branch {name} cannot be read: {repository.name} is a directory, whose branches "
            f"are those of its own Git repository. {error}",
        )
    return ToolFailed(
        "branch_not_read",
        f"The branch {name} of {repository.name} was not read: {failure_reason(error)}",
    )
