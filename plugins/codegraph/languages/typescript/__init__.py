"""TypeScript and JavaScript, which can import each other's files."""

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
    """The base of both languages; the grammar is chosen by file name."""

    name = ""
    suffixes: frozenset[str] = frozenset()
    manifests: tuple[str, ...] = MANIFESTS

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Parse one file; see :meth:`Language.parse`."""
        from plugins.codegraph.languages.typescript.reader import read

        return read(path, source)

    def rules(self, view: SourceView) -> Rules:
        """The name lookup rules."""
        from plugins.codegraph.languages.typescript.rules import ScriptRules

        return ScriptRules(view)

    def packages(self, view: SourceView) -> Sequence[Package]:
        """The npm packages of the repository; empty for JavaScript, to list each only once."""
        from plugins.codegraph.languages.typescript.workspaces import packages

        return packages(view) if self.name == "typescript" else ()


class TypeScript(_Script):
    """TypeScript, also with JSX, and declaration files."""

    name = "typescript"
    suffixes = frozenset({".ts", ".tsx", ".mts", ".cts"})


class JavaScript(_Script):
    """JavaScript: ES modules, CommonJS and scripts, also with JSX; types come from JSDoc."""

    name = "javascript"
    suffixes = frozenset({".js", ".jsx", ".mjs", ".cjs"})


LANGUAGES: tuple[Language, ...] = (TypeScript(), JavaScript())
