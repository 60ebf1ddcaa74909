"""Which files an import means.

In this order: a path, ``#private`` names of the package, ``paths`` and ``baseUrl`` of the nearest
configuration, then packages of the repository by their names. What is left comes from outside.
"""

from __future__ import annotations

from posixpath import basename, dirname

from plugins.codegraph.languages.typescript import packages, tsconfig, workspaces
from plugins.codegraph.languages.typescript.manifests import manifest, within
from plugins.codegraph.languages.typescript.probing import probe
from plugins.codegraph.linking.rules import UNKNOWN, Target
from plugins.codegraph.linking.world import World

_SCRIPTS = frozenset({"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"})


def resolve(world: World, path: str, module: str) -> Target:
    """The module that a file imports.

    Args:
        world: the repository.
        path: the file that imports.
        module: as it is written.
    """
    module = module.partition("?")[0].rpartition("!")[2]
    if module.startswith((".", "/")):
        return _relative(world, path, module)
    if module.startswith("#"):
        return _private(world, path, module)
    if module.startswith(("node:", "http:", "https:", "npm:", "jsr:", "data:", "virtual:")):
        return Target(external=True, name=module.removeprefix("node:"))
    return _bare(world, path, module)


def _asset(module: str) -> bool:
    """Whether this names a file that holds no code: a style sheet, an image, JSON."""
    ending = basename(module).rpartition(".")[2]
    return "." in basename(module) and ending not in _SCRIPTS and len(ending) < 6


def _relative(world: World, path: str, module: str) -> Target:
    if module.startswith("/"):
        found = probe(world, module[1:])
        return Target(paths=found) if found else UNKNOWN
    here = dirname(path)
    at = within(here, module)
    found = _probe_relative(world, at, module)
    if found:
        return Target(paths=found)
    for each in tsconfig.configs(world, path):
        for root in each.roots:
            if here == root or here.startswith(f"{root}/"):
                for other in each.roots:
                    found = probe(world, within(other + here[len(root) :], module))
                    if found:
                        return Target(paths=found)
    return Target(external=True, name=module) if _asset(module) else UNKNOWN


def _probe_relative(world: World, at: str, module: str) -> tuple[str, ...]:
    """A path; one that ends in a slash or a dot is a directory, which may be a package."""
    if module.endswith(("/", "/.", "/..")) or module in (".", ".."):
        return _directory(world, at)
    return probe(world, at) or _directory(world, at)


def _directory(world: World, at: str) -> tuple[str, ...]:
    if not at.startswith("..") and manifest(world, f"{at}/package.json" if at else "package.json"):
        found = packages.entry(world, at, "")
        if found:
            return found
    return probe(world, f"{at}/index" if at else "index")


def _private(world: World, path: str, module: str) -> Target:
    root = workspaces.package_around(world, path)
    if root is not None:
        other, found = packages.private(world, root, module)
        if found:
            return Target(paths=found)
        if other:
            return _bare(world, path, other)
    return _mapped(world, path, module)[0] or UNKNOWN


def _mapped(world: World, path: str, module: str) -> tuple[Target | None, bool]:
    """What configurations make of a name; and whether a pattern of theirs is meant for it."""
    meant = False
    for each in tsconfig.configs(world, path):
        for target in tsconfig.matches(each.paths, module):
            found = _probe_relative(world, target, "")
            if found:
                return Target(paths=found), True
        meant = meant or _is_alias(each, module)
        if each.base is not None:
            found = probe(world, within(each.base, module))
            if found:
                return Target(paths=found), True
    return None, meant


def _is_alias(each: tsconfig.Config, module: str) -> bool:
    narrow = tuple(pair for pair in each.paths if pair[0] != "*")
    targets = tsconfig.matches(narrow, module)
    return bool(targets) and not any("node_modules" in t.split("/") for t in targets)


def _bare(world: World, path: str, module: str) -> Target:
    mapped, meant = _mapped(world, path, module)
    if mapped is not None:
        return mapped
    parts = module.split("/")
    count = 2 if module.startswith("@") else 1
    name = "/".join(parts[:count])
    root = workspaces.by_name(world).get(name)
    if root is not None:
        rest = "/".join(parts[count:])
        found = packages.entry(world, root, f"./{rest}" if rest else "")
        if found:
            return Target(paths=found)
        return Target(external=True, name=module) if _asset(module) else UNKNOWN
    return UNKNOWN if meant else Target(external=True, name=module)
