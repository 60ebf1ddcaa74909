"""The entry points of npm packages: ``exports``, ``main``, ``imports``.

Source: Node.js "Modules: Packages". Entry points often name build output, which is not in the
repository; it is mapped back to the source that it is built from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import join
from typing import Any

from plugins.codegraph.languages.source_view import SourceView
from plugins.codegraph.languages.typescript.file_probe import bare, probe
from plugins.codegraph.languages.typescript.manifests import manifest, within
from plugins.codegraph.languages.typescript.tsconfig import Config, config

_FIELDS = ("source", "types", "typings", "module", "main", "browser")
_SOURCE_FIRST = ("source", "development", "import", "module", "node", "require", "default", "types")
_OUTPUT = frozenset(
    {
        "dist",
        "lib",
        "build",
        "out",
        "output",
        "esm",
        "cjs",
        "es",
        "types",
        "umd",
        "esnext",
        "module",
    }
)
_USUAL = ("src/index", "index", "source/index", "lib/index", "src/main", "src/lib/index")


def entry(view: SourceView, root: str, subpath: str) -> tuple[str, ...]:
    """The files that importing a package, or a path in it, reads.

    Args:
        view: the repository.
        root: the package's directory.
        subpath: what follows the package's name: "" or ``./rest``.
    """
    content = manifest(view, join(root, "package.json") if root else "package.json") or {}
    for target in _targets(content, subpath):
        found = _built(view, root, target)
        if found:
            return found
    if not subpath:
        return next((f for u in _USUAL if (f := probe(view, within(root, u)))), ())
    rest = subpath[2:]
    for candidate in (rest, f"src/{rest}", f"lib/{rest}", f"src/lib/{rest}"):
        found = probe(view, within(root, candidate))
        if found:
            return found
    return _built(view, root, rest)


def private(view: SourceView, root: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Resolve ``#name`` by ``imports``: to a package's name, or to files of the package itself."""
    content = manifest(view, join(root, "package.json") if root else "package.json") or {}
    given = content.get("imports")
    for target in _conditional(given, name) if isinstance(given, dict) else ():
        if not target.startswith("."):
            return target, ()
        found = _built(view, root, target)
        if found:
            return "", found
    return "", ()


def _targets(content: Mapping[str, Any], subpath: str) -> Iterator[str]:
    exports = content.get("exports")
    if exports is not None:
        if isinstance(exports, dict) and any(str(key).startswith(".") for key in exports):
            yield from _conditional(exports, subpath or ".")
        elif not subpath:
            yield from _leaves(exports)
    if not subpath:
        for name in _FIELDS:
            if isinstance(content.get(name), str):
                yield content[name]


def _conditional(entries: Mapping[str, Any], name: str) -> Iterator[str]:
    """The targets of a subpath: by its exact entry, else the pattern with the longest prefix."""
    if name in entries:
        yield from _leaves(entries[name])
        return
    fitting = list(_patterns(entries, name))
    if not fitting:
        return
    _, value, middle = max(fitting, key=lambda each: len(each[0]))
    for target in _leaves(value):
        yield target + middle if target.endswith("/") else target.replace("*", middle)


def _patterns(entries: Mapping[str, Any], name: str) -> Iterator[tuple[str, Any, str]]:
    """The patterns that match a name: the prefix, the entry, and the text that the star matches."""
    for pattern, value in entries.items():
        head, star, tail = pattern.partition("*")
        if not star and not pattern.endswith("/"):
            continue
        longer = len(name) > len(head) + len(tail) - 1
        if longer and name.startswith(head) and name.endswith(tail):
            yield head, value, name[len(head) : len(name) - len(tail)]


def _leaves(value: object) -> Iterator[str]:
    """All targets of a conditional entry, source before build output."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        order = {name: place for place, name in enumerate(_SOURCE_FIRST)}
        custom = [k for k in value if k.endswith("source") or k.startswith("@")]
        known = sorted(value.keys() - set(custom), key=lambda k: (order.get(k, len(order)), k))
        for key in (*custom, *known):
            yield from _leaves(value[key])


def _built(view: SourceView, root: str, target: str) -> tuple[str, ...]:
    """The named file, or the source that it is built from."""
    target = target.removeprefix("./")
    direct = probe(view, within(root, target))
    if direct:
        return direct
    for candidate in _origins(view, root, bare(target)):
        found = probe(view, candidate)
        if found:
            return found
    return ()


def _origins(view: SourceView, root: str, target: str) -> Iterator[str]:
    at = within(root, target)
    for name in ("tsconfig.json", "tsconfig.build.json", "tsconfig.lib.json"):
        found: Config | None = config(view, join(root, name) if root else name)
        if found is not None and found.out and at.startswith(found.out + "/"):
            rest = at[len(found.out) + 1 :]
            if found.root is not None:
                yield within(found.root, rest)
            yield within(root, f"src/{rest}")
    parts = target.split("/")
    count = 0
    while count < len(parts) - 1 and (parts[count] in _OUTPUT or (count and parts[count] == "src")):
        count += 1
        rest = "/".join(parts[count:])
        yield within(root, f"src/{rest}")
        yield within(root, rest)
        yield within(root, f"source/{rest}")
        yield within(root, f"lib/{rest}")
