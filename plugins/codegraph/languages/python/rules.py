"""How Python's names are looked up."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.codegraph.facts import FileFacts, Import, Scope
from plugins.codegraph.languages.python import wellknown
from plugins.codegraph.languages.python.modules import Modules, conftests
from plugins.codegraph.linking.rules import BaseRules, Target
from plugins.codegraph.linking.sheet import last_name
from plugins.codegraph.linking.world import World


class PythonRules(BaseRules):
    """Python's scoping, its C3 classes, its imports.

    Args:
        world: the repository.
    """

    first_parameter = True
    own_types = frozenset({"Self"})
    builtins = wellknown.BUILTINS
    imports_exported = True
    constructors = ("__init__", "__new__")
    linear = True
    containers = wellknown.CONTAINERS
    unwraps = wellknown.UNWRAPS
    transparent = wellknown.TRANSPARENT
    callables = {"Callable": -1}  # noqa: RUF012 - data that nobody changes
    class_types = frozenset({"type", "Type"})
    vague = wellknown.VAGUE
    methods = wellknown.METHODS
    functions = wellknown.FUNCTIONS
    enters = {"with": "__enter__", "async with": "__aenter__"}  # noqa: RUF012
    iterates = (("__iter__", "__next__"), ("__aiter__", "__anext__"))
    subscript = "__getitem__"
    stores = "__setitem__"
    missing = "__getattr__"
    subclassed = "__init_subclass__"
    runs = wellknown.RUNS
    called = "__call__"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._modules = Modules(self)

    def module(self, path: str, imported: Import) -> Target:
        """Relative imports from the file's package, others from the roots."""
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
        """pytest's fixtures: a test's or fixture's parameter is the fixture of that name."""
        function = facts.scopes[scope]
        if not (function.name.startswith("test") or _is_fixture(function)):
            return ()
        name = function.params[place].name
        if name != function.name:
            found = _fixture(facts, name)
            if found >= 0:
                return ((path, found),)
        for conftest in conftests(self.world, path):
            other = self.world.facts(conftest)
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
