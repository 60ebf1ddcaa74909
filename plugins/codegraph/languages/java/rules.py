"""Name lookup in Java."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import basename, commonprefix, dirname
from typing import TYPE_CHECKING

from plugins.codegraph.languages.java.builtins import (
    CONTAINERS,
    FINAL,
    FUNCTIONAL,
    LANG,
    METHODS,
    PRIMITIVES,
)
from plugins.codegraph.languages.java.expressions import CONSTRUCTOR
from plugins.codegraph.languages.rules import BaseRules, Container, Target
from plugins.codegraph.languages.toplevel import top_level

if TYPE_CHECKING:
    from plugins.codegraph.facts import FileFacts, Import, Scope

_STATIC = "static:"


class JavaRules(BaseRules):
    """Java: packages are declared in files; a class sees the names of its package and its bases."""

    receivers = frozenset({"this"})
    class_scopes = True
    body_sees_members = False
    builtins = PRIMITIVES | LANG
    constructors: tuple[str, ...] = (CONSTRUCTOR,)
    overloads = True
    stars_hide = False
    containers: Mapping[str, Container] = CONTAINERS
    unwraps: Mapping[str, int] = {"Optional": 0}
    callables: Mapping[str, int] = {"()": 0}
    vague = frozenset({"Object"})
    methods: Mapping[str, str] = METHODS
    final: Mapping[str, str] = FINAL
    functional = FUNCTIONAL
    inborn = frozenset(
        ("equals", "hashCode", "toString", "getClass", "notify", "notifyAll", "wait", "clone")
    )
    iterates: tuple[tuple[str, str], ...] = (("iterator", "next"),)

    def module(self, path: str, imported: Import) -> Target:
        """The files of a package, or the class in one of them that a name is imported from."""
        name = imported.module.removeprefix(_STATIC)
        return self.once(("module", name, dirname(path)), self._module, path, name)

    def _module(self, path: str, name: str) -> Target:
        parts = name.split(".")
        for at in range(len(parts), 0, -1):
            files = self.view.packaged("java", ".".join(parts[:at]))
            if not files:
                continue
            within = tuple(parts[at:])
            if within and not within[0][:1].isupper():
                break
            return Target(paths=tuple(_nearest(path, files, within)), within=within)
        return Target(external=True, name=name)

    def has_twin(self, path: str, other: str) -> bool:
        """Whether another file of the package has the name of the one at ``other``, and neither is
        in the module of the one at ``path``."""
        facts = self.view.facts(other)
        files = () if facts is None else self._of_package(other, facts.package)
        twins = [each for each in files if basename(each) == basename(other)]
        return len(twins) > 1 and not any(_module(each) == _module(path) for each in twins)

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """A class that may come from an external package, by ``import x.*``."""
        if "." in name[1:]:
            return self.once(("module", name, dirname(path)), self._module, path, name)
        facts = self.view.facts(path)
        if facts is None or not name[:1].isupper():
            return None
        for each in facts.scopes[0].imports:
            if each.symbol == "*" and self.module(path, each).external:
                return Target(external=True, name=name)
        return None

    def beside(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The other files of the package."""
        return self._of_package(path, facts.package)

    def besides(self, path: str, facts: FileFacts, name: str) -> Sequence[str]:
        """The files of the package that define a class of this name, those of the same directory
        first: a package may be spread over source roots and modules."""
        key = ("index", facts.package or dirname(path))
        index = self.once(key, self._index, path, facts.package)
        found = index.get(name, ())
        return found if len(found) < 2 else _nearest(path, found, ())

    def _index(self, path: str, package: str) -> Mapping[str, Sequence[str]]:
        return top_level(self.view, self._of_package(path, package))

    def _of_package(self, path: str, package: str) -> Sequence[str]:
        if package:
            return self.view.packaged("java", package)
        directory = self.view.directory(dirname(path))
        return [each for each in directory if each.endswith(".java")]


def _nearest(path: str, files: Sequence[str], within: tuple[str, ...]) -> Sequence[str]:
    """The files by proximity; one named like the class comes before all others."""
    own = f"/{within[0]}.java" if within else "/"
    return sorted(
        files,
        key=lambda each: (not f"/{each}".endswith(own), -len(commonprefix((path, each))), each),
    )


def _module(path: str) -> str:
    """The directory of the module (Maven, Gradle) that a file is part of."""
    return path.partition("/src/")[0]
