"""A repository on GitHub, read through the Contents API; its whole tree as one tarball."""

from __future__ import annotations

import asyncio
import base64
import re
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import IO, Any
from urllib.parse import quote

from pydantic_core import from_json

from gateway.repositories import history, paths, remote_history
from gateway.repositories.api import JSON, RAW, Answer, Api, Asking, silent
from gateway.repositories.app import Operator
from gateway.repositories.batches import in_batches
from gateway.repositories.blobs import blob_sha
from gateway.repositories.errors import ADVICE, Advice, Place, SourceFailed, TooLarge
from gateway.repositories.exclusions import LeavingOut
from gateway.repositories.file_history import FileHistory, FileVersion
from gateway.repositories.git import GitFailed
from gateway.repositories.local import no_folder, too_large
from gateway.repositories.protocol import (
    Comparison,
    Entry,
    File,
    Known,
    LeftOut,
    NotModified,
    Tree,
)
from gateway.repositories.remote_dates import Origin, clone_url, remote_dates
from gateway.repositories.tarball import MAX_COMPRESSED_BYTES, BadTarball, Tarball

TARBALL_TIMEOUT_SECONDS = 300.0
"""How long a whole repository may take."""
MAX_CONCURRENT_READS = 8
"""How many versions of a file are read at a time."""

_MEBIBYTE = 1024 * 1024
_MAX_INLINE_BYTES = _MEBIBYTE
"""Bytes of a file that GitHub puts into its JSON; of a larger one only the raw form is sent."""
_MAX_FILE_JSON_BYTES = 2 * _MAX_INLINE_BYTES + 64 * 1024
"""Bytes of that JSON: the file in Base64, and its metadata."""
_COMMIT_DIGITS = 12
"""Digits of a commit that errors show."""
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')


