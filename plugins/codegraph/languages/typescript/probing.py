"""Finding the file that a path without its ending means."""

from __future__ import annotations

from posixpath import join

from plugins.codegraph.linking.world import World

_SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_DECLARED = (".d.ts", ".d.mts", ".d.cts")
_PLATFORMS = (".web", ".native", ".ios", ".android", ".node", ".browser")
_WRITTEN = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx", ".d.ts"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
"""What an ending that is written may stand for: the compiler's input for its output."""

ENDINGS = (*_DECLARED, *_SOURCES)


def probe(world: World, path: str) -> tuple[str, ...]:
    """The files that an import of ``path`` reads: source first, then its declarations.

    Args:
        world: the repository.
        path: from the repository's root, with or without an ending; a file or a directory.
    """
    return _file(world, path) or _file(world, join(path, "index") if path else "index")


def _file(world: World, path: str) -> tuple[str, ...]:
    if path.startswith("../"):
        return ()
    for written, meant in _WRITTEN.items():
        if path.endswith(written):
            stem = path[: -len(written)]
            found = _with(world, stem, meant)
            if found:
                return found
    if path.endswith(_SOURCES) and world.exists(path):
        return (path,)
    return _with(world, path, (*_SOURCES, *_DECLARED)) or _platform(world, path)


def _with(world: World, stem: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    found = [stem + ending for ending in endings if world.exists(stem + ending)]
    if not found:
        return ()
    declared = [path for path in found[1:] if path.endswith(_DECLARED)]
    return (found[0], *declared[:1])


def _platform(world: World, path: str) -> tuple[str, ...]:
    found = [
        path + platform + ending
        for platform in _PLATFORMS
        for ending in (".ts", ".tsx", ".js")
        if world.exists(path + platform + ending)
    ]
    return tuple(found[:1])


def bare(path: str) -> str:
    """A path without its ending, if it has one of a script's."""
    for ending in ENDINGS:
        if path.endswith(ending):
            return path[: -len(ending)]
    return path
