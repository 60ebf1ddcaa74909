"""Working copies of remote repositories: cloned once, then updated by fetching."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.toolkit.background import cancel
from plugins.codegraph.git.command import GitFailed, Limits, Remote, Watch, git

_REF = "refs/porch/head"
_BRANCHES = "refs/porch/branches"
_PACKS = 20
"""With more packs than this, they are repacked into one."""
_LOCKS = ("index.lock", "HEAD.lock", "shallow.lock", "config.lock", "packed-refs.lock")


class _TooLarge(GitFailed):
    """The copy is larger than the admin allows."""


@dataclass(frozen=True, slots=True)
class Updated:
    """The result of an update.

    Attributes:
        commit: the full id of the commit.
        branch: the branch's name.
    """

    commit: str
    branch: str


class WorkingCopy:
    """One repository's working copy; updating it requires the repository's lease.

    It has no history beyond the newest commit, and submodules stay empty.

    Args:
        directory: its directory, in the portal's data directory.
        remote: where it comes from.
        branch: the branch, or None for the host's default one.
        largest: the most bytes on disk.
        seconds: the time limit of a fetch.
    """

    def __init__(
        self, directory: Path, remote: Remote, branch: str | None, largest: int, seconds: float
    ) -> None:
        self.directory = directory
        self._remote = remote
        self._branch = branch
        self._largest = largest
        self._seconds = seconds

    async def update(self, watch: Watch | None = None) -> Updated:
        """Fetch the branch and check it out; a damaged copy is cloned anew.

        Raises:
            GitFailed: the host, the branch or the disk failed; the previous state stays.
        """
        with _full_disk():
            await asyncio.to_thread(self._unlock)
        try:
            return await self._fetched(watch)
        except _TooLarge:
            await self.remove()
            raise
        except GitFailed:
            if not await self._damaged():
                raise
            await self.remove()
            return await self._fetched(watch)

    async def fetch_branch(self, branch: str) -> str:
        """Fetch another branch beside what is checked out; returns its commit.

        Raises:
            GitFailed: the host, the branch or the disk failed; what was fetched before stays.
        """
        with _full_disk():
            await asyncio.to_thread(self._unlock)
        try:
            return await self._fetch(f"refs/heads/{branch}", branch_ref(branch), None)
        except _TooLarge:
            await self.forget_branch(branch)  # what is checked out must fit again
            raise

    async def heads(self, branch: str | None = None) -> dict[str, str]:
        """The commits of the host's branches by their names, or of one of them alone.

        Raises:
            GitFailed: the host does not answer.
        """
        await asyncio.to_thread(self.directory.mkdir, parents=True, exist_ok=True)
        wanted = "refs/heads/*" if branch is None else f"refs/heads/{branch}"
        answer = await self._git("ls-remote", "--", self._remote.url, wanted, remote=self._remote)
        found = (line.split("\t", 1) for line in answer.splitlines() if "\t" in line)
        heads = {
            ref.removeprefix("refs/heads/"): commit
            for commit, ref in found
            if ref.startswith("refs/heads/")
        }
        return {name: heads[name] for name in heads if branch in (None, name)}

    async def forget_branch(self, branch: str) -> None:
        """Let go of a branch that was fetched beside what is checked out."""
        if (self.directory / ".git").exists():
            await self._git("update-ref", "-d", branch_ref(branch))

    async def remove(self) -> None:
        """Delete it, if it exists.

        Raises:
            OSError: something of it cannot be deleted.
        """

        def delete() -> None:
            if self.directory.exists():
                shutil.rmtree(self.directory)

        await asyncio.to_thread(delete)

    async def _default_branch(self) -> str:
        asked = ("ls-remote", "--symref", "--", self._remote.url, "HEAD")
        answer = await self._git(*asked, remote=self._remote)
        for line in answer.splitlines():
            if line.startswith("ref: refs/heads/"):
                return line.removeprefix("ref: refs/heads/").partition("\t")[0]
        raise GitFailed(
            "The host does not say which branch is the default one: the repository may be empty. "
            "Push to it first, or name a branch with --branch."
        )

    async def _fetched(self, watch: Watch | None) -> Updated:
        commit, branch = await self._fetched_with_name(watch)
        await self._name_branch(f"refs/heads/{branch}")
        limits = Limits(self._seconds, exceeded=self._too_large)
        await self._git("reset", "--hard", "--quiet", _REF, limits=limits)
        await self._git("clean", "-ffdxq", limits=limits)
        await self._tidied()
        return Updated(commit, branch)

    async def _fetched_with_name(self, watch: Watch | None) -> tuple[str, str]:
        """Fetch the branch; its commit and name.

        What the default branch is called is asked at the same time: each question to a host
        takes a push as long as all else that Git does.
        """
        if self._branch is not None:
            return await self._fetch(f"refs/heads/{self._branch}", _REF, watch), self._branch
        await self._initialise()
        name = asyncio.create_task(self._default_branch())
        try:
            commit = await self._fetch("HEAD", _REF, watch)
            return commit, await name
        except GitFailed:
            await name  # which knows better why there is nothing to fetch
            raise
        finally:
            await cancel(name)

    async def _initialise(self) -> None:
        await asyncio.to_thread(self.directory.mkdir, parents=True, exist_ok=True)
        if not (self.directory / ".git" / "HEAD").exists():
            await self._git("init", "--quiet", "--template=", "--initial-branch=porch")

    async def _fetch(self, source: str, ref: str, watch: Watch | None) -> str:
        """Fetch the newest commit of a host's reference as one of ours; returns its id."""
        await self._initialise()
        wanted = f"+{source}:{ref}"
        options = ("--depth=1", "--no-tags", "--force", "--progress", "--no-write-fetch-head")
        limits = Limits(self._seconds, exceeded=self._too_large)
        await git(
            self.directory,
            *("fetch", *options, "--no-recurse-submodules", "--", self._remote.url, wanted),
            remote=self._remote,
            limits=limits,
            watch=watch,
        )
        if too_large := await asyncio.to_thread(self._too_large):
            raise _TooLarge(too_large)
        return (await self._git("rev-parse", "--verify", f"{ref}^{{commit}}")).strip()

    async def _name_branch(self, ref: str) -> None:
        """Have the checkout be on the branch that was fetched, so that its index says its name."""
        # A branch a and a branch a/b cannot both be: the former one goes first.
        former = (await self._git("for-each-ref", "--format=%(refname)", "refs/heads")).split()
        for each in former:
            if each != ref:
                await self._git("update-ref", "--no-deref", "-d", each)
        await self._git("symbolic-ref", "HEAD", ref)

    async def _damaged(self) -> bool:
        """Whether the copy itself is broken, rather than the host or the branch."""
        if not (self.directory / ".git").exists():
            return False
        try:
            await self._git("ls-files", "-z", "--cached")
            tip = await self._git("for-each-ref", "--format=%(objectname)", _REF)
            if tip.strip():
                await self._git("rev-list", "--quiet", "--objects", "-1", _REF)
        except GitFailed:
            return True
        return False

    async def _tidied(self) -> None:
        packs = list((self.directory / ".git" / "objects" / "pack").glob("*.pack"))
        if len(packs) > _PACKS:
            await self._git("repack", "-a", "-d", "-q")
            await self._git("prune", "--expire=now")

    def _unlock(self) -> None:
        """Delete lock files of a killed process; the lease rules out any other."""
        for name in _LOCKS:
            (self.directory / ".git" / name).unlink(missing_ok=True)
        for left in (self.directory / ".git" / "objects").glob("*/tmp_*"):
            left.unlink(missing_ok=True)

    def _too_large(self) -> str | None:
        if _size(self.directory, self._largest) <= self._largest:
            return None
        return (
            f"The working copy is larger than {self._largest:,} bytes. An admin may raise "
            "plugins: codegraph: largest_copy in portal.yaml."
        )

    async def _git(
        self, *arguments: str, remote: Remote | None = None, limits: Limits | None = None
    ) -> str:
        answer = await git(self.directory, *arguments, remote=remote, limits=limits)
        return answer.decode("utf-8", "surrogateescape")


def branch_ref(branch: str) -> str:
    """The reference by which a copy keeps a branch that is not checked out.

    By a digest of its name: references of branches a and a/b could not both be kept, and one may
    have gone since the other was fetched.
    """
    return f"{_BRANCHES}/{hashlib.sha256(branch.encode()).hexdigest()[:40]}"


def _size(directory: Path, enough: int) -> int:
    """The bytes below a directory; counting stops above ``enough``."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            with contextlib.suppress(OSError):  # it was moved or deleted meanwhile
                total += (Path(folder) / name).lstat().st_size
        if total > enough:
            break
    return total


@contextlib.contextmanager
def _full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise GitFailed(f"The working copy cannot be written: {error.strerror}.") from None
