"""Sources in a temporary directory, served by a whole portal, from a directory or by GitHub."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.skills_repo import plugin
from tests.servers.github_contents import GithubContents, Repo


class Garden:
    """A repository ``garden/tools`` with the folders ``skills``, ``agents`` and ``docs``.

    Attributes:
        root: where its files lie.
        github: the GitHub that serves it.
    """

    def __init__(self, root: Path, github: GithubContents) -> None:
        self.root = root
        self.github = github
        github.repos["garden/tools"] = Repo(root)
        for folder in ("skills", "agents", "docs"):
            (root / folder).mkdir(parents=True)

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def skill(
        self, folder: str, body: str = "Do it.", below: str = "skills", **fields: Any
    ) -> Path:
        """Write a skill; ``field=None`` leaves a field out."""
        name = folder.rpartition("/")[2]
        fields = {"name": name, "description": f"About {name}."} | fields
        lines = [f"{k.replace('_', '-')}: {v}" for k, v in fields.items() if v is not None]
        return self.write(f"{below}/{folder}/SKILL.md", "\n".join(["---", *lines, "---", body]))

    def source(self, name: str, kind: str = "skills", backend: str = "local", **more: Any) -> Any:
        """A source in one of the folders, by its kind or ``path``."""
        place: dict[str, Any] = {"directory": str(self.root)}
        if backend == "github":
            place = {"github": "garden/tools"}
        return {"name": name, "kind": kind, "path": kind, **place, **more}

    def config(self, *sources: Any, **more: Any) -> dict[str, Any]:
        """``portal.yaml`` with these sources."""
        github = {"api_url": self.github.url, **more.pop("github", {})}
        return {"plugins": {"skills_repo": {"sources": list(sources), "github": github, **more}}}

    def opened(
        self, *sources: Any, data_dir: Path | None = None, wait_ready: bool = True, **more: Any
    ) -> AbstractAsyncContextManager[TestPortal]:
        """A portal with these sources; ``tiers`` are its tiers.yaml."""
        return _opened(self.config(*sources, **more), more, data_dir, wait_ready)


@asynccontextmanager
async def _opened(
    config: dict[str, Any], more: dict[str, Any], data_dir: Path | None, wait_ready: bool
) -> AsyncGenerator[TestPortal]:
    tiers = more.pop("tiers", None)
    config["plugins"]["skills_repo"].pop("tiers", None)
    async with open_test_portal(
        plugin, config=config, tiers=tiers, data_dir=data_dir, wait_ready=wait_ready
    ) as portal:
        yield portal


@pytest.fixture(scope="session")
def github_server() -> Iterator[GithubContents]:
    """A GitHub on loopback, for the whole session."""
    with GithubContents() as server:
        yield server


@pytest.fixture
def garden(tmp_path: Path, github_server: GithubContents) -> Iterator[Garden]:
    """A repository with empty folders, at a GitHub that answers well."""
    github_server.answers()
    github_server.requests.clear()
    github_server.repos.clear()
    github_server.renamed.clear()
    yield Garden(tmp_path / "tools", github_server)
    github_server.answers()
