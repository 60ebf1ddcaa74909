"""Who works on files, as answers name them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from gateway.contract import ToolResult
from plugins.codegraph.owners.owners import Owners

MAX_PEOPLE, MAX_FILES = 20, 5
"""The most people and teams that an answer names, and files of each."""


class Working(ToolResult):
    """Somebody who works on some files."""

    name: str
    by: Literal["CODEOWNERS", "git"] = Field(
        description="CODEOWNERS: the repository's file says so; git: they changed it lately."
    )
    file_count: int
    files: list[str] = Field(description="The nearest of them.")
    last: datetime | None = Field(None, description="When they changed one of them last.")


async def who_works(owners: Owners | None, repo: str, paths: Sequence[str]) -> list[Working] | None:
    """Who works on some files, as far as is known; None where nobody is.

    Args:
        owners: finds them; None where there are no working copies.
        repo: the repository's id.
        paths: the files, the most important first.
    """
    found = [] if owners is None else await owners.of(repo, paths)
    return [
        Working(
            name=each.name,
            by=each.by,
            file_count=len(each.files),
            files=each.files[:MAX_FILES],
            last=each.last,
        )
        for each in found[:MAX_PEOPLE]
    ] or None
