"""A branch with a real history on a GitHub of the tests, followed into a real store."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog

from gateway.contract import Objects, Unruled
from gateway.repositories import Github, Retry, open_github
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.store import Store
from plugins.knowledge.sync.follower import Follower
from plugins.knowledge.sync.github import GithubSource
from plugins.knowledge.sync.sync import Sync, rules_of
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

NAME = "garden/kb"


def note(body: str = "Body.", **fields: Any) -> bytes:
    """A published note; ``field=None`` leaves a field out."""
    fields = {"publish": True, "date": "2024-10-16"} | fields
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\n".join(["---", *lines, "---", body]).encode()


class Branch:
    """The branch ``main`` of ``garden/kb`` and the library that follows it.

    Attributes:
        history: the repository; commit here.
        library: what is served of it, with the checks of every library.
        follower: follows the branch, once it is ``started``.
        error: raised by every sync, where it is set.
    """

    def __init__(self, library: Any, github: GithubContents, root: Path) -> None:
        self.history = History.begun(root / "kb")
        github.repos[NAME] = Repo(self.history.directory, history=self.history)
        self.github = github
        self.library = library
        self.retry = Retry(retries=1, first_s=0.0, timeout_s=10.0)

    @asynccontextmanager
    async def started(self, objects: Objects | None = None) -> AsyncGenerator[Branch]:
        """Begin as a new process would, for as long as the block lasts."""
        library, store = self.library, objects or self.library.objects
        config = KnowledgeConfig.model_validate(
            {"sources": [{"github": NAME}], "github": {"api_url": self.github.url}}
        )
        source = GithubSource(config.sources[0], config.types, config.max_note, store)
        await source.refresh()
        library.objects = library.indexed = store
        library.store = Store(store, Unruled())
        library.index = type(library.index)(store)
        library.syncing = Sync(
            [source], store, library.store, library.index, rules_of(config), library.notes.parent
        )
        await library.syncing.load()
        async with open_github(Github(api_url=self.github.url), lambda _: "") as github:
            repository = github.repository(NAME, "main", int(config.max_note))
            self.follower = Follower(
                source,
                repository,
                library.syncing,
                self._serve,
                structlog.get_logger(),
                self.retry,
            )
            yield self

    async def _serve(self) -> bool:
        await self.library.sync()
        return True

    async def fetched(self) -> list[str]:
        """What is kept of notes that a sync has not taken in yet."""
        return [info.key async for info in self.library.objects.list("fetched/")]
