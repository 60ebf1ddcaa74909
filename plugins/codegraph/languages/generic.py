"""File types without a language module: in the graph they are files only, with their language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plugins.codegraph.facts import FileFacts, Scope
from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.languages.rules import Rules
    from plugins.codegraph.languages.source_view import SourceView

_PROSE = frozenset({"markdown", "restructuredtext", "text", "asciidoc"})
_OPENING = 400
"""The maximum length, in characters, of the excerpt that serves as a prose file's doc."""
_KNOWN = {
    "asciidoc": ".adoc .asciidoc",
    "bazel": ".bzl /build /workspace",
    "c": ".c .h",
    "clojure": ".clj .cljs .cljc",
    "cmake": ".cmake",
    "cpp": ".cc .cpp .cxx .hpp .hh .hxx .ipp",
    "csharp": ".cs",
    "css": ".css .scss .sass .less",
    "csv": ".csv .tsv",
    "dart": ".dart",
    "dockerfile": ".dockerfile /dockerfile /containerfile",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl",
    "fsharp": ".fs .fsi .fsx",
    "graphql": ".graphql .gql",
    "groovy": ".groovy .gradle",
    "haskell": ".hs .lhs",
    "hcl": ".tf .tfvars .hcl",
    "html": ".html .htm .xhtml",
    "ini": ".ini .cfg .conf .properties .editorconfig",
    "json": ".json .jsonc .json5 .ipynb .geojson",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "make": ".mk /makefile /gnumakefile",
    "markdown": ".md .mdx .markdown",
    "nix": ".nix",
    "objective-c": ".m .mm",
    "ocaml": ".ml .mli",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1 .psm1",
    "protobuf": ".proto",
    "r": ".r",
    "restructuredtext": ".rst",
    "ruby": ".rb .rake .gemspec /gemfile /rakefile",
    "scala": ".scala .sc .sbt",
    "shell": ".sh .bash .zsh .fish",
    "solidity": ".sol",
    "sql": ".sql",
    "svelte": ".svelte",
    "swift": ".swift",
    "template": ".j2 .jinja .jinja2 .tmpl .mustache .hbs .ejs",
    "text": ".txt /license /readme /notice /authors /changelog",
    "toml": ".toml",
    "vue": ".vue",
    "xml": ".xml .xsd .xsl .svg .plist .csproj",
    "yaml": ".yaml .yml",
    "zig": ".zig",
}
"""File name endings by language; ``/name`` is a whole file name without an ending."""


@dataclass(frozen=True, slots=True)
class Text:
    """One such file type."""

    name: str
    suffixes: frozenset[str]
    manifests: tuple[str, ...] = ()

    def parse(self, path: str, source: bytes) -> FileFacts:
        """The number of lines, and for prose the opening text as doc."""
        lines = source.count(b"\n") + (bool(source) and not source.endswith(b"\n"))
        doc = ""
        if self.name in _PROSE:
            doc = source[: 4 * _OPENING].decode("utf-8", "ignore")[:_OPENING].strip()
        return FileFacts(self.name, lines, "", doc, (), (Scope("file", -1, -1),))

    def rules(self, view: SourceView) -> Rules:
        """The default rules; nothing is ever looked up."""
        from plugins.codegraph.languages.rules import BaseRules

        return BaseRules(view)

    def packages(self, view: SourceView) -> Sequence[Package]:
        """Always empty."""
        return ()


LANGUAGES = tuple(Text(name, frozenset(endings.split())) for name, endings in _KNOWN.items())
