"""The npm packages of a repository, and its workspace tool.

Sources: npm "workspaces", Yarn "Workspaces", pnpm "pnpm-workspace.yaml", Lerna "lerna.json",
Nx "project.json" and Turborepo, which builds on one of the first three.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import dirname
from typing import Any

from plugins.codegraph.languages.base import Package
from plugins.codegraph.languages.source_view import SourceView
from plugins.codegraph.languages.typescript.manifests import (
    ancestors,
    manifest,
    once,
    within,
)

_LOCAL = ("file:", "link:", "portal:")
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_BRACES = re.compile(r"\{([^{}]*)\}")


def packages(view: SourceView) -> Sequence[Package]:
    """The packages that manifests declare: members of workspaces, and single ones."""
    found: tuple[Package, ...] = once(view, "npm packages", _packages, view)
    return found


def by_name(view: SourceView) -> Mapping[str, str]:
    """The packages that other packages of the repository can import: root directories by name."""
    found: Mapping[str, str] = once(view, "npm names", _by_name, view)
    return found


def _packages(view: SourceView) -> tuple[Package, ...]:
    members = set(_members(view))
    tool = _tool(view) if len(members) > 1 else ""
    found: dict[str, Package] = {}
    for root in _roots(view):
        content = manifest(view, _at(root, "package.json")) or {}
        name = content.get("name")
        if isinstance(name, str) and name:
            found[root] = Package(name, root, "npm", tool if root in members else "")
    for path in view.manifests("project.json"):
        root = dirname(path)
        content = manifest(view, path) or {}
        name = content.get("name")
        if root not in found and isinstance(name, str) and view.manifests("nx.json"):
            found[root] = Package(name, root, "npm", "nx")
    return tuple(found[root] for root in sorted(found))


def _at(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _roots(view: SourceView) -> list[str]:
    """The directories with a ``package.json``, without ``node_modules``."""
    found = (dirname(path) for path in view.manifests("package.json"))
    return [root for root in found if "node_modules" not in root.split("/")]


def _by_name(view: SourceView) -> dict[str, str]:
    found: dict[str, str] = {}
    everything = [*_members(view), *_linked(view)]
    for root in everything:
        name = (manifest(view, _at(root, "package.json")) or {}).get("name")
        if isinstance(name, str) and name:
            found.setdefault(name, root)
    for root in _roots(view):
        content = manifest(view, _at(root, "package.json")) or {}
        for name, target in _local_dependencies(content):
            at = within(root, target)
            if manifest(view, _at(at, "package.json")) is not None:
                found.setdefault(name, at)
    return found


def _linked(view: SourceView) -> Iterator[str]:
    """Importable packages outside of workspaces: the root package, which may import itself by
    name."""
    yield from (root for root in _roots(view) if root == "")


def _local_dependencies(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for kind in _DEPENDENCIES:
        given = content.get(kind)
        for name, version in given.items() if isinstance(given, dict) else ():
            if isinstance(version, str) and version.startswith(_LOCAL):
                yield name, version.partition(":")[2]


def _members(view: SourceView) -> list[str]:
    """The directories of workspace members, sorted."""
    found: list[str] = once(view, "npm members", _find_members, view)
    return found


def _find_members(view: SourceView) -> list[str]:
    roots = _roots(view)
    found: set[str] = set()
    for base, globs in _declared(view, roots):
        wanted = [_regex(within(base, glob)) for glob in globs if not glob.startswith("!")]
        unwanted = [_regex(within(base, glob[1:])) for glob in globs if glob.startswith("!")]
        chosen = (root for root in roots if any(each.fullmatch(root) for each in wanted))
        found.update(root for root in chosen if not any(e.fullmatch(root) for e in unwanted))
        found.add(base)
    if view.manifests("nx.json"):
        found.update(dirname(path) for path in view.manifests("project.json"))
    return sorted(found)


def _declared(view: SourceView, roots: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    for path in view.manifests("pnpm-workspace.yaml"):
        yield dirname(path), _strings(_yaml(view.read(path)).get("packages"))
    for path in view.manifests("lerna.json"):
        content = manifest(view, path) or {}
        yield dirname(path), _strings(content.get("packages")) or ["packages/*"]
    for root in roots:
        given = (manifest(view, _at(root, "package.json")) or {}).get("workspaces")
        if isinstance(given, dict):
            given = given.get("packages")
        if given:
            yield root, _strings(given)


def _strings(given: object) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []


def _yaml(data: bytes | None) -> Mapping[str, Any]:
    import yaml

    try:
        read = yaml.safe_load(data or b"")
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}
    return read if isinstance(read, dict) else {}


def _regex(glob: str) -> re.Pattern[str]:
    """A package manager's glob (``*``, ``**``, ``{a,b}``) as a regular expression."""
    parts = []
    for part in glob.rstrip("/").split("/"):
        if part == "**":
            parts.append("(?:[^/]+/)*")
            continue
        escaped = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
        escaped = escaped.replace(r"\{", "{").replace(r"\}", "}")
        escaped = _BRACES.sub(lambda m: "(?:" + m.group(1).replace(",", "|") + ")", escaped)
        parts.append(escaped + "/")
    pattern = "".join(parts)
    return re.compile(pattern[:-1] if pattern.endswith("/") else pattern + "[^/]+")


def _tool(view: SourceView) -> str:
    """The tool that runs the workspace; those that build on a package manager come first."""
    for name, tool in (
        ("nx.json", "nx"),
        ("turbo.json", "turborepo"),
        ("lerna.json", "lerna"),
        ("pnpm-workspace.yaml", "pnpm"),
    ):
        if view.manifests(name):
            return tool
    root = manifest(view, "package.json") or {}
    yarn = str(root.get("packageManager", "")).startswith("yarn")
    return "yarn" if yarn or view.manifests("yarn.lock") else "npm"


def package_around(view: SourceView, path: str) -> str | None:
    """The root of the package that contains a file, or None."""
    for directory in ancestors(dirname(path)):
        if manifest(view, _at(directory, "package.json")) is not None:
            return directory
    return None
