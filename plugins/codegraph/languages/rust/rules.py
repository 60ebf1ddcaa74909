"""Name lookup in Rust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import basename, dirname
from typing import TYPE_CHECKING

from plugins.codegraph.languages.rules import UNKNOWN, BaseRules, Container, Target
from plugins.codegraph.languages.rust.builtins import (
    BUILTINS,
    CONTAINERS,
    FUNCTIONS,
    INBORN,
    METHODS,
    UNWRAPS,
)
from plugins.codegraph.languages.rust.crates import Crates
from plugins.codegraph.languages.rust.modules import Modules
from plugins.codegraph.languages.rust.types import SELF_MODULE

if TYPE_CHECKING:
    from plugins.codegraph.facts import FileFacts, Import, Scope
    from plugins.codegraph.languages.base import Package

_STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class RustRules(BaseRules):
    """Rust: a file is a module where another file declares it; crates are Cargo's."""

    receivers = frozenset({"self"})
    own_types = frozenset({"Self"})
    body_sees_members = False
    imports_exported = True
    stars_hide = False
    builtins = BUILTINS
    constructors: tuple[str, ...] = ()
    overloads = True
    hides = True
    containers: Mapping[str, Container] = CONTAINERS
    unwraps: Mapping[str, int] = UNWRAPS
    callables: Mapping[str, int] = {"fn": 1, "Fn": 1, "FnMut": 1, "FnOnce": 1}
    methods: Mapping[str, str] = METHODS
    inborn = INBORN
    functions: Mapping[str, str] = FUNCTIONS
    iterates: tuple[tuple[str, str], ...] = (
        ("into_iter", "next"),
        ("iter", "next"),
        ("next", "next"),
    )

    def packages(self) -> Sequence[Package]:
        """The crates."""
        return self._crates().packages()

    def module(self, path: str, imported: Import) -> Target:
        """The module that a path refers to, as seen from the file."""
        key = ("module", path, imported.module, imported.symbol)
        return self.once(key, self._module, path, imported.module)

    def _module(self, path: str, name: str) -> Target:
        if name.startswith("path:"):
            return self._child(path, name)
        # ``use name;`` alone: a crate, or a name in the module itself.
        parts = [part for part in name.removeprefix("?").split("::") if part]
        if not parts:
            return UNKNOWN
        current = self._first(path, parts[0])
        if current.external:
            return Target(external=True, name=".".join(parts))
        return self._walk(path, current, parts[1:])

    def _walk(self, path: str, current: Target, parts: Sequence[str]) -> Target:
        for at, part in enumerate(parts):
            if part == "super":
                current = self._modules().parent(current.paths[0]) if current.paths else UNKNOWN
                continue
            inner = self.submodule(path, current, part)
            if inner is None:
                # An enum's variants, an inline module's items.
                return Target(current.paths, within=tuple(parts[at:])) if current.paths else UNKNOWN
            current = inner
        return current

    def _child(self, path: str, name: str) -> Target:
        facts = self.view.facts(path)
        for each in facts.scopes[0].imports if facts is not None else ():
            if each.module == name:
                return self._modules().child(path, each.alias) or UNKNOWN
        return UNKNOWN

    def _first(self, path: str, name: str) -> Target:
        modules = self._modules()
        if name == "crate":
            return modules.root(path)
        if name in ("self", SELF_MODULE):
            return Target(paths=(path,))
        if name == "super":
            return modules.parent(path)
        child = modules.child(path, name)
        if child is not None:
            return child
        crate = self._crates().called(path, name)
        if crate is not None:
            return modules.library(crate)
        facts = self.view.facts(path)
        if facts is not None and _binds(facts, name):
            return Target(paths=(path,), within=(name,))
        return Target(external=True, name=name)

    def submodule(self, path: str, of: Target, name: str) -> Target | None:
        """A module declared by one of the target's files."""
        if of.within:
            return None
        for each in of.paths:
            found = self.once(("child", each, name), self._modules().child, each, name)
            if found is not None:
                return found
        return None

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """``crate``, ``self::``, ``super::``, a crate of the workspace, or an external one."""
        if name in ("crate", SELF_MODULE):
            return self.once(("first", path, name), self._first, path, name)
        if name.startswith("super::"):
            return self.once(("super", path, name), self._above, path, name.count("super::"))
        crate = self._crates().called(path, name)
        if crate is not None:
            return self._modules().library(crate)
        if name in _STANDARD or self._crates().depends(path, name):
            return Target(external=True, name=name)
        return None

    def _above(self, path: str, levels: int) -> Target:
        current = Target(paths=(path,))
        for _ in range(levels):
            current = self._modules().parent(current.paths[0]) if current.paths else UNKNOWN
        return current

    def extensions(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files of the module's directory and of the crate that may contain an ``impl``."""
        return self.once(("extensions", path), self._extensions, path)

    def _extensions(self, path: str) -> Sequence[str]:
        directory = dirname(path)
        stem = path.removesuffix(".rs")
        found = [path, *self._rust_files(directory), *self._rust_files(stem)]
        if basename(path) != "mod.rs":
            found += self._rust_files(dirname(directory))
        return list(dict.fromkeys(found))

    def _rust_files(self, directory: str) -> list[str]:
        return [each for each in self.view.directory(directory) if each.endswith(".rs")]

    def _crates(self) -> Crates:
        return self.once("crates", Crates, self.view)

    def _modules(self) -> Modules:
        return self.once("modules", Modules, self.view, self._crates())


def _binds(facts: FileFacts, name: str) -> bool:
    """Whether a file has an enum or an inline module of that name at top level."""
    return any(scope.parent == 0 and scope.name == name for scope in facts.scopes[1:])
