"""Files that no language module reads: they are in the graph as files, with their language."""

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
"""So many characters of prose stand for what the file is about."""
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
"""Endings by language; ``/name`` is a whole name without an ending."""


@dataclass(frozen=True, slots=True)
class Text:
    """One such language."""

    name: str
    suffixes: frozenset[str]
    manifests: tuple[str, ...] = ()

    def parse(self, path: str, source: bytes) -> FileFacts:
        """How long a file is, and how it begins where it is prose."""
        lines = source.count(b"\n") + (bool(source) and not source.endswith(b"\n"))
        doc = ""
        if self.name in _PROSE:
            doc = source[: 4 * _OPENING].decode("utf-8", "ignore")[:_OPENING].strip()
        return FileFacts(self.name, lines, "", doc, (), (Scope("file", -1, -1),))

    def rules(self, view: SourceView) -> Rules:
        """Nothing is looked up in it."""
        from plugins.codegraph.languages.rules import BaseRules

        return BaseRules(view)

    def packages(self, view: SourceView) -> Sequence[Package]:
        """None."""
        return ()


LANGUAGES = tuple(Text(name, frozenset(endings.split())) for name, endings in _KNOWN.items())
