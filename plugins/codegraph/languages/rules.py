"""Everything about name lookup that differs by language.

The linker (:mod:`plugins.codegraph.linker.linker`) evaluates facts the same way for every
language. Where languages differ it consults the language's :class:`Rules`. A language sets the
class attributes that are data and overrides the few methods that need the repository: resolving
a module, and which other files a bare name is looked up in. The defaults are those of a language
with lexical scopes, files that are modules, and no builtins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from plugins.codegraph.facts import FileFacts, Import, Scope
from plugins.codegraph.languages.source_view import SourceView

if TYPE_CHECKING:
    from plugins.codegraph.languages.base import Package

Kept = TypeVar("Kept")

_NONE: Mapping[str, str] = MappingProxyType({})


class Target(msgspec.Struct, frozen=True, gc=False):
    """The module that an import refers to.

    Attributes:
        paths: the files whose top-level names are the module's: one file in Python and
            TypeScript, all files of a package in Go. The first one that has a name wins.
        directories: where its submodules live (Python's packages, Rust's modules).
        external: it is outside the repository. A target that is neither external nor has a path
            or a directory is unknown: calls through it stay unresolved.
        name: its dotted name where it is external, such as ``functools``.
        within: a path of nested classes whose members take the place of the module's top-level
            names: for Java's ``import static a.B.f``, Rust's ``use a::Enum::*``.
    """

    paths: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    external: bool = False
    name: str = ""
    within: tuple[str, ...] = ()


UNKNOWN = Target()
"""A module that could not be resolved."""


@dataclass(frozen=True, slots=True)
class Container:
    """The roles of a container type's type arguments, by their index.

    Attributes:
        element: what iterating gives: ``T`` of ``list[T]``, ``K`` of ``dict[K, V]``.
        item: what a subscript gives: ``T`` of ``list[T]``, ``V`` of ``dict[K, V]``.
        key: the type of its keys, or -1 where that is not a type argument.
        pairs: whether iterating gives (key, item) pairs, while a visitor (``forEach``) gets the
            item first (JavaScript's ``Map``).
    """

    element: int = 0
    item: int = 0
    key: int = -1
    pairs: bool = False


class BaseRules:
    """Name lookup in one repository, with the defaults that a language derives from.

    Args:
        view: the repository.
    """

    receivers: frozenset[str] = frozenset()
    """Names of the receiver: ``this``, Rust's ``self``."""
    first_parameter: bool = False
    """Whether a method's first parameter is the receiver, whatever its name (Python). For a scope
    with a ``receiver`` (Go) it always is."""
    types_apart: bool = False
    """Whether a type and a value can have one name, each used in places of its own."""
    own_types: frozenset[str] = frozenset()
    """Names of the enclosing class in types: ``Self``."""
    class_scopes: bool = False
    """Whether a bare name is looked up among the members of the enclosing classes, inherited ones
    included (Java). If not, a method needs ``self`` for its class's names (Python)."""
    builtins: frozenset[str] = frozenset()
    """Names that the language predefines: external, not unresolved."""
    assignment_declares: bool = False
    """Whether assigning to a name declares it in the function around (Python). If not, a function's
    own names are its parameters and those that it has a modifier ``local:NAME`` for."""
    imports_exported: bool = False
    """Whether names that a file imports at top level become its members (Python)."""
    stars_hide: bool = True
    """Whether ``import *`` skips names that begin with an underscore (Python)."""
    body_sees_members: bool = True
    """Whether code directly in a class body sees its members by bare names (Python)."""
    whole: str = ""
    """The name, in a file's scope, of the value that the file exports as a whole (CommonJS'
    ``module.exports``); "" where files only export names."""
    constructors: tuple[str, ...] = ("constructor",)
    """Methods that calling a class runs: ``__init__``, ``constructor``. A method with the modifier
    ``constructor`` counts too, whatever its name (Java)."""
    converts: bool = False
    """Whether calling a type is a conversion and runs no function (Go)."""
    overloads: bool = False
    """Whether the arguments choose between functions of the same name (Java)."""
    hides: bool = False
    """Whether a class's function hides all inherited ones of its name (Rust); if not, those with
    other parameters remain (Java). Used only where :attr:`overloads` is set."""
    functional: frozenset[str] = frozenset()
    """Functional interfaces whose type arguments are the callback's parameter types, in order
    (Java's ``Consumer<T>``)."""
    inborn: frozenset[str] = frozenset()
    """Members that every object has: ``toString``, ``hashCode``."""
    final: Mapping[str, str] = _NONE
    """Types without subtypes, each mapped to its canonical type: an argument of one never fits a
    parameter of another (``int``, ``Integer``, ``String``)."""
    structural: bool = False
    """Whether a class implements an interface by having its methods (Go)."""
    linear: bool = False
    """Whether bases are ordered by C3 linearisation (Python); if not, depth first."""
    containers: Mapping[str, Container] = MappingProxyType({})
    """Container types by name: ``list``, ``Array``, ``Vec``, ``Map``, ``[]``."""
    unwraps: Mapping[str, int] = MappingProxyType({})
    """Wrapper types and the index of the type argument that they wrap: ``Promise``, ``Option``,
    ``Box``, ``Awaitable``. Members are looked up in the wrapper first."""
    transparent: Mapping[str, int] = MappingProxyType({})
    """Types that are equivalent to one of their type arguments, with its index: ``Optional``,
    ``Annotated``, ``ClassVar``, ``Readonly``."""
    callables: Mapping[str, int] = MappingProxyType({})
    """Function types and the index of the result among their type arguments (-1 is the last):
    ``Callable``."""
    class_types: frozenset[str] = frozenset()
    """Types whose value is the class given as type argument: ``type``."""
    vague: frozenset[str] = frozenset()
    """Types without information: ``Any``, ``object``, ``None``; assigned values are preferred."""
    methods: Mapping[str, str] = _NONE
    """The effects of container methods, by bare name: words of
    :mod:`plugins.codegraph.languages.effects`."""
    functions: Mapping[str, str] = _NONE
    """The effects of external functions, by dotted name, in the same words."""
    enters: Mapping[str, str] = _NONE
    """By the ``how`` of an ``Unwrapped``, the method that it calls: ``with`` → ``__enter__``."""
    member_writes: bool = False
    """Whether a member may be written to any object, and is an element of it: ``d.x = f`` is
    ``d["x"] = f``."""
    iterates: tuple[tuple[str, str], ...] = ()
    """The methods that iterating calls, each with the one called on its result: ``("__iter__",
    "__next__")``."""
    subscript: str = ""
    """The method that a subscript calls: ``__getitem__``, or ""."""
    stores: str = ""
    """The method that assigning to a subscript calls: ``__setitem__``, or ""."""
    missing: str = ""
    """The method called when a member that does not exist is read: ``__getattr__``, or ""."""
    subclassed: str = ""
    """The method of the bases that defining a subclass calls: ``__init_subclass__``, or ""."""
    runs: Mapping[str, str] = _NONE
    """By the name of an external function, the method of its first argument that it calls and whose
    result it returns: ``next`` → ``__next__``."""
    called: str = ""
    """The method that calling an object runs: ``__call__``, or ""."""

    def __init__(self, view: SourceView) -> None:
        self.view = view

    def once(self, key: Hashable, work: Callable[..., Kept], *args: Any) -> Kept:
        """Compute a value of the repository once; what it looked at is recorded as a dependency of
        everyone who uses it. Do not cache anything derived from the view in any other way.

        Args:
            key: identifies the value; unique within the language.
            work: computes it from ``args``.
        """
        kept: Callable[..., Kept] | None = getattr(self.view, "once", None)
        return work(*args) if kept is None else kept((type(self).__name__, key), work, *args)

    def packages(self) -> Sequence[Package]:
        """The packages that the manifests of the repository declare."""
        return ()

    def has_twin(self, path: str, other: str) -> bool:
        """Whether the file at ``path``, where it names something in the file at ``other``, may mean
        another package of the same name."""
        homes = [root for root in self.once("twins", self._twins) if _inside(other, root)]
        return bool(homes) and not any(_inside(path, root) for root in homes)

    def _twins(self) -> Sequence[str]:
        """The roots of packages that share their name with another one."""
        packages = self.packages()
        names = Counter(each.name for each in packages)
        return [each.root for each in packages if names[each.name] > 1]

    def module(self, path: str, imported: Import) -> Target:
        """The module that an import statement of the file at ``path`` refers to. Only ``module``
        and ``level`` matter here; the linker looks up the symbol. Never called with module "": that
        is the file itself, exporting a name of its own."""
        return UNKNOWN

    def submodule(self, path: str, of: Target, name: str) -> Target | None:
        """A module within a module (``pkg.sub``, ``a::b``), or None. Called when ``of`` does not
        define ``name`` itself."""
        return None

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """The module that a bare name refers to without an import (Rust's ``crate``), or None.
        Called last, after all scopes and before the builtins."""
        return None

    def beside(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The other files whose top-level names a bare name is looked up in, after the file's own:
        those of the package (Go, Java). Not for star imports."""
        return ()

    def besides(self, path: str, facts: FileFacts, name: str) -> Sequence[str]:
        """The files of :meth:`beside` that may define ``name``: all of them, or for a large package
        the matches of an index."""
        return self.beside(path, facts)

    def extensions(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files, this one included, that may define methods of this file's classes from outside
        of the class, by scopes with a ``receiver`` (Go, Rust)."""
        return (path,)

    def interfaces(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files whose interfaces this file's classes may implement structurally; called where
        :attr:`structural` is set."""
        return ()

    def known(self, name: str) -> bool:
        """Whether an unbound bare name is predefined by the language, thus external."""
        return name in self.builtins

    def injected(
        self, path: str, facts: FileFacts, scope: int, place: int
    ) -> Sequence[tuple[str, int]]:
        """The functions whose result a framework passes for the parameter number ``place`` of the
        function ``scope``: each as the file and the number of its scope."""
        return ()


Rules = BaseRules
"""The interface that the linker uses."""


def _inside(path: str, root: str) -> bool:
    return not root or path.startswith(f"{root}/")
