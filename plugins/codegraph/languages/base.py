"""What a language module gives: how to read a file, and how its names are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from plugins.codegraph.facts import FileFacts

if TYPE_CHECKING:
    from plugins.codegraph.linking.rules import Rules
    from plugins.codegraph.linking.world import World


@dataclass(frozen=True, slots=True)
class Package:
    """One package of a repository; a monorepo has several.

    Attributes:
        name: as other packages name it: ``@app/auth``, ``example.org/auth``, ``auth``.
        root: its directory, from the repository's root; "" for the root itself.
        ecosystem: ``npm``, ``python``, ``go``, ``cargo``, ``maven``.
        tool: what makes the repository a workspace: ``pnpm``, ``yarn``, ``npm``, ``nx``,
            ``lerna``, ``turborepo``, ``uv``, ``cargo``, ``go.work``, or "" where it is alone.
    """

    name: str
    root: str
    ecosystem: str
    tool: str = ""


class Language(Protocol):
    """One language. An instance holds no state of a repository.

    Attributes:
        name: such as ``python``.
        suffixes: file name endings with their dot, in lower case.
        manifests: file names, or patterns as :mod:`fnmatch` has them, of the settings that
            resolving its imports needs (``pyproject.toml``, ``tsconfig*.json``); their text is
            kept with the snapshot, so that :meth:`World.read` can give it.
    """

    name: str
    suffixes: frozenset[str]
    manifests: tuple[str, ...]

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file.

        It never raises for what stands in the file: syntax errors, bytes that are no UTF-8 and
        deep nesting end up in ``problem``, with all that could be read.

        Args:
            path: from the repository's root, with ``/``.
            source: its bytes.
        """
        ...

    def rules(self, world: World) -> Rules:
        """How names of this language are looked up in a repository."""
        ...

    def packages(self, world: World) -> Sequence[Package]:
        """The packages of this language's ecosystem that the manifests name."""
        ...
