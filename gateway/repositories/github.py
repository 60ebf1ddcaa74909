"""A repository on GitHub, read through the Contents API; its whole tree as one tarball."""

from __future__ import annotations

import asyncio
import base64
import re
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import IO, Any
from urllib.parse import quote

from pydantic_core import from_json

from gateway.repositories import paths
from gateway.repositories.api import JSON, RAW, Answer, Api, Asking, silent
from gateway.repositories.app import Operator
from gateway.repositories.batches import in_batches
from gateway.repositories.blobs import blob_sha
from gateway.repositories.errors import Place, SourceFailed
from gateway.repositories.leaving_out import LeavingOut
from gateway.repositories.local import no_folder, too_large
from gateway.repositories.protocol import Entry, File, Known, LeftOut, NotModified
from gateway.repositories.tarball import COMPRESSED, BadTarball, Tarball

TARBALL_SECONDS = 300.0
"""How long a whole repository may take."""

_MEBIBYTE = 1024 * 1024
_WITH_CONTENT = _MEBIBYTE
"""Bytes of a file that GitHub puts into its JSON; of a larger one only the raw form is sent."""
_AROUND = 64 * 1024
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
        indexes_as: the operator's credential for the whole tree, or None.
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
    ) -> None:
        self._api = api
        self._name = name
        self._branch = branch
        self._max_file = max_file
        self._reads_as = reads_as
        self._indexes_as = indexes_as

    @property
    def repo(self) -> str:
        """``owner/repo``."""
        return self._name

    @property
    def branch(self) -> str:
        """The branch."""
        return self._branch

    def place(self, path: str | None = None) -> Place:
        """How errors name this repository, or a file of it."""
        return Place(self._name, path, self._branch)

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`)."""
        paths.checked(path, "path")
        operator = self._reads_as if credential is None else None
        asking = await _asking(self.place(path), credential, operator)
        try:
            return await self._contents(path, asking, known)
        except SourceFailed as failure:
            _tell(operator, failure)
            raise

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[GithubSnapshot]:
        """Fetch the whole tree (see :class:`Repository`)."""
        asking = await _asking(self.place(), None, self._indexes_as)
        with tempfile.TemporaryFile() as file:
            try:
                size = await self._download(file, asking)
            except SourceFailed as failure:
                _tell(self._indexes_as, failure)
                raise
            yield GithubSnapshot(file, size, asking, self._max_file)

    async def _contents(self, path: str, asking: Asking, known: Known | None) -> File | NotModified:
        url = self._url("contents", path) + f"?ref={quote(self._branch, safe='')}"
        etag = (known.etag if known else None) or ""
        largest = min(self._max_file, _WITH_CONTENT) * 2 + _AROUND
        answer = await self._api.get(url, asking, largest, accept=JSON, etag=etag)
        if answer.status == 304:
            if not etag:
                raise silent(asking, "answers 304 to a question without a condition", 304)
            return NotModified()
        described = _described(answer.body, asking)
        size = described.get("size")
        if isinstance(size, int) and size > self._max_file:
            raise too_large(self.place(path), size, self._max_file)
        content = _decoded(described, asking)
        if content is None:
            content = (await self._api.get(url, asking, self._max_file, accept=RAW)).body
        if isinstance(size, int) and size != len(content):
            raise silent(asking, f"sends {len(content):,} of {size:,} bytes", answer.status)
        if len(content) > self._max_file:
            raise too_large(self.place(path), len(content), self._max_file)
        sha = described.get("sha")
        stated = sha if isinstance(sha, str) and sha else blob_sha(content)
        return File(path, content, stated, _etag(answer))

    async def _download(self, file: IO[bytes], asking: Asking) -> int:
        """Write the tarball into a file; its size."""
        size = 0
        try:
            async with asyncio.timeout(TARBALL_SECONDS):
                async with self._api.opened(
                    "GET",
                    self._url("tarball", self._branch),
                    asking,
                    headers={"accept": JSON},
                    elsewhere=True,
                ) as response:
                    async for chunk in response.aiter_bytes(_MEBIBYTE):
                        size += len(chunk)
                        if size > COMPRESSED:
                            raise _too_much(asking)
                        await asyncio.to_thread(file.write, chunk)
        except TimeoutError:
            what = f"did not send the repository within {TARBALL_SECONDS:g} seconds"
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
        """What was passed over."""
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
    """What the server knows the file by, if it can be sent back (RFC 9110, section 8.8.3)."""
    etag = answer.headers.get("etag", "")
    return etag if _ETAG.fullmatch(etag) else None


async def _asking(place: Place, credential: str | None, operator: Operator | None) -> Asking:
    if credential is not None:
        return Asking(place, credential, "caller")
    if operator is not None:
        return Asking(place, await operator.token(), "operator")
    return Asking(place)


def _tell(operator: Operator | None, failure: SourceFailed) -> None:
    if operator is not None and failure.code == "UNAUTHORIZED":
        operator.refused()


def _described(body: bytes, asking: Asking) -> dict[str, Any]:
    """What the Contents API says about a file."""
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
        f"The tarball of {asking.place.repo} has more than {COMPRESSED:,} bytes, which is more "
        "than the portal reads. Give the source a smaller repository."
    )
    return SourceFailed("UPSTREAM_ERROR", message, asking.place)
