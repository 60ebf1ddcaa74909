"""Real skills, agents and docs, through each backend."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gateway.repositories import Entry, File, Github, LocalRepository, Repository, open_github
from tests.servers.github_contents import GithubContents, Repo

LARGEST = 1024 * 1024
COMMIT = "git init -q -b main && git add -A && git -c user.name=a -c user.email=a commit -q -m all"


@pytest.fixture(params=["skills-repo-a", "docs-tree-a"])
def real(request: pytest.FixtureRequest, test_data: Path, tmp_path: Path) -> Path:
    tree = tmp_path / "real"
    shutil.copytree(test_data / request.param, tree)
    subprocess.run(COMMIT, shell=True, cwd=tree, check=True)
    return tree


async def test_every_backend_shows_the_same(real: Path, github: GithubContents) -> None:
    github.repos["garden/real"] = Repo(real)
    repositories: dict[str, Repository] = {
        "directory": LocalRepository(real, None, LARGEST),
        "branch": LocalRepository(real, "main", LARGEST),
    }
    found: dict[str, dict[str, Entry]] = {}
    async with open_github(Github(api_url=github.url), lambda reference: "") as opened:
        repositories["github"] = opened.repository("garden/real", "main", LARGEST)
        for name, repository in repositories.items():
            async with repository.snapshot() as snapshot:
                found[name] = {entry.path: entry async for entry in snapshot.files()}
                assert not snapshot.left_out
            for path in list(found[name])[::25]:
                file = await repository.read(path)
                assert isinstance(file, File)
                assert (file.content, file.sha) == (
                    found[name][path].content,
                    found[name][path].sha,
                )
    there = {path: entry for path, entry in found["github"].items() if not path.startswith(".git/")}
    assert len(there) > 50
    assert found["directory"] == found["branch"] == there
