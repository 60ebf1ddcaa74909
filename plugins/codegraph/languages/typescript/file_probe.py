"""Finds the file of an import path, which may lack its ending."""

from __future__ import annotations

from posixpath import join

from plugins.codegraph.languages.source_view import SourceView

_SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_DECLARED = (".d.ts", ".d.mts", ".d.cts")
_PLATFORMS = (".web", ".native", ".ios", ".android", ".node", ".browser")
_WRITTEN = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx", ".d.ts"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
"""By a written ending, the endings that it may stand for: compiler input for its output."""

ENDINGS = (*_DECLARED, *_SOURCES)


def probe(view: SourceView, path: str) -> tuple[str, ...]:
    """The files that an import of ``path`` reads: source first, then declarations.

    Args:
        view: the repository.
        path: relative to the repository's root, with or without an ending; a file or directory.
    """
    return _file(view, path) or _file(view, join(path, "index") if path else "index")


def _file(view: SourceView, path: str) -> tuple[str, ...]:
    if path.startswith("../"):
        return ()
    for written, meant in _WRITTEN.items():
        if path.endswith(written):
            stem = path[: -len(written)]
            found = _with(view, stem, meant)
            if found:
                return found
    if path.endswith(_SOURCES) and view.exists(path):
        return (path,)
    return _with(view, path, (*_SOURCES, *_DECLARED)) or _platform(view, path)


def _with(view: SourceView, stem: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    found = [stem + ending for ending in endings if view.exists(stem + ending)]
    if not found:
        return ()
    declared = [path for path in found[1:] if path.endswith(_DECLARED)]
    return (found[0], *declared[:1])


def _platform(view: SourceView, path: str) -> tuple[str, ...]:
    found = [
        path + platform + ending
        for platform in _PLATFORMS
        for ending in (".ts", ".tsx", ".js")
        if view.exists(path + platform + ending)
    ]
    return tuple(found[:1])


def bare(path: str) -> str:
    """A path without its script file ending, if it has one."""
    for ending in ENDINGS:
        if path.endswith(ending):
            return path[: -len(ending)]
    return path
