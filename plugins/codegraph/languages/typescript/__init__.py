"""TypeScript and JavaScript, which see each other's files as their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.base import Language, Package

if TYPE_CHECKING:
    from plugins.codegraph.languages.rules import Rules
    from plugins.codegraph.languages.source_view import SourceView

MANIFESTS = (
    "package.json",
    "*tsconfig*.json",
    "base.json",
    "nextjs.json",
    "library.json",
    "react-library.json",
    "node.json",
    "jsconfig*.json",
    "pnpm-workspace.yaml",
    "lerna.json",
    "nx.json",
    "project.json",
    "turbo.json",
    "yarn.lock",
)


class _Script:
    """What both languages share; the grammar follows from a file's name."""

    name = ""
    suffixes: frozenset[str] = frozenset()
    manifests: tuple[str, ...] = MANIFESTS

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file."""
        from plugins.codegraph.languages.typescript.reader import read

        return read(path, source)

    def rules(self, view: SourceView) -> Rules:
        """How names are looked up."""
        from plugins.codegraph.languages.typescript.rules import ScriptRules

        return ScriptRules(view)

    def packages(self, view: SourceView) -> Sequence[Package]:
        """The npm packages of the repository; nothing for JavaScript, which shares them."""
        from plugins.codegraph.languages.typescript.workspaces import packages

        return packages(view) if self.name == "typescript" else ()


class TypeScript(_Script):
    """TypeScript, also with JSX, and declaration files."""

    name = "typescript"
    suffixes = frozenset({".ts", ".tsx", ".mts", ".cts"})


class JavaScript(_Script):
    """JavaScript: modules, CommonJS and scripts, also with JSX; JSDoc states its types."""

    name = "javascript"
    suffixes = frozenset({".js", ".jsx", ".mjs", ".cjs"})


LANGUAGES: tuple[Language, ...] = (TypeScript(), JavaScript())
