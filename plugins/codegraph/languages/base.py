"""What a language module gives: how to read a file, and how its names are looked up."""

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
            kept with the snapshot, so that :meth:`SourceView.read` can give it.
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

    def rules(self, view: SourceView) -> Rules:
        """How names of this language are looked up in a repository."""
        ...

    def packages(self, view: SourceView) -> Sequence[Package]:
        """The packages of this language's ecosystem that the manifests name."""
        ...


@cache
def parser(grammar: str) -> Parser:
    """The parser of a grammar (``python`` of ``tree_sitter_python``), loaded when first needed.

    One serves a whole process: parsing holds the interpreter's lock.
    """
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    return Parser(Grammar(import_module(f"tree_sitter_{grammar}").language()))


@dataclass(frozen=True, slots=True)
class ParsedLanguage:
    """A :class:`Language` with a grammar and a package of its own, imported when first needed.

    Attributes:
        name, suffixes, manifests: as every language has them. The package under ``languages`` has
            the name too, and in it ``lowerer.Lowerer`` makes facts of a syntax tree.
        lookup: its ``Rules``, as ``module:class`` within the package.
        ecosystem: what gives its packages for a view, as ``module:function``.
    """

    name: str
    suffixes: frozenset[str]
    manifests: tuple[str, ...]
    lookup: str
    ecosystem: str

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file."""
        lowerer = self._part("lowerer:Lowerer")(path, source)
        return cast(FileFacts, lowerer.lower(parser(self.name).parse(source).root_node))

    def rules(self, view: SourceView) -> Rules:
        """How its names are looked up."""
        return cast("Rules", self._part(self.lookup)(view))

    def packages(self, view: SourceView) -> Sequence[Package]:
        """The packages that the manifests name."""
        return cast(Sequence[Package], self._part(self.ecosystem)(view))

    def _part(self, name: str) -> Any:
        return resolve_name(f"plugins.codegraph.languages.{self.name}.{name}")
