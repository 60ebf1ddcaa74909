"""Name lookup in Python."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.codegraph.facts import FileFacts, Import, Scope, last_name
from plugins.codegraph.languages.python import builtins as known
from plugins.codegraph.languages.python.modules import Modules, conftests
from plugins.codegraph.languages.rules import BaseRules, Target
from plugins.codegraph.languages.source_view import SourceView


class PythonRules(BaseRules):
    """Python's scoping, class linearisation and imports.

    Args:
        view: the repository.
    """

    first_parameter = True
    own_types = frozenset({"Self"})
    builtins = known.BUILTINS
    assignment_declares = True
    imports_exported = True
    constructors = ("__init__", "__new__")
    linear = True
    containers = known.CONTAINERS
    unwraps = known.UNWRAPS
    transparent = known.TRANSPARENT
    callables = {"Callable": -1}  # noqa: RUF012 - never mutated
    class_types = frozenset({"type", "Type"})
    vague = known.VAGUE
    methods = known.METHODS
    functions = known.FUNCTIONS
    enters = {"with": "__enter__", "async with": "__aenter__"}  # noqa: RUF012
    iterates = (("__iter__", "__next__"), ("__aiter__", "__anext__"))
    subscript = "__getitem__"
    stores = "__setitem__"
    missing = "__getattr__"
    subclassed = "__init_subclass__"
    runs = known.RUNS
    called = "__call__"

    def __init__(self, view: SourceView) -> None:
        super().__init__(view)
        self._modules = Modules(self)

    def module(self, path: str, imported: Import) -> Target:
        """Relative imports start at the file's package, others at the source roots."""
        if imported.level:
            return self._modules.relative(path, imported.module, imported.level)
        return self._modules.absolute(path, imported.module)

    def submodule(self, path: str, of: Target, name: str) -> Target | None:
        """A module in a package's directory."""
        for directory in of.directories:
            found = self._modules.inside(directory, name)
            if found is not None:
                return found
        return None

    def injected(
        self, path: str, facts: FileFacts, scope: int, place: int
    ) -> Sequence[tuple[str, int]]:
        """pytest's fixtures: a parameter of a test or fixture is the fixture of that name."""
        function = facts.scopes[scope]
        if not (function.name.startswith("test") or _is_fixture(function)):
            return ()
        name = function.params[place].name
        if name != function.name:
            found = _fixture(facts, name)
            if found >= 0:
                return ((path, found),)
        for conftest in conftests(self.view, path):
            other = self.view.facts(conftest)
            found = -1 if other is None else _fixture(other, name)
            if found >= 0:
                return ((conftest, found),)
        return ()


def _is_fixture(scope: Scope) -> bool:
    return any(last_name(each) == "fixture" for each in scope.decorators)


def _fixture(facts: FileFacts, name: str) -> int:
    for number, scope in enumerate(facts.scopes):
        if scope.name == name and scope.kind == "function" and _is_fixture(scope):
            return number
    return -1
