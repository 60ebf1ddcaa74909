"""Rust's module tree: maps modules of a crate to files."""

from __future__ import annotations

from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING

from plugins.codegraph.languages.rules import UNKNOWN, Target
from plugins.codegraph.languages.rust.crates import Crate, Crates

if TYPE_CHECKING:
    from plugins.codegraph.facts import FileFacts
    from plugins.codegraph.languages.source_view import SourceView

_ROOTS = frozenset({"lib.rs", "main.rs", "build.rs"})
_PROGRAMS = frozenset({"bin", "tests", "examples", "benches"})


class Modules:
    """The modules of a repository.

    Args:
        view: the repository.
        crates: its crates.
    """

    def __init__(self, view: SourceView, crates: Crates) -> None:
        self._view = view
        self._crates = crates

    def is_root(self, path: str) -> bool:
        """Whether a file is a crate root: of a library, a program, a test."""
        crate = self._crates.home(path)
        if crate is not None and (path == crate.library_path or path in crate.binaries):
            return True
        name, directory = basename(path), dirname(path)
        if name in _ROOTS:
            return (
                crate is None
                or directory in (crate.root, _join(crate.root, "src"))
                or (basename(dirname(directory)) in _PROGRAMS)
            )
        return basename(directory) in _PROGRAMS and name != "mod.rs"

    def root(self, path: str) -> Target:
        """The module ``crate`` as seen from a file."""
        if self.is_root(path):
            return Target(paths=(path,))
        crate = self._crates.home(path)
        found = self._roots(crate, path) if crate is not None else self._nearest(path)
        return Target(paths=tuple(found)) if found else UNKNOWN

    def _nearest(self, path: str) -> list[str]:
        """The root above a file that no Cargo.toml has: the nearest ``lib.rs`` or ``main.rs``."""
        directory = dirname(path)
        while True:
            roots = [_join(directory, name) for name in _ROOTS]
            found = [each for each in roots if self._view.exists(each)]
            if found or not directory:
                return found[:1]
            directory = dirname(directory)

    def library(self, crate: Crate) -> Target:
        """The library of a crate."""
        return Target(paths=(crate.library_path,)) if crate.library_path else UNKNOWN

    def _roots(self, crate: Crate, path: str) -> list[str]:
        source = _join(crate.root, "src")
        candidates = [crate.library_path, f"{source}/main.rs", *sorted(crate.binaries)]
        found = [each for each in dict.fromkeys(candidates) if each and self._view.exists(each)]
        within = [part for part in path[len(crate.root) :].split("/")[:-1] if part]
        if len(within) > 1 and within[-2] in _PROGRAMS | {"src"}:
            own = _join(dirname(path), "main.rs")
            if own not in found and self._view.exists(own):
                found.insert(0, own)
        return found

    def parent(self, path: str) -> Target:
        """The module ``super`` as seen from a file."""
        if self.is_root(path):
            return UNKNOWN
        directory = dirname(path)
        if basename(path) == "mod.rs":
            directory, name = dirname(directory), basename(directory)
        else:
            name = basename(path).removesuffix(".rs")
        for each in self._owners(directory):
            if self._view.exists(each) and _declared(self._view.facts(each), name) is not None:
                return Target(paths=(each,))
        declared = [e for e in self._view.directory(directory) if self._names(e, path)]
        return Target(paths=tuple(declared[:1]))

    def _owners(self, directory: str) -> list[str]:
        files = [_join(directory, name) for name in ("mod.rs", "lib.rs", "main.rs")]
        crate = self._crates.home(_join(directory, "x.rs"))
        if crate is not None and crate.library_path:
            files.append(crate.library_path)
        return [*files, f"{directory}.rs"]

    def child(self, path: str, name: str) -> Target | None:
        """A module that a file declares with ``mod name;``; None if it declares no such module."""
        facts = self._view.facts(path)
        given = _declared(facts, name)
        if given is None:
            return None
        if given.startswith("path:"):
            found = normpath(join(dirname(path), given[5:]))
            return Target(paths=(found,)) if self._view.exists(found) else UNKNOWN
        directory = self._directory(path)
        for part in given.split("::")[1:-1]:
            directory = _join(directory, part)
        for each in (f"{_join(directory, name)}.rs", _join(directory, name) + "/mod.rs"):
            if self._view.exists(each):
                return Target(paths=(each,))
        return UNKNOWN

    def _directory(self, path: str) -> str:
        """The directory that contains a file's submodules."""
        if basename(path) == "mod.rs" or self.is_root(path):
            return dirname(path)
        return path.removesuffix(".rs")

    def _names(self, path: str, file: str) -> bool:
        """Whether the file at ``path`` declares ``file`` by ``#[path]``."""
        facts = self._view.facts(path)
        imports = facts.scopes[0].imports if facts is not None else ()
        wanted = [e.module[5:] for e in imports if e.module.startswith("path:")]
        return any(normpath(join(dirname(path), each)) == file for each in wanted)


def _declared(facts: FileFacts | None, name: str) -> str | None:
    """The import by which a file declares ``mod name;``: ``self::...::name`` or ``path:...``; None
    if it does not."""
    for scope in facts.scopes if facts is not None else ():
        if scope.kind == "function":
            continue
        for each in scope.imports:
            given = each.module
            nested = given.startswith("self::") and given.endswith(f"::{name}")
            if each.alias == name and not each.symbol and (nested or given.startswith("path:")):
                return given
    return None


def _join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name
