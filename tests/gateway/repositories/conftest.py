"""One tree of files, behind each backend."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from gateway.repositories import Github, LocalRepository, Repository, open_github
from tests.servers.github_contents import GithubContents, Repo

LARGEST = 64 * 1024
FILES = {
    "README.md": b"# Hello\n",
    "skills/a/SKILL.md": b"---\nname: a\n---\nGr\xc3\xbc\xc3\x9fe\n",
    "skills/a/references/form one.md": b"one",
    "skills/a/100%.md": b"all of it",
    "skills/a/empty": b"",
    "skills/a/logo.png": bytes(range(256)),
    "skills/gr\u00f6\u00dfe/SKILL.md": b"composed",
    "skills/gro\u0308\u00dfe/SKILL.md": b"decomposed",
    "skills/#1?/SKILL.md": b"marks",
    "skills-too/SKILL.md": b"a neighbour",
    "large.bin": b"x" * (LARGEST + 1),
}
Git = Callable[..., str]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    directory = tmp_path / "tools"
    for name, content in FILES.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return directory


@pytest.fixture
def git(tree: Path) -> Git:
    def run(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        safe = ("-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")
        command = ["git", "-C", str(tree), *identity, *safe, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    return run


@pytest.fixture
def committed(git: Git) -> Git:
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "all of it")
    return git


@pytest.fixture
def github(tree: Path) -> Iterator[GithubContents]:
    with GithubContents() as server:
        server.repos["garden/tools"] = Repo(tree)
        yield server


@pytest.fixture(params=["directory", "branch", "github"])
async def repository(request: pytest.FixtureRequest, tree: Path) -> AsyncIterator[Repository]:
    if request.param != "github":
        if request.param == "branch":
            request.getfixturevalue("committed")
        yield LocalRepository(tree, "main" if request.param == "branch" else None, LARGEST)
        return
    server = request.getfixturevalue("github")
    async with open_github(Github(api_url=server.url), lambda reference: "") as opened:
        yield opened.repository("garden/tools", "main", LARGEST)
