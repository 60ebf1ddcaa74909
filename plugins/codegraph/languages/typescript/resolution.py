"""Resolves imports to files.

In this order: a path, ``#private`` names of the package, ``paths`` and ``baseUrl`` of the nearest
configuration, then packages of the repository by name. Anything else is external.
"""

from __future__ import annotations

from posixpath import basename, dirname

from plugins.codegraph.languages.rules import UNKNOWN, Target
from plugins.codegraph.languages.source_view import SourceView
from plugins.codegraph.languages.typescript import packages, tsconfig, workspaces
from plugins.codegraph.languages.typescript.file_probe import probe
from plugins.codegraph.languages.typescript.manifests import manifest, within

_SCRIPTS = frozenset({"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"})


def resolve(view: SourceView, path: str, module: str) -> Target:
    """The module that a file imports.

    Args:
        view: the repository.
        path: the importing file.
        module: the module as written.
    """
    module = module.partition("?")[0].rpartition("!")[2]
    if module.startswith((".", "/")):
        return _relative(view, path, module)
    if module.startswith("#"):
        return _private(view, path, module)
    if module.startswith(("node:", "http:", "https:", "npm:", "jsr:", "data:", "virtual:")):
        return Target(external=True, name=module.removeprefix("node:"))
    return _bare(view, path, module)


def _asset(module: str) -> bool:
    """Whether this names a file without code: a style sheet, an image, JSON."""
    ending = basename(module).rpartition(".")[2]
    return "." in basename(module) and ending not in _SCRIPTS and len(ending) < 6


def _relative(view: SourceView, path: str, module: str) -> Target:
    if module.startswith("/"):
        found = probe(view, module[1:])
        return Target(paths=found) if found else UNKNOWN
    here = dirname(path)
    at = within(here, module)
    found = _probe_relative(view, at, module)
    if found:
        return Target(paths=found)
    for each in tsconfig.configs(view, path):
        for root in each.roots:
            if here == root or here.startswith(f"{root}/"):
                for other in each.roots:
                    found = probe(view, within(other + here[len(root) :], module))
                    if found:
                        return Target(paths=found)
    return Target(external=True, name=module) if _asset(module) else UNKNOWN


def _probe_relative(view: SourceView, at: str, module: str) -> tuple[str, ...]:
    """The files of a path; one that ends in a slash or a dot is a directory, maybe a package."""
    if module.endswith(("/", "/.", "/..")) or module in (".", ".."):
        return _directory(view, at)
    return probe(view, at) or _directory(view, at)


def _directory(view: SourceView, at: str) -> tuple[str, ...]:
    if not at.startswith("..") and manifest(view, f"{at}/package.json" if at else "package.json"):
        found = packages.entry(view, at, "")
        if found:
            return found
    return probe(view, f"{at}/index" if at else "index")


def _private(view: SourceView, path: str, module: str) -> Target:
    root = workspaces.package_around(view, path)
    if root is not None:
        other, found = packages.private(view, root, module)
        if found:
            return Target(paths=found)
        if other:
            return _bare(view, path, other)
    return _mapped(view, path, module)[0] or UNKNOWN


def _mapped(view: SourceView, path: str, module: str) -> tuple[Target | None, bool]:
    """The target of a name by ``paths`` and ``baseUrl``, and whether one of their patterns matches
    it even though no file was found."""
    meant = False
    for each in tsconfig.configs(view, path):
        for target in tsconfig.matches(each.paths, module):
            found = _probe_relative(view, target, "")
            if found:
                return Target(paths=found), True
        meant = meant or _is_alias(each, module)
        if each.base is not None:
            found = probe(view, within(each.base, module))
            if found:
                return Target(paths=found), True
    return None, meant


def _is_alias(each: tsconfig.Config, module: str) -> bool:
    narrow = tuple(pair for pair in each.paths if pair[0] != "*")
    targets = tsconfig.matches(narrow, module)
    return bool(targets) and not any("node_modules" in t.split("/") for t in targets)


def _bare(view: SourceView, path: str, module: str) -> Target:
    mapped, meant = _mapped(view, path, module)
    if mapped is not None:
        return mapped
    parts = module.split("/")
    count = 2 if module.startswith("@") else 1
    name = "/".join(parts[:count])
    root = workspaces.by_name(view).get(name)
    if root is not None:
        rest = "/".join(parts[count:])
        found = packages.entry(view, root, f"./{rest}" if rest else "")
        if found:
            return Target(paths=found)
        return Target(external=True, name=module) if _asset(module) else UNKNOWN
    return UNKNOWN if meant else Target(external=True, name=module)
