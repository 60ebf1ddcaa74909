"""The interface of a language module: parsing a file to facts, and name lookup rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, cast

from plugins.codegraph.facts import FileFacts

if TYPE_CHECKING:
    from tree_sitter import Parser

    from plugins.codegraph.languages.rules import Rules
    from plugins.codegraph.languages.source_view import SourceView


@dataclass(frozen=True, slots=True)
class Package:
    """One package of a repository; a monorepo has several.

    Attributes:
        name: as other packages import it: ``@app/auth``, ``example.org/auth``, ``auth``.
        root: its directory, relative to the repository's root; "" for the root itself.
        ecosystem: ``npm``, ``python``, ``go``, ``cargo``, ``maven``.
        tool: what manages the workspace it is part of: ``pnpm``, ``yarn``, ``npm``, ``nx``,
            ``lerna``, ``turborepo``, ``uv``, ``cargo``, ``go.work``, or "" for a single package.
    """

    name: str
    root: str
    ecosystem: str
    tool: str = ""


class Language(Protocol):
    """One language. Instances hold no state of a repository.

    Attributes:
        name: such as ``python``.
        suffixes: file name endings with their dot, in lower case.
        manifests: file names, or :mod:`fnmatch` patterns, of the settings needed to resolve its
            imports (``pyproject.toml``, ``tsconfig*.json``); their text is stored with the
            snapshot, for :meth:`SourceView.read`.
    """

    name: str
    suffixes: frozenset[str]
    manifests: tuple[str, ...]

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Parse one file to facts.

        Never raises because of a file's content: syntax errors, invalid UTF-8 and too deep nesting
        are reported in ``problem``, next to everything that could be read.

        Args:
            path: relative to the repository's root, with ``/``.
            source: its bytes.
        """
        ...

    def rules(self, view: SourceView) -> Rules:
        """The name lookup rules of this language for one repository."""
        ...

    def packages(self, view: SourceView) -> Sequence[Package]:
        """The packages that this ecosystem's manifests declare."""
        ...


@cache
def parser(grammar: str) -> Parser:
    """The parser of a grammar (``python`` of ``tree_sitter_python``), loaded on first use.

    One serves the whole process: parsing holds the GIL anyway.
    """
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    return Parser(Grammar(import_module(f"tree_sitter_{grammar}").language()))


@dataclass(frozen=True, slots=True)
class ParsedLanguage:
    """A :class:`Language` with a grammar and a package of its own, imported on first use.

    Attributes:
        name, suffixes, manifests: see :class:`Language`. ``name`` is also the name of its package
            under ``languages``, whose ``lowerer.Lowerer`` turns a syntax tree into facts.
        lookup: its ``Rules``, as ``module:class`` within the package.
        ecosystem: the function that lists the packages of a view, as ``module:function``.
    """

    name: str
    suffixes: frozenset[str]
    manifests: tuple[str, ...]
    lookup: str
    ecosystem: str

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Parse one file; see :meth:`Language.parse`."""
        lowerer = self._part("lowerer:Lowerer")(path, source)
        return cast(FileFacts, lowerer.lower(parser(self.name).parse(source).root_node))

    def rules(self, view: SourceView) -> Rules:
        """The language's name lookup rules."""
        return cast("Rules", self._part(self.lookup)(view))

    def packages(self, view: SourceView) -> Sequence[Package]:
        """The packages that the manifests declare."""
        return cast(Sequence[Package], self._part(self.ecosystem)(view))

    def _part(self, name: str) -> Any:
        return resolve_name(f"plugins.codegraph.languages.{self.name}.{name}")
