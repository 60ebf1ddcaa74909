"""How often files were changed in the last year, by Git's history where it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from plugins.codegraph.git.command import GitFailed, Limits, git

PATIENCE_S = 20.0
"""Seconds for the history of all files together; of those that are left there is none."""


async def churn(root: Path | None, paths: Sequence[str]) -> dict[str, int]:
    """The commits of the last year that changed each file; empty where there is no history.

    Args:
        root: the working copy, or None.
        paths: the files; those that take too long are left out.
    """
    if root is None or not (root / ".git").exists():
        return {}
    found: dict[str, int] = {}
    try:
        async with asyncio.timeout(PATIENCE_S):
            if (await git(root, "rev-parse", "--is-shallow-repository")).strip() != b"false":
                return {}
            for path in paths:
                counted = await git(
                    root,
                    *("rev-list", "--count", "--since=1.year", "HEAD", "--", path),
                    limits=Limits(seconds=PATIENCE_S),
                )
                found[path] = int(counted)
    except (GitFailed, TimeoutError, OSError, ValueError):
        pass  # churn stands beside the figures, and no section waits for it
    return found
