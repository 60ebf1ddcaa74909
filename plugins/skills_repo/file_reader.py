"""Reads the files of sources, and caches them.

What a file holds is kept once, for everybody. Where the source says ``credential: caller``, only
those receive it who have lately proved to GitHub, with a token of their own, that they may read
the repository. A caller's token stays within the call that brought it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.contract import ANONYMOUS, Caller
from gateway.repositories import (
    File,
    Known,
    NotModified,
    Place,
    Repository,
    SourceFailed,
    checked_path,
    is_plain,
)
from plugins.skills_repo.access_cache import AccessCache
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.file_cache import CachedFile, Key, SingleFlight, SizedCache

FILE_CACHE_SIZE_BYTES = 32 * 1024 * 1024
"""Bytes of files that one process keeps."""
ABSENCE_CACHE_SIZE_BYTES = 1024 * 1024
"""Bytes for remembering which files are not there."""
MAX_STALE_AGE_S = 24 * 3600.0
"""Seconds for which a copy helps out while its source does not answer."""

_NO_CREDENTIAL = (
    "This source is read with your own GitHub token, and the request carries none. Send it in the "
    "header X-GitHub-Token; or, at /mcp/skills_repo, its URL-safe Base64 as the bearer token."
)
_BAD_CREDENTIAL = (
    "What the header X-GitHub-Token holds is no GitHub token. Send the token as GitHub shows it."
)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A file, and whether it is a stale copy.

    Attributes:
        file: the file.
        stale: whether it is an older copy, because its source does not answer now.
    """

    file: File
    stale: bool = False


@dataclass(frozen=True, slots=True)
class _Absence:
    failure: SourceFailed
    asked: float


class FileReader:
    """Reads files of sources, from the cache where the caller may have them.

    Args:
        config: the plugin's section of ``portal.yaml``.
        repositories: by the names of the sources.
        clock: seconds that only grow; replaced in tests.
        keeps: bytes of files that are kept.
    """

    def __init__(
        self,
        config: SkillsRepoConfig,
        repositories: Mapping[str, Repository],
        clock: Callable[[], float] = time.monotonic,
        keeps: int = FILE_CACHE_SIZE_BYTES,
    ) -> None:
        self._fresh = config.cache.total_seconds()
        self._repositories = repositories
        self._clock = clock
        self._files: SizedCache[CachedFile] = SizedCache(keeps, lambda kept: len(kept.file.content))
        self._absent: SizedCache[_Absence] = SizedCache(ABSENCE_CACHE_SIZE_BYTES)
        self._flights: SingleFlight[ReadResult] = SingleFlight()
        self._proofs = AccessCache(self._fresh, clock)

    async def read(
        self,
        source: Source,
        path: str,
        *,
        skip_cache: bool = False,
        credential: str | None = None,
        caller: Caller = ANONYMOUS,
    ) -> ReadResult:
        """Read a file.

        Args:
            source: whose.
            path: from the repository's root, so with the source's own ``path`` in front.
            skip_cache: whether to ask the source, whatever is kept; what is being asked for at
                this moment counts.
            credential: the caller's own GitHub token; used for sources that ask for it only.
            caller: who is calling.

        Raises:
            SourceFailed: it cannot be read.
        """
        checked_path(path, "path")
        if source.credential == "caller":
            return await self._read_as_caller(source, path, skip_cache, credential, caller)
        key = (source.name, path)
        if not skip_cache and (kept := self._kept(key, key)) is not None:
            return ReadResult(kept)
        return await self._flights.share(key, lambda: self._fetch(source, path))

    def forget(self, source: str) -> None:
        """Drop what is kept of a source, because it has changed."""
        self._files.forget_source(source)
        self._absent.forget_source(source)

    async def close(self) -> None:
        """End the requests that still run."""
        await self._flights.close()

    async def _read_as_caller(
        self, source: Source, path: str, skip_cache: bool, token: str | None, caller: Caller
    ) -> ReadResult:
        if token is None or not is_plain(token):
            message = _NO_CREDENTIAL if not token else _BAD_CREDENTIAL
            raise SourceFailed("UNAUTHORIZED", message, Place(source.github, path, source.ref))
        mark = self._proofs.mark(token, caller.person or "", (source.github or "").lower())
        own = (source.name, path, mark.hex())
        if not skip_cache and self._proofs.holds(mark):
            kept = self._kept((source.name, path), own)
            if kept is not None:
                return ReadResult(kept)
        return await self._fetch(source, path, token, mark)

    def _kept(self, key: Key, absence: Key) -> File | None:
        """The file that is kept, if it is fresh; None where it must be asked for.

        Raises:
            SourceFailed: it was not there, a moment ago.
        """
        oldest = self._clock() - self._fresh
        absent = self._absent.get(absence)
        if absent is not None and absent.asked > oldest:
            raise absent.failure.again()
        kept = self._files.get(key)
        return kept.file if kept is not None and kept.asked > oldest else None

    async def _fetch(
        self, source: Source, path: str, token: str | None = None, mark: bytes | None = None
    ) -> ReadResult:
        """Ask the source, and keep what it answers.

        Args:
            token: the caller's own, where the source asks for it.
            mark: what the caller's proof is known by, likewise.
        """
        key = (source.name, path)
        absence = key if mark is None else (*key, mark.hex())
        kept = self._files.get(key)
        known = Known(kept.file.sha, kept.file.etag) if kept is not None else None
        asked = self._clock()
        try:
            found = await self._repositories[source.name].read(path, token, known)
        except SourceFailed as failure:
            if failure.transient and kept is not None and self._may_help(kept, mark):
                return ReadResult(kept.file, stale=True)
            self._refused(source, key, absence, failure, mark)
            raise
        file = kept.file if isinstance(found, NotModified) and kept is not None else found
        assert isinstance(file, File)  # noqa: S101  (nothing but what is known is not modified)
        if mark is not None:
            self._proofs.proved(mark, asked)
        self._absent.forget(absence)
        self._files.put(key, CachedFile(file, asked))
        return ReadResult(file)

    def _may_help(self, kept: CachedFile, mark: bytes | None) -> bool:
        """Whether an older copy may be served: one day long, and only to whom it was proved."""
        recent = self._clock() < kept.asked + MAX_STALE_AGE_S
        return recent and (mark is None or self._proofs.holds(mark))

    def _refused(
        self, source: Source, key: Key, absence: Key, failure: SourceFailed, mark: bytes | None
    ) -> None:
        """Drop what a refusal makes invalid: the caller's access, or the cached file."""
        if failure.transient or failure.code in {"INVALID_PATH", "UPSTREAM_ERROR"}:
            return
        if mark is None:
            self._files.forget(key)
        else:
            self._proofs.refused(mark)
        if failure.code == "NOT_FOUND" and source.github is not None:
            self._absent.put(absence, _Absence(failure.again(), self._clock()))
