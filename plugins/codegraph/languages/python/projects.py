"""The projects of a repository, and the directories that contain their modules."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from posixpath import basename, dirname, join, normpath
from typing import Any

from plugins.codegraph.languages.base import Package
from plugins.codegraph.languages.source_view import SourceView

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")


def _toml(view: SourceView, path: str) -> dict[str, Any]:
    """A manifest's content; empty if it cannot be read."""
    data = view.read(path)
    if data is None:
        return {}
    try:
        return tomllib.loads(data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}


def _at(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def source_roots(view: SourceView) -> tuple[str, ...]:
    """The directories that modules are imported from: those that the manifests declare, and by
    convention ``src`` and the project's own directory."""
    found: dict[str, None] = {}
    for name in _MANIFESTS:
        for path in view.manifests(name):
            directory = dirname(path)
            said = _declared_packages(_toml(view, path)) if name == "pyproject.toml" else ()
            for each in (*said, "src", "lib", ""):
                root = normpath(join(directory, each))
                if not root.startswith(".."):
                    found["" if root == "." else root] = None
    found.setdefault("src", None)
    found.setdefault("", None)
    return tuple(sorted(found))


def _declared_packages(manifest: dict[str, Any]) -> Iterator[str]:
    """The package directories that a manifest declares: setuptools, poetry, hatch, pdm, uv,
    pytest."""
    tool = manifest.get("tool")
    listed: list[Any] = []
    listed += _list(_at(tool, "setuptools", "packages", "find", "where"))
    mapped = _at(tool, "setuptools", "package-dir")
    listed += [value for key, value in mapped.items() if key == ""] if _is_table(mapped) else []
    for each in _list(_at(tool, "poetry", "packages")):
        listed.append(_at(each, "from"))
    for package in _list(_at(tool, "hatch", "build", "targets", "wheel", "packages")):
        listed.append(dirname(package) if isinstance(package, str) else None)
    listed += _list(_at(tool, "pytest", "ini_options", "pythonpath"))
    listed.append(_at(tool, "pdm", "build", "package-dir"))
    listed.append(_at(tool, "uv", "build-backend", "module-root"))
    yield from (each for each in listed if isinstance(each, str) and not each.startswith("/"))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.split()
    return value if isinstance(value, list) else []


def packages(view: SourceView) -> Sequence[Package]:
    """The projects: each ``pyproject.toml`` with a name, and each ``setup.py`` without one beside
    it."""
    found: dict[str, Package] = {}
    members = _workspace(view)
    for path in view.manifests("pyproject.toml"):
        manifest = _toml(view, path)
        name = _at(manifest, "project", "name") or _at(manifest, "tool", "poetry", "name")
        root = dirname(path)
        if isinstance(name, str):
            found[root] = Package(name, root, "python", "uv" if root in members else "")
    for path in (*view.manifests("setup.cfg"), *view.manifests("setup.py")):
        root = dirname(path)
        found.setdefault(root, Package(basename(root) or view.repo, root, "python"))
    return [found[root] for root in sorted(found)]


def _workspace(view: SourceView) -> frozenset[str]:
    """The directories of uv workspaces and of their members."""
    from fnmatch import fnmatchcase

    found: set[str] = set()
    projects = [dirname(path) for path in view.manifests("pyproject.toml")]
    for path in view.manifests("pyproject.toml"):
        members = _list(_at(_toml(view, path), "tool", "uv", "workspace", "members"))
        top = dirname(path)
        if members:
            found.add(top)
        for pattern in members:
            whole = normpath(join(top, str(pattern)))
            found.update(each for each in projects if fnmatchcase(each, whole))
    return frozenset(found)
