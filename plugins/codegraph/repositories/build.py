"""Makes a repository's index: fetches its files, has them indexed, and records the result."""

from __future__ import annotations

import base64
import contextlib
import errno
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gateway.toolkit.spans import span
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.git.command import GitFailed, Remote
from plugins.codegraph.git.working_copy import WorkingCopy
from plugins.codegraph.repositories.leases import Gone, Lease, Leases
from plugins.codegraph.repositories.repository import LOOKING, WITHDRAWN, Repository
from plugins.codegraph.repositories.urls import host_of

if TYPE_CHECKING:
    from plugins.codegraph.repositories.indexes import Indexes

Progress = Callable[[int, int, str], None]
"""``progress(done, total, message)``; must return at once."""
Then = Callable[[Repository], Awaitable[None]]
"""``await then(repository)``: what is done once an index is served, before it is summarised."""


async def nothing_more(repository: Repository) -> None:
    """Do nothing more once an index is served."""


class Steps(Protocol):
    """Durable steps (``JobRun``), or plain ones."""

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        """Await a function's result, or return the recorded one."""
        ...


class PlainSteps:
    """Steps of a process that starts over after it was killed."""

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        """Await a function's result."""
        return await function(*args)


class BuildFailed(Exception):
    """The index could not be made; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class IndexBuilder:
    """Makes indexes.

    Attributes:
        config: the plugin's section of ``portal.yaml``.
        copies: the directory of working copies.
        secret: reads a secret that a setting names.
        leases: the leases on repositories.
        index: indexes a directory.
    """

    config: CodegraphConfig
    copies: Path
    secret: Callable[[str], str]
    leases: Leases
    index: Indexes

    async def make(
        self,
        repository: Repository,
        holder: str,
        steps: Steps,
        progress: Progress = lambda done, total, message: None,
        then: Then = nothing_more,
    ) -> dict[str, Any]:
        """Index a repository in its current state.

        Args:
            repository: the repository.
            holder: the holder of its lease (``Leases.held``).
            steps: runs the steps, durably if possible.
            progress: receives the progress.
            then: what follows as soon as the index is served.

        Returns:
            A summary, as JSON values.

        Raises:
            Busy: somebody else works on it.
            Gone: the repository was removed meanwhile.
            BuildFailed: it failed; the registry records that too, and the served index stays.
        """
        async with self.leases.held(repository.id, holder) as hold:
            tell = _both(hold, progress)
            await self.leases.started(repository.id)
            try:
                with span("index repository", root=True):
                    await steps.step("files", self._files, repository, tell)
                    found: dict[str, Any] = await steps.step(
                        "index", self._indexed, repository, tell, then
                    )
            except Gone:
                raise
            except Exception as error:
                raise await self._failed(repository, error) from error
            await self.leases.finished(repository.id, found)
            return found

    async def catch_up(
        self, repository: Repository, holder: str, then: Then = nothing_more
    ) -> dict[str, Any] | None:
        """Index what changed in a directory, as :meth:`make`; None if nothing did.

        Raises:
            Busy: somebody else works on it.
            Gone: the repository was removed meanwhile.
            BuildFailed: it failed; the registry records that too, and the served index stays.
        """
        async with self.leases.held(repository.id, holder, message=LOOKING) as hold:
            try:
                root = self.root(repository)
                found = await self.index.changed(repository, root, hold.progress, then)
            except Exception as error:
                raise await self._failed(repository, error) from error
            if found is not None or repository.state.error:
                await self.leases.finished(repository.id, found or repository.state.summary)
            return found

    async def _failed(self, repository: Repository, error: Exception) -> BuildFailed:
        told = repository.state.summary.get(WITHDRAWN, {}).get("reason", "")
        reason = " ".join(filter(None, (told, failure_reason(error))))
        with contextlib.suppress(Exception):  # the database itself may be failing
            await self.leases.failed(repository.id, reason)
        return BuildFailed(reason)

    def root(self, repository: Repository) -> Path:
        """The directory with a repository's files."""
        if repository.kind == "path":
            return Path(repository.location)
        return self.copies / repository.id

    def copy(self, repository: Repository) -> WorkingCopy:
        """The working copy of a remote repository.

        Raises:
            ValueError: the secret named by the setting for its host's token is missing.
        """
        remote = remote_of(repository.location, self.config, self.secret)
        return WorkingCopy(
            self.root(repository),
            remote,
            repository.branch,
            int(self.config.largest_copy),
            self.config.fetch_timeout.total_seconds(),
        )

    async def _files(self, repository: Repository, tell: Progress) -> str:
        if repository.kind == "path":
            check_directory(Path(repository.location))
            return ""
        tell(0, 0, "fetching")
        watch = lambda done, total: tell(done, total, "fetching objects")  # noqa: E731
        return (await self.copy(repository).update(watch)).commit

    async def _indexed(self, repository: Repository, tell: Progress, then: Then) -> dict[str, Any]:
        return await self.index.index(repository, self.root(repository), tell, then)


def check_directory(directory: Path) -> None:
    """Check that a directory can be read.

    Raises:
        BuildFailed: it does not exist, is no directory, or permissions are missing.
    """
    try:
        next(iter(directory.iterdir()), None)
    except FileNotFoundError:
        raise BuildFailed(f"{directory} is not there. Give the path of a directory.") from None
    except NotADirectoryError:
        raise BuildFailed(f"{directory} is a file. Give the directory that holds it.") from None
    except OSError as error:
        raise BuildFailed(f"{directory} cannot be read: {error.strerror}.") from None


def remote_of(url: str, config: CodegraphConfig, secret: Callable[[str], str]) -> Remote:
    """The remote for an address, with the credential of its host.

    Raises:
        ValueError: the secret named by the setting for its host's token is missing.
    """
    host = config.hosts.get(host_of(url))
    if host is None:
        return Remote(url)
    if host.token is None:
        return Remote(url, ca_file=host.ca_file)
    given = f"{host.user}:{secret(host.token)}".encode()
    return Remote(url, f"Basic {base64.b64encode(given).decode()}", host.ca_file)


def failure_reason(error: BaseException) -> str:
    """Why an index failed, for an admin."""
    if isinstance(error, BuildFailed | GitFailed):
        return str(error)
    number = getattr(error, "errno", None)
    full = number == errno.ENOSPC or "disk is full" in str(error) or "No space left" in str(error)
    if full:
        return "The disk is full. Make room; what was indexed before is served meanwhile."
    return f"{type(error).__name__}: {error}"[:500]


def _both(hold: Lease, progress: Progress) -> Progress:
    def tell(done: int, total: int, message: str) -> None:
        hold.progress(done, total, message)
        progress(done, total, message)

    return tell
