"""The repository as the linker sees it.

Everything that linking one file may depend on is read through this interface, so that each
access can be recorded as a dependency, found or not. When files change, those that depend on
something that changed are linked again: so an incremental index equals a full one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plugins.codegraph.facts import FileFacts


class SourceView(Protocol):
    """One state of a repository's files."""

    @property
    def repo(self) -> str:
        """The repository's id."""
        ...

    def facts(self, path: str) -> FileFacts | None:
        """The facts of a file, or None where there is no such file in a known language."""
        ...

    def exists(self, path: str) -> bool:
        """Whether the graph has a file at this path."""
        ...

    def directory(self, path: str) -> Sequence[str]:
        """The known files directly in a directory ("" is the root), sorted."""
        ...

    def packaged(self, language: str, package: str) -> Sequence[str]:
        """The files of a language that declare this package (Go, Java), sorted."""
        ...

    def manifests(self, name: str) -> Sequence[str]:
        """The paths of all manifests with this file name or pattern, sorted, shortest first."""
        ...

    def read(self, path: str) -> bytes | None:
        """The bytes of a manifest, or None where there is none at that path."""
        ...
