"""The languages by file name ending, each imported on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from posixpath import basename
from typing import cast

from plugins.codegraph.languages.base import Language

_MODULES = {
    ".py": "python",
    ".pyi": "python",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".js": "typescript",
    ".jsx": "typescript",
    ".mjs": "typescript",
    ".cjs": "typescript",
    ".go": "go",
    ".java": "java",
    ".rs": "rust",
}
"""By suffix, the package under ``languages`` whose ``LANGUAGES`` contains the language."""
_GENERIC = "generic"
"""The module for all other suffixes."""


@cache
def _languages(module: str) -> dict[str, Language]:
    found = import_module(f"plugins.codegraph.languages.{module}")
    languages = cast(tuple[Language, ...], found.LANGUAGES)
    return {suffix: language for language in languages for suffix in language.suffixes}


@cache
def _of_suffix(suffix: str) -> Language | None:
    return _languages(_MODULES.get(suffix, _GENERIC)).get(suffix)


def language_of(path: str) -> Language | None:
    """The language of a file by its name, or None for an unknown file type."""
    name = basename(path)
    dot = name.rfind(".")
    return _of_suffix(f"/{name}".lower() if dot < 0 else name[dot:].lower())


@cache
def language_named(name: str) -> Language | None:
    """The language with this name (``python``), or None."""
    return next((each for each in languages() if each.name == name), None)


@cache
def languages() -> tuple[Language, ...]:
    """All languages, in the order of their names."""
    found: dict[str, Language] = {}
    for module in (_GENERIC, *sorted(set(_MODULES.values()))):
        for language in _languages(module).values():
            found[language.name] = language
    return tuple(found[name] for name in sorted(found))


def manifest_patterns() -> frozenset[str]:
    """The file names and patterns of the manifests of all languages."""
    return frozenset(pattern for each in languages() for pattern in each.manifests)
