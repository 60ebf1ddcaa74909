"""Name lookup in TypeScript and JavaScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Import, Scope
from plugins.codegraph.languages.rules import BaseRules, Target
from plugins.codegraph.languages.typescript import builtins as given
from plugins.codegraph.languages.typescript import resolution
from plugins.codegraph.languages.typescript.commonjs import WHOLE
from plugins.codegraph.languages.typescript.interfaces import CALL
from plugins.codegraph.languages.typescript.workspaces import packages

if TYPE_CHECKING:
    from plugins.codegraph.languages.base import Package


class ScriptRules(BaseRules):
    """One set of rules for both languages: their files import each other."""

    receivers = frozenset({"this"})
    member_writes = True
    stars_hide = False
    types_apart = True
    builtins = given.GLOBALS
    containers = given.CONTAINERS
    unwraps = given.UNWRAPS
    transparent = given.TRANSPARENT
    callables: Mapping[str, int] = MappingProxyType({"Callable": -1})
    class_types = frozenset({"typeof", "Constructor"})
    vague = frozenset({"any", "unknown", "object", "Object", "null", "undefined", "void", "never"})
    methods = given.METHODS
    functions = given.FUNCTIONS
    called = CALL
    body_sees_members = False
    whole = WHOLE

    def packages(self) -> Sequence[Package]:
        """The npm packages."""
        return packages(self.view)

    def module(self, path: str, imported: Import) -> Target:
        """The module that an import refers to; see :mod:`.resolution`."""
        return resolution.resolve(self.view, path, imported.module)

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """``exports`` is the file itself."""
        return Target(paths=(path,)) if name == "exports" else None

    def known(self, name: str) -> bool:
        """Whether it is a global; ``typeof`` is the generic type of :data:`.types.TYPEOF`."""
        return name in self.builtins or name == "typeof"
