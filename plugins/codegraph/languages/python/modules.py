"""Maps Python modules to files: packages, source roots, namespace packages, stubs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from posixpath import dirname

from plugins.codegraph.languages.python.projects import source_roots
from plugins.codegraph.languages.rules import BaseRules, Target
from plugins.codegraph.languages.source_view import SourceView

_STANDARD = frozenset(sys.stdlib_module_names)


class Modules:
    """Finds the files of modules in one repository.

    Args:
        rules: the language's rules, which cache results.
    """

    def __init__(self, rules: BaseRules) -> None:
        self._rules = rules

    @property
    def _view(self) -> SourceView:
        return self._rules.view

    def absolute(self, path: str, module: str) -> Target:
        """The target of ``import module`` in the file at ``path``."""
        own = self._own_root(dirname(path))
        key = ("top", own, dirname(path), module)
        root = self._rules.once(key, self._root_of, path, own, module)
        if root is None:
            return Target(external=True, name=module)
        found = self._rules.once(("at", root, module), self._at, root, module)
        return found or Target(external=True, name=module)

    def relative(self, path: str, module: str, level: int) -> Target:
        """The target of ``from ..module import`` in the file at ``path``."""
        directory = dirname(path)
        for _ in range(level - 1):
            directory = dirname(directory)
        return self._at(directory, module) or Target()

    def inside(self, directory: str, name: str) -> Target | None:
        """A module in a package's directory."""
        return self._at(directory, name)

    def _own_root(self, directory: str) -> str:
        """The directory that is searched first: the script's own, or the one that contains the
        outermost package."""
        return self._rules.once(("own", directory), self._outermost, directory)

    def _outermost(self, directory: str) -> str:
        while directory and self._is_package(directory):
            directory = dirname(directory)
        return directory

    def _is_package(self, directory: str) -> bool:
        view = self._view
        return view.exists(_in(directory, "__init__.py")) or view.exists(
            _in(directory, "__init__.pyi")
        )

    def _root_of(self, path: str, own: str, module: str) -> str | None:
        top = module.partition(".")[0]
        if self._has(own, module):
            return own
        if top in _STANDARD:
            return None
        for root in self._roots(path):
            if self._has(root, module):
                return root
        return None

    def _roots(self, path: str) -> Iterator[str]:
        """The directories that modules are searched in, nearest first."""
        known = self._rules.once("roots", source_roots, self._view)
        inside = [root for root in known if not root or path.startswith(f"{root}/")]
        yield from sorted(inside, key=lambda root: (-len(root), root))
        directory = dirname(path)
        while directory:
            directory = dirname(directory)
            yield directory
        yield from (root for root in known if root not in inside)

    def _has(self, root: str, module: str) -> bool:
        """Whether a root has the module's outermost package or, for a directory of directories
        alone (a namespace package), the module itself."""
        top = module.partition(".")[0]
        return self._at(root, top) is not None or (
            top != module and self._at(root, module) is not None
        )

    def _at(self, root: str, module: str) -> Target | None:
        """A module under a root, or None."""
        base = _in(root, module.replace(".", "/")) if module else root
        view = self._view
        for name in ("__init__.py", "__init__.pyi"):
            if view.exists(_in(base, name)):
                return Target((_in(base, name),), (base,))
        if module:
            for suffix in (".py", ".pyi"):
                if view.exists(base + suffix):
                    return Target((base + suffix,))
        if base and any(each.endswith((".py", ".pyi")) for each in view.directory(base)):
            return Target((), (base,))
        return None


def _in(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def conftests(view: SourceView, path: str) -> Iterator[str]:
    """The ``conftest.py`` files that pytest reads for a test, nearest first."""
    directory = dirname(path)
    while True:
        found = _in(directory, "conftest.py")
        if found != path and view.exists(found):
            yield found
        if not directory:
            return
        directory = dirname(directory)