class GithubRepository:
    """A repository on GitHub.

    Args:
        api: GitHub.
        name: ``owner/repo``.
        branch: the branch, a tag or a commit.
        max_file: the largest file that is served, in bytes.
        reads_as: the operator's credential for reading files, or None where that is the
            caller's, or nobody's.
        indexes_as: the operator's credential for everything else, or None.
        advice: what errors tell the portal's admin to change.
    """

    def __init__(
        self,
        api: Api,
        name: str,
        branch: str,
        max_file: int,
        *,
        reads_as: Operator | None = None,
        indexes_as: Operator | None = None,
        advice: Advice = ADVICE,
    ) -> None:
        self._api = api
        self._name = name
        self._branch = branch
        self._max_file = max_file
        self._reads_as = reads_as
        self._indexes_as = indexes_as
        self._advice = advice

    @property
    def repo(self) -> str:
        """``owner/repo``."""
        return self._name

    @property
    def branch(self) -> str:
        """The branch."""
        return self._branch

    def place(self, path: str | None = None, at: str | None = None) -> Place:
        """How errors name this repository, or a file of it, at its branch or at a commit."""
        return Place(self._name, path, at[:_COMMIT_DIGITS] if at else self._branch)

    async def read(
        self,
        path: str,
        credential: str | None = None,
        known: Known | None = None,
        *,
        at: str | None = None,
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`).

        Args:
            path: from the repository's root.
            credential: the caller's own, where the source asks for it.
            known: the state that is known already.
            at: the commit, rather than the branch as it is now.
        """
        paths.checked(path, "path")
        operator = self._reads_as if credential is None else None
        async with self._asking(self.place(path, at), operator, credential) as asking:
            return await self._contents(path, at or self._branch, asking, known)

    @asynccontextmanager
    async def snapshot(self, at: str | None = None) -> AsyncGenerator[GithubSnapshot]:
        """Fetch the whole tree (see :class:`Repository`).

        Args:
            at: the commit, rather than the branch as it is now.
        """
        with tempfile.TemporaryFile() as file:
            async with self._as_operator(at) as asking:
                size = await self._download(file, at or self._branch, asking)
            yield GithubSnapshot(file, size, asking, self._max_file)

    async def head(self) -> str | None:
        """The commit that the branch names now, or None where there is no such branch.

        Raises:
            SourceFailed: GitHub refuses, or shows no such repository.
        """
        async with self._as_operator() as asking:
            return await history.head(self._api, self._url("commits", self._branch), asking)

    async def stamp(self, below: str = "") -> str | None:
        """The commit that the branch names now; raises as :meth:`head`."""
        return await self.head()

    async def tree(self, commit: str) -> Tree:
        """Every file at a commit, by path and blob, without its content.

        Raises:
            SourceFailed: GitHub refuses, or has no such commit (any more).
        """
        async with self._as_operator(commit) as asking:
            url = self._url("git/trees", commit) + "?recursive=1"
            return await history.tree(self._api, url, asking, commit)

    async def compare(self, base: str, head: str) -> Comparison:
        """The changes from one commit to another.

        Raises:
            SourceFailed: GitHub refuses; NOT_FOUND where one of them is gone, as it may be after a
                force push.
        """
        async with self._as_operator(base) as asking:
            span = f"{quote(base, safe='')}...{quote(head, safe='')}"
            url = f"/repos/{self._name}/compare/{span}?per_page=1&page=1"
            return await history.compare(self._api, url, asking)

    async def committed(self, commit: str) -> datetime:
        """When a commit was made.

        Raises:
            SourceFailed: GitHub refuses, or has no such commit (any more).
        """
        async with self._as_operator(commit) as asking:
            return await history.committed(self._api, self._url("git/commits", commit), asking)

    async def dates(self, commit: str) -> Mapping[str, datetime] | None:
        """When each file of a commit was last committed, by path.

        Returns:
            None where that cannot be told: without git, or where the repository cannot be cloned
            over https. A file that only a merge has touched is not among them.

        Raises:
            SourceFailed: GitHub gives the operator's App no token.
        """
        url = clone_url(self._api.url, self._name)
        if url is None:
            return None
        async with self._as_operator(commit) as asking:
            try:
                return await remote_dates(Origin(url, asking.token), commit)
            except GitFailed:
                return None

    async def file_history(self, path: str, at: str, most: int) -> FileHistory:
        """The commits that touched a file, and what it said after each; a request for each.

        Args:
            path: the file's path at the commit.
            at: the commit to begin with.
            most: how many commits are looked at, at most.

        Raises:
            SourceFailed: GitHub refuses, or does not answer as it should.
        """
        paths.checked(path, "path")
        async with self._asking(self.place(path, at), self._indexes_as, at=at) as asking:
            listing = remote_history.touches(self._api, self._name, asking, path, at, most + 1)
            found = [each async for each in listing]
        turn = asyncio.Semaphore(MAX_CONCURRENT_READS)
        read = [self._version(each, turn) for each in found[:most]]
        versions = [each for each in await asyncio.gather(*read) if each is not None]
        return FileHistory(versions, len(found) > most)

    async def _version(self, version: FileVersion, turn: asyncio.Semaphore) -> FileVersion | None:
        """A version with its content; None where its commit removed the file."""
        try:
            async with turn:
                file = await self.read(version.path, at=version.commit)
        except TooLarge:
            return version
        except SourceFailed as failure:
            if failure.code == "NOT_FOUND":
                return None
            raise
        return replace(version, content=file.content) if isinstance(file, File) else version

    def _as_operator(self, at: str | None = None) -> AbstractAsyncContextManager[Asking]:
        return self._asking(self.place(at=at), self._indexes_as, at=at)

    @asynccontextmanager
    async def _asking(
        self,
        place: Place,
        operator: Operator | None,
        credential: str | None = None,
        at: str | None = None,
    ) -> AsyncGenerator[Asking]:
        """Ask with a credential; a refused token of the operator is reported to them."""
        whose, token = "nobody", credential
        if credential is not None:
            whose = "caller"
        elif operator is not None:
            whose, token = "operator", await operator.token()
        try:
            yield Asking(place, token, whose, self._advice, "commit" if at else "branch")
        except SourceFailed as failure:
            if operator is not None and failure.code == "UNAUTHORIZED":
                operator.refused()
            raise

    async def _contents(
        self, path: str, ref: str, asking: Asking, known: Known | None
    ) -> File | NotModified:
        url = self._url("contents", path) + f"?ref={quote(ref, safe='')}"
        etag = (known.etag if known else None) or ""
        # Whatever may be served: of a file that is too large, its size is in the answer too.
        answer = await self._api.get(url, asking, _MAX_FILE_JSON_BYTES, accept=JSON, etag=etag)
        if answer.status == 304:
            if not etag:
                raise silent(asking, "answers 304 to a question without a condition", 304)
            return NotModified()
        described = _described(answer.body, asking)
        size = described.get("size")
        if isinstance(size, int) and size > self._max_file:
            raise self._too_large(asking, size)
        content = _decoded(described, asking)
        if content is None:
            content = (await self._api.get(url, asking, self._max_file, accept=RAW)).body
        if isinstance(size, int) and size != len(content):
            raise silent(asking, f"sends {len(content):,} of {size:,} bytes", answer.status)
        if len(content) > self._max_file:
            raise self._too_large(asking, len(content))
        sha = described.get("sha")
        stated = sha if isinstance(sha, str) and sha else blob_sha(content)
        return File(path, content, stated, _etag(answer))

    def _too_large(self, asking: Asking, size: int) -> TooLarge:
        return too_large(asking.place, size, self._max_file, self._advice.largest)

    async def _download(self, file: IO[bytes], ref: str, asking: Asking) -> int:
        """Write the tarball into a file; its size."""
        size = 0
        try:
            async with asyncio.timeout(TARBALL_TIMEOUT_SECONDS):
                async with self._api.opened(
                    "GET",
                    self._url("tarball", ref),
                    asking,
                    headers={"accept": JSON},
                    elsewhere=True,
                ) as response:
                    async for chunk in response.aiter_bytes(_MEBIBYTE):
                        size += len(chunk)
                        if size > MAX_COMPRESSED_BYTES:
                            raise _too_much(asking)
                        await asyncio.to_thread(file.write, chunk)
        except TimeoutError:
            what = f"did not send the repository within {TARBALL_TIMEOUT_SECONDS:g} seconds"
            raise silent(asking, what) from None
        except OSError as error:
            message = f"The tarball cannot be kept while it is read: {error.strerror}."
            raise SourceFailed("UPSTREAM_ERROR", message, asking.place) from None
        file.seek(0)
        return size

    def _url(self, what: str, path: str) -> str:
        parts = "/".join(quote(part, safe="") for part in path.split("/"))
        return f"/repos/{self._name}/{what}/{parts}"


class GithubSnapshot:
    """A tarball that was fetched (see :class:`Snapshot`).

    Args:
        file: the tarball.
        size: its bytes.
        asking: who asked for it.
        max_file: bytes up to which a file's content is kept.
    """

    def __init__(self, file: IO[bytes], size: int, asking: Asking, max_file: int) -> None:
        self._left_out = LeavingOut()
        self._tarball = Tarball(file, size, max_file, self._left_out.report)
        self._asking = asking

    @property
    def commit(self) -> str | None:
        """The commit's id, as the tarball notes it."""
        return self._tarball.commit

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The files that were left out."""
        return self._left_out.files

    async def files(self, below: str = "") -> AsyncGenerator[Entry]:
        """Every file below a folder (see :class:`Snapshot`)."""
        async with aclosing(in_batches(self._entries(below))) as found:
            async for entry in found:
                yield entry

    def _entries(self, below: str) -> Generator[Entry]:
        seen = False
        try:
            for entry in self._tarball.entries(below):
                seen = True
                yield entry
        except BadTarball as failure:
            raise silent(self._asking, str(failure)) from None
        if below and not seen and not self._left_out.files:
            place = self._asking.place
            raise no_folder(Place(place.repo, below, place.branch))


def _etag(answer: Answer) -> str | None:
    """The entity tag of an answer, if it can be sent back (RFC 9110, section 8.8.3)."""
    etag = answer.headers.get("etag", "")
    return etag if _ETAG.fullmatch(etag) else None


def _described(body: bytes, asking: Asking) -> dict[str, Any]:
    """The Contents API's answer about a file."""
    try:
        described = from_json(body)
    except ValueError:
        raise silent(asking, "answers with something else than its JSON", 200) from None
    kind = described.get("type", "file") if isinstance(described, dict) else "dir"
    if not isinstance(described, dict) or kind != "file":
        shown = {"dir": "folder", "symlink": "link", "submodule": "submodule"}.get(str(kind), "?")
        message = f"{asking.place.path} in {asking.place.repo} is no file but a {shown}."
        raise SourceFailed("NOT_FOUND", message, asking.place)
    return described


def _decoded(described: dict[str, Any], asking: Asking) -> bytes | None:
    """The content of a file (RFC 4648, section 4), or None where GitHub sends it raw only."""
    content = described.get("content")
    if described.get("encoding") == "none" or (content == "" and described.get("size")):
        return None
    if not isinstance(content, str) or described.get("encoding", "base64") != "base64":
        raise silent(asking, "answers without the file's content", 200)
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except ValueError:
        raise silent(asking, "sends a file that is no whole Base64", 200) from None


def _too_much(asking: Asking) -> SourceFailed:
    message = (
        f"The tarball of {asking.place.repo} has more than {MAX_COMPRESSED_BYTES:,} bytes, which "
        "is more than the portal reads. Give the source a smaller repository."
    )
    return SourceFailed("UPSTREAM_ERROR", message, asking.place)
