"""A reader over a small GitHub, with a clock that the test turns."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Caller, Tier
from gateway.repositories.errors import SourceFailed
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.file_reader import FileReader
from plugins.skills_repo.repositories import open_repositories
from tests.servers.github_contents import GithubContents

ANAS = "ghp_" + "A" * 36
BENS = "ghp_" + "B" * 36
OPERATORS = "ghp_" + "O" * 36
ANA = Caller("person:ana", Tier.MEMBERS)
BEN = Caller("person:ben", Tier.MEMBERS)
SKILL = "skills/a/SKILL.md"
AT = f"/repos/garden/house/contents/{SKILL}"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Case:
    """A portal's reader, the GitHub it reads, and the clock it goes by."""

    def __init__(self, github: GithubContents, tree: Path, stack: AsyncExitStack) -> None:
        self.github = github
        self.tree = tree
        self.clock = Clock()
        self.stack = stack
        self.sources: dict[str, Source] = {}

    async def open(self, **more: Any) -> FileReader:
        house = {"kind": "skills", "github": "garden/house"}
        config = SkillsRepoConfig.model_validate(
            {
                "sources": [
                    house | {"name": "public", "github": "garden/tools"},
                    house | {"name": "app", "credential": "app"},
                    house | {"name": "caller", "credential": "caller"},
                    house | {"name": "other", "credential": "caller", "github": "garden/other"},
                    {"name": "local", "kind": "skills", "directory": str(self.tree)},
                ],
                "github": {"api_url": self.github.url, "token": "env:TOKEN"},
            }
        )
        self.sources = {source.name: source for source in config.sources}
        repositories = await self.stack.enter_async_context(
            open_repositories(config, lambda ref: OPERATORS)
        )
        reader = FileReader(config, repositories, self.clock, **more)
        self.stack.push_async_callback(reader.close)
        return reader

    def write(self, text: str, path: str = SKILL) -> None:
        (self.tree / path).write_text(text)

    @property
    def asked(self) -> int:
        return len(self.github.requests)

    async def is_asked(self) -> None:
        """Wait until a request has reached GitHub, which is another thread."""
        while not self.github.most_at_once:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def text(case: Case, reader: FileReader, source: str = "public", **more: Any) -> str:
    reading = await reader.read(case.sources[source], more.pop("path", SKILL), **more)
    return reading.file.content.decode() + (" (stale)" if reading.stale else "")


async def refused(
    case: Case, reader: FileReader, source: str = "public", **more: Any
) -> SourceFailed:
    with pytest.raises(SourceFailed) as failed:
        await text(case, reader, source, **more)
    return failed.value
