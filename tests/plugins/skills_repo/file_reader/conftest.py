from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.plugins.skills_repo.file_reader.case import (
    ANAS,
    BENS,
    OPERATORS,
    SKILL,
    Case,
)
from tests.servers.github_contents import GithubContents, Repo


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GithubContents]:
    tree = tmp_path / "tree"
    (tree / "skills" / "a").mkdir(parents=True)
    (tree / SKILL).write_text("one")
    with GithubContents() as server:
        server.repos["garden/tools"] = Repo(tree)
        server.repos["garden/house"] = Repo(tree, tokens={ANAS, OPERATORS})
        server.repos["garden/other"] = Repo(tree, tokens={ANAS, BENS})
        yield server


@pytest.fixture
async def case(github: GithubContents, tmp_path: Path) -> AsyncIterator[Case]:
    async with AsyncExitStack() as stack:
        yield Case(github, tmp_path / "tree", stack)
