"""The files and manifests of one state of a repository, indexed for the linker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename, dirname
from typing import Generic, Protocol, TypeVar


class _File(Protocol):
    @property
    def language(self) -> str: ...

    @property
    def package(self) -> str: ...


File = TypeVar("File", bound=_File)


class Files(Generic[File]):
    """A ``SourceView`` without the facts.

    Args:
        repo: the repository's id.
        files: what is known of each file, at least its language and package, by path.
        manifests: the bytes of the manifests, by path.
    """

    def __init__(
        self, repo: str, files: Mapping[str, File], manifests: Mapping[str, bytes]
    ) -> None:
        self.repo = repo
        self._files = files
        self._manifests = manifests

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._files

    def directory(self, path: str) -> Sequence[str]:
        """The files directly in a directory."""
        return self._directories.get(path, ())

    def packaged(self, language: str, package: str) -> Sequence[str]:
        """The files that declare a package."""
        return self._packages.get((language, package), ())

    def manifests(self, name: str) -> Sequence[str]:
        """The manifests with this name or pattern."""
        found = [path for path in self._manifests if fnmatchcase(basename(path), name)]
        return sorted(found, key=lambda path: (path.count("/"), len(path), path))

    def read(self, path: str) -> bytes | None:
        """The bytes of a manifest."""
        return self._manifests.get(path)

    @cached_property
    def _directories(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self._files):
            found.setdefault(dirname(path), []).append(path)
        return found

    @cached_property
    def _packages(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for path in sorted(self._files):
            file = self._files[path]
            if file.package:
                found.setdefault((file.language, file.package), []).append(path)
        return found
