"""``tsconfig.json`` and ``jsconfig.json``: their settings for resolving imports.

Source: TypeScript's handbook, "Module Resolution" and "TSConfig Reference" (``extends``,
``baseUrl``, ``paths``, ``rootDirs``, ``outDir``, ``references``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from posixpath import dirname
from typing import Any

from plugins.codegraph.languages.source_view import SourceView
from plugins.codegraph.languages.typescript.manifests import (
    ancestors,
    beside,
    manifest,
    once,
    within,
)
from plugins.codegraph.languages.typescript.workspaces import by_name

_NAMES = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
_MAX_EXTENDED = 12


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration, merged with those it extends. Paths are relative to the repository's root.

    Attributes:
        base: the directory that bare names are resolved in (``baseUrl``), or None.
        paths: patterns, each with its targets.
        roots: directories that are merged virtually (``rootDirs``).
        out, root: the output directory, and the source directory that it mirrors.
    """

    base: str | None = None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    roots: tuple[str, ...] = ()
    out: str | None = None
    root: str | None = None
    problems: tuple[str, ...] = field(default=())


def configs(view: SourceView, path: str) -> Iterator[Config]:
    """The configurations that may apply to a file, nearest first."""
    for directory in ancestors(dirname(path)):
        for name in _NAMES:
            at = f"{directory}/{name}" if directory else name
            found = config(view, at)
            if found is not None:
                yield found


def config(view: SourceView, path: str) -> Config | None:
    """A configuration, or None if there is no such file."""
    found: Config | None = once(view, ("tsconfig", path), _config, view, path, 0)
    return found


def _config(view: SourceView, path: str, depth: int) -> Config | None:
    content = manifest(view, path)
    if content is None:
        return None
    found = Config()
    for parent in _parents(view, path, content):
        above = _config(view, parent, depth + 1) if depth < _MAX_EXTENDED else None
        if above is not None:
            found = _merged(found, above)
    found = _merged(found, _own(path, content.get("compilerOptions")))
    if not found.paths and found.base is None and depth == 0:
        for referenced in _references(path, content):
            other = _config(view, referenced, depth + 1)
            if other is not None and other.paths:
                return _merged(other, found)
    return found


def _merged(first: Config, second: Config) -> Config:
    """The second's settings; where it has none, the first's."""
    return replace(
        second,
        base=first.base if second.base is None else second.base,
        paths=second.paths or first.paths,
        roots=second.roots or first.roots,
        out=first.out if second.out is None else second.out,
        root=first.root if second.root is None else second.root,
    )


def _references(path: str, content: Mapping[str, Any]) -> Iterator[str]:
    """The referenced projects whose configuration is in the same directory."""
    for each in content.get("references") or ():
        written = each.get("path") if isinstance(each, dict) else None
        if isinstance(written, str) and written.endswith(".json"):
            found = beside(path, written)
            if dirname(found) == dirname(path):
                yield found


def _parents(view: SourceView, path: str, content: Mapping[str, Any]) -> Iterator[str]:
    written = content.get("extends")
    for each in [written] if isinstance(written, str) else written or ():
        if not isinstance(each, str):
            continue
        if each.startswith("."):
            found = beside(path, each)
            yield found if found.endswith(".json") else found + ".json"
        else:
            yield from _packaged(view, each)


def _packaged(view: SourceView, written: str) -> Iterator[str]:
    """Candidate paths for ``@acme/tsconfig/base.json``, if that package is in the repository."""
    parts = written.split("/")
    count = 2 if written.startswith("@") else 1
    package = by_name(view).get("/".join(parts[:count]))
    if package is None:
        return
    rest = "/".join(parts[count:]) or "tsconfig.json"
    at = f"{package}/{rest}" if package else rest
    yield at if at.endswith(".json") else at + ".json"


def _own(path: str, options: object) -> Config:
    if not isinstance(options, dict):
        return Config()
    here = dirname(path)

    def at(name: str) -> str | None:
        value = options.get(name)
        return beside(path, _substituted(value)) if isinstance(value, str) else None

    base = at("baseUrl")
    anchor = here if base is None else base
    paths = []
    written = options.get("paths")
    for pattern, targets in written.items() if isinstance(written, dict) else ():
        if isinstance(targets, list):
            meant = [_substituted(t) for t in targets if isinstance(t, str)]
            paths.append((pattern, tuple(within(anchor, t) for t in meant)))
    roots = options.get("rootDirs")
    return Config(
        base=base,
        paths=tuple(paths),
        roots=tuple(beside(path, r) for r in roots if isinstance(r, str))
        if isinstance(roots, list)
        else (),
        out=at("outDir"),
        root=at("rootDir"),
    )


def _substituted(written: str) -> str:
    return written.replace("${configDir}", ".")


def matches(paths: tuple[tuple[str, tuple[str, ...]], ...], name: str) -> list[str]:
    """The targets of a name by ``paths``: of the exact pattern, else of the longest prefix."""
    best: tuple[int, tuple[str, ...], str] | None = None
    for pattern, targets in paths:
        head, star, tail = pattern.partition("*")
        if not star:
            if pattern == name:
                return list(targets)
            continue
        fits = len(name) >= len(head) + len(tail)
        fits = fits and name.startswith(head) and name.endswith(tail)
        if fits and (best is None or len(head) > best[0]):
            best = (len(head), targets, name[len(head) : len(name) - len(tail)])
    if best is None:
        return []
    return [target.replace("*", best[2]) for target in best[1]]
