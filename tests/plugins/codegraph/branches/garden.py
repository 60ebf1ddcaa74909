"""A portal that has indexed the main branch of a repository on a host, and the checkout of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from tests.plugins.codegraph.checkouts import committed, run_git
from tests.servers.git_host import GitHost


class Garden:
    """The portal and the checkout.

    Args:
        portal: the portal.
        tree: the checkout, which is on its main branch between two calls.
    """

    def __init__(self, portal: TestPortal, tree: Path) -> None:
        self.portal = portal
        self.tree = tree

    def push(
        self, branch: str, files: dict[str, str], *, gone: tuple[str, ...] = (), force: bool = False
    ) -> str:
        """Commit on a branch, made off main if it is not there, and push it; returns the commit."""
        return pushed(self.tree, branch, files, gone=gone, force=force)

    def delete(self, branch: str) -> None:
        """Delete a branch, here and at the host."""
        run_git(self.tree, "branch", "-D", branch)
        run_git(self.tree, "push", "-q", "origin", "--delete", branch)

    async def ask(self, tool: str, branch: str | None, **more: Any) -> dict[str, Any]:
        """What a tool answers of a branch."""
        arguments = {**more, **({} if branch is None else {"branch": branch})}
        result = await self.portal.call(tool, arguments)
        assert not result.is_error, result.text
        found: dict[str, Any] = result.structured
        return found

    async def refused(self, branch: str, **more: Any) -> str:
        """Why nothing is answered of a branch."""
        result = await self.portal.call("get_project_stats", {"branch": branch, **more})
        assert result.is_error, result.structured
        return str(result.text)

    async def knows(self, name: str, branch: str | None) -> bool:
        """Whether a function is there on a branch."""
        arguments = {"name": name, **({} if branch is None else {"branch": branch})}
        result = await self.portal.call("get_function", arguments)
        assert not result.is_error or "There is no function" in result.text, result.text
        return not result.is_error

    async def jobs(self) -> int:
        """How often a branch was looked for."""
        jobs = self.portal.running.services.jobs.for_owner("codegraph")
        return len(await jobs.list("branch"))


def pushed(
    tree: Path,
    branch: str,
    files: dict[str, str],
    *,
    gone: tuple[str, ...] = (),
    force: bool = False,
) -> str:
    """Commit on a branch of a checkout and push it, and return to main; returns the commit."""
    there = run_git(tree, "branch", "--list", branch)
    run_git(tree, "switch", "-q", *([branch] if there else ["-c", branch, "main"]))
    if force:
        run_git(tree, "reset", "-q", "--hard", "main")
    for path in gone:
        (tree / path).unlink()
    commit = committed(tree, files)
    run_git(tree, "push", "-q", "--force", "origin", branch)
    run_git(tree, "switch", "-q", "main")
    return commit


@asynccontextmanager
async def garden(host: GitHost, tree: Path, **section: Any) -> AsyncGenerator[Garden]:
    """A portal that has indexed ``plants/garden.git`` of the host."""
    config = {
        "hosts": {host.netloc: {"ca_file": str(host.ca_file)}},
        "repositories": [{"url": host.url("plants/garden.git"), "tier": "open"}],
        "refresh": "24h",
        **section,
    }
    async with open_test_portal(plugin, config={"plugins": {"codegraph": config}}) as portal:
        yield Garden(portal, tree)
