"""Name lookup in Go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import dirname
from typing import TYPE_CHECKING

from plugins.codegraph.languages.go.conventions import default_name
from plugins.codegraph.languages.go.modules import Modules
from plugins.codegraph.languages.rules import UNKNOWN, BaseRules, Container, Target
from plugins.codegraph.languages.toplevel import top_level

if TYPE_CHECKING:
    from plugins.codegraph.facts import FileFacts, Import, Scope
    from plugins.codegraph.languages.base import Package

_TYPES = frozenset(
    ("any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32",
     "float64", "int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8",
     "uint16", "uint32", "uint64", "uintptr", "[]", "map", "chan", "func")
)  # fmt: skip
_FUNCTIONS = frozenset(
    ("append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max",
     "min", "new", "panic", "print", "println", "real", "recover", "nil")
)  # fmt: skip


class GoRules(BaseRules):
    """Go: a package is a directory; its files see each other's names."""

    builtins = _TYPES | _FUNCTIONS
    constructors: tuple[str, ...] = ()
    body_sees_members = False
    converts = True
    structural = True
    containers: Mapping[str, Container] = {
        "[]": Container(element=0, item=0),
        "list": Container(element=0, item=0),
        "map": Container(element=1, item=1, key=0),
        "chan": Container(element=0, item=0, key=0),
    }
    callables: Mapping[str, int] = {"func": 0}
    vague = frozenset({"any"})

    def module(self, path: str, imported: Import) -> Target:
        """The files of the package that an import path refers to."""
        directory = self._modules().directory(path, imported.module)
        if directory is None:
            return Target(external=True, name=imported.module)
        files = self.once(("package", directory), self._package, directory)
        return Target(paths=tuple(files)) if files else UNKNOWN

    def packages(self) -> Sequence[Package]:
        """The modules."""
        return self._modules().packages()

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """A package whose ``package`` clause differs from the last part of its path."""
        facts = self.view.facts(path)
        for each in facts.scopes[0].imports if facts is not None else ():
            if not each.alias or each.alias != default_name(each.module) or each.symbol:
                continue
            target = self.module(path, each)
            if target.paths and self._clause(target.paths[0]) == name:
                return target
        return None

    def beside(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The other files of the package."""
        return self._seen(path, self._of_package(dirname(path), facts.package))

    def besides(self, path: str, facts: FileFacts, name: str) -> Sequence[str]:
        """The other files of the package that define a name at top level."""
        directory, package = dirname(path), facts.package
        index = self.once(("index", directory, package), self._index, directory, package)
        return self._seen(path, index.get(name, ()))

    def _seen(self, path: str, files: Sequence[str]) -> Sequence[str]:
        if not path.endswith("_test.go"):
            files = [each for each in files if not each.endswith("_test.go")]
        return _nearest(path, files)

    def _index(self, directory: str, package: str) -> Mapping[str, Sequence[str]]:
        files = self._of_package(directory, package)
        return top_level(self.view, files)

    def extensions(self, path: str, facts: FileFacts) -> Sequence[str]:
        """All files of the package: any may define methods of a type."""
        key = ("extensions", dirname(path), facts.package)
        return self.once(key, self._of_package, dirname(path), facts.package) or (path,)

    def interfaces(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files of the package, and of the packages that the file imports."""
        found = dict.fromkeys(self.extensions(path, facts))
        for each in facts.scopes[0].imports:
            found.update(dict.fromkeys(self.module(path, each).paths))
        return list(found)

    def _of_package(self, directory: str, package: str) -> Sequence[str]:
        return [each for each in self._go_files(directory) if self._clause(each) == package]

    def _modules(self) -> Modules:
        return self.once("modules", Modules, self.view)

    def _package(self, directory: str) -> list[str]:
        """The files that importing a directory gives: without tests, and without other packages
        beside the main one."""
        files = [e for e in self._go_files(directory) if not e.endswith("_test.go")]
        return [e for e in files if self._clause(e) == self._clause(files[0])]

    def _go_files(self, directory: str) -> list[str]:
        return [each for each in self.view.directory(directory) if each.endswith(".go")]

    def _clause(self, path: str) -> str:
        facts = self.view.facts(path)
        return facts.package if facts is not None else ""


def _nearest(path: str, files: Sequence[str]) -> Sequence[str]:
    """The files, those for the same platform first: ``a_linux.go`` prefers ``b_linux.go``."""
    suffix = path.rpartition("/")[2].removesuffix(".go").partition("_")[2]
    if not suffix:
        return files
    return sorted(files, key=lambda each: not each.removesuffix(".go").endswith(f"_{suffix}"))
