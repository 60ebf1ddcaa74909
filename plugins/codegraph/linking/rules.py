"""All that differs by language when names are looked up: what a language tells the linker.

The linker (:mod:`plugins.codegraph.linking.linker`) evaluates facts the same way for every
language. Where languages differ it asks its :class:`Rules`. A language sets the class attributes
that are data and overrides the few methods that need the repository: resolving a module, and
which other files a bare name is looked up in. The defaults are those of a language with lexical
scopes, files that are modules, and no builtins.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

from plugins.codegraph.facts import FileFacts, Import, Scope
from plugins.codegraph.linking.world import World

Kept = TypeVar("Kept")

_NONE: Mapping[str, str] = MappingProxyType({})


class Target(msgspec.Struct, frozen=True, gc=False):
    """The module that an import means.

    Attributes:
        paths: the files whose top-level names are the module's: one file in Python and
            TypeScript, all files of a package in Go. The first one that has a name wins.
        directories: where its submodules live (Python's packages, Rust's modules).
        external: it is outside the repository. A target that is neither this nor has a path or a
            directory is unknown: calls through it stay unresolved.
        name: its dotted name where it is external, such as ``functools``.
        within: the classes, one in the other, whose members are the module's instead of the
            top-level names: those of Java's ``import static a.B.f``, of Rust's ``use a::Enum::*``.
    """

    paths: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    external: bool = False
    name: str = ""
    within: tuple[str, ...] = ()


UNKNOWN = Target()
"""Nobody knows what module that is."""


@dataclass(frozen=True, slots=True)
class Container:
    """Which type argument of a container type is what.

    Attributes:
        element: what iterating gives: ``T`` of ``list[T]``, ``K`` of ``dict[K, V]``.
        item: what a subscript gives: ``T`` of ``list[T]``, ``V`` of ``dict[K, V]``.
        key: what its keys are, or -1 where they are not of a type argument.
    """

    element: int = 0
    item: int = 0
    key: int = -1


@runtime_checkable
class Rules(Protocol):
    """How names of one language are looked up in one repository. See :class:`BaseRules`."""

    # How names are scoped.
    receivers: frozenset[str]
    """Names that mean the object around: ``this``, Rust's ``self``."""
    first_parameter: bool
    """Whether a method's first parameter is the receiver, whatever its name (Python). One whose
    scope has a ``receiver`` (Go) has it in any case."""
    own_types: frozenset[str]
    """Names that mean the class around, in types: ``Self``."""
    class_scopes: bool
    """Whether a bare name is looked up among the members, inherited ones too, of the classes
    around (Java); if not, a function does not see its class's names without ``self`` (Python)."""
    body_sees_members: bool
    """Whether what stands in a class's own body sees its members by bare names (Python)."""
    builtins: frozenset[str]
    """Names that the language binds itself: they are external, not unresolved."""
    imports_exported: bool
    """Whether a name that a file imports at its top is a member of that file (Python)."""
    stars_hide: bool
    """Whether ``import *`` leaves out names that begin with an underscore (Python)."""
    whole: str
    """The name, in a file's scope, of the one value that the file exports as a whole (CommonJS'
    ``module.exports``); "" where files export names alone."""

    # How classes are made and searched.
    constructors: tuple[str, ...]
    """Methods that a call of a class runs: ``__init__``, ``constructor``. A member function with the
    modifier ``constructor`` counts too, whatever its name (Java)."""
    converts: bool
    """Whether calling a type converts a value to it, which is no call (Go)."""
    overloads: bool
    """Whether of several functions of one name the arguments choose (Java)."""
    functional: frozenset[str]
    """Types of functions whose type arguments are those of their parameters, in order, where
    functions are passed as objects of one method (Java's ``Consumer<T>``)."""
    inborn: frozenset[str]
    """Members that every object has: ``toString``, ``hashCode``."""
    final: Mapping[str, str]
    """Types that have no others below them, each with the one that it stands for: an argument of
    one is never meant for a parameter of another (``int``, ``Integer``, ``String``)."""
    structural: bool
    """Whether a class implements an interface by having its methods (Go)."""
    linear: bool
    """Whether bases are searched by C3 linearisation (Python); if not, depth first."""

    # What the types outside of the repository mean.
    containers: Mapping[str, Container]
    """Container types by name: ``list``, ``Array``, ``Vec``, ``Map``, ``[]``."""
    unwraps: Mapping[str, int]
    """Types that stand for what is in them, and which argument that is: ``Promise``, ``Option``,
    ``Box``, ``Awaitable``. Members are looked up in the wrapper first."""
    transparent: Mapping[str, int]
    """Types that are their argument wherever they stand: ``Optional``, ``Annotated``,
    ``ClassVar``, ``Readonly``."""
    callables: Mapping[str, int]
    """Types of functions and which argument is the result: ``Callable``; -1 is the last."""
    class_types: frozenset[str]
    """Types whose value is the class that is their argument: ``type``."""
    vague: frozenset[str]
    """Types that say nothing: ``Any``, ``object``, ``None``; what is assigned says more."""
    methods: Mapping[str, str]
    """Methods of container types, by bare name, and what they give: one of the words of
    :mod:`plugins.codegraph.linking.known`."""
    functions: Mapping[str, str]
    """Functions outside of the repository by dotted name, and what they give, in the same
    words."""
    enters: Mapping[str, str]
    """By the ``how`` of an ``Unwrapped``, the method that it calls: ``with`` → ``__enter__``."""
    iterates: tuple[tuple[str, str], ...]
    """The methods that iterating calls, and the one called on their result:
    ``("__iter__", "__next__")``."""
    subscript: str
    """The method that a subscript calls: ``__getitem__``, or ""."""
    stores: str
    """The method that assigning to a subscript calls: ``__setitem__``, or ""."""
    missing: str
    """The method that reading a member calls where there is none: ``__getattr__``, or ""."""
    subclassed: str
    """The method of the bases that defining a class calls: ``__init_subclass__``, or ""."""
    runs: Mapping[str, str]
    """By the name of a function outside of the repository, the method that it calls of its first
    argument and whose result it gives: ``next`` → ``__next__``."""
    called: str
    """The method that calling an object calls: ``__call__``, or ""."""

    def module(self, path: str, imported: Import) -> Target:
        """The module that an import statement of the file at ``path`` names (its ``module`` and
        ``level`` alone; the linker looks for the symbol in it). A module "" is never asked for:
        it is the file itself, which exports a name of its own."""
        ...

    def submodule(self, path: str, of: Target, name: str) -> Target | None:
        """A module within a module, where the language has that (``pkg.sub``, ``a::b``), or
        None. It is asked for when ``of`` has no such name itself."""
        ...

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """The module that a bare name means without any import: Rust's ``crate``, or None. It is
        asked for last, after all scopes and before the builtins."""
        ...

    def beside(self, path: str, facts: FileFacts) -> Sequence[str]:
        """Other files whose top-level names a bare name is looked up in, after the file's own:
        those of the package (Go, Java). Star imports do not belong here."""
        ...

    def besides(self, path: str, facts: FileFacts, name: str) -> Sequence[str]:
        """Those of the files :meth:`beside` that may have this name: all of them, or for a large
        package those that an index says."""
        ...

    def extensions(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files in which methods of this file's classes may be defined from outside of the
        class, by scopes with a ``receiver`` (Go, Rust); with the file itself."""
        ...

    def interfaces(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files whose interfaces the classes of a file may implement without saying so; asked
        where :attr:`structural` is set."""
        ...

    def known(self, name: str) -> bool:
        """Whether a bare name that nothing binds is the language's own, thus external."""
        ...

    def injected(
        self, path: str, facts: FileFacts, scope: int, place: int
    ) -> Sequence[tuple[str, int]]:
        """The functions whose result a framework passes for a parameter: the file and the number
        of the scope of each. ``place`` is the parameter's, ``scope`` the function's."""
        ...


class BaseRules:
    """The defaults of :class:`Rules`, which languages derive from.

    Args:
        world: the repository.
    """

    receivers: frozenset[str] = frozenset()
    first_parameter: bool = False
    own_types: frozenset[str] = frozenset()
    class_scopes: bool = False
    builtins: frozenset[str] = frozenset()
    imports_exported: bool = False
    stars_hide: bool = True
    body_sees_members: bool = True
    whole: str = ""
    constructors: tuple[str, ...] = ("constructor",)
    converts: bool = False
    overloads: bool = False
    functional: frozenset[str] = frozenset()
    inborn: frozenset[str] = frozenset()
    final: Mapping[str, str] = _NONE
    structural: bool = False
    linear: bool = False
    containers: Mapping[str, Container] = MappingProxyType({})
    unwraps: Mapping[str, int] = MappingProxyType({})
    transparent: Mapping[str, int] = MappingProxyType({})
    callables: Mapping[str, int] = MappingProxyType({})
    class_types: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    methods: Mapping[str, str] = _NONE
    functions: Mapping[str, str] = _NONE
    enters: Mapping[str, str] = _NONE
    iterates: tuple[tuple[str, str], ...] = ()
    subscript: str = ""
    stores: str = ""
    missing: str = ""
    subclassed: str = ""
    runs: Mapping[str, str] = _NONE
    called: str = ""

    def __init__(self, world: World) -> None:
        self.world = world

    def once(self, key: Hashable, work: Callable[..., Kept], *args: Any) -> Kept:
        """Work something out of the repository once, and note for everyone who asks for it what
        it depends on. Keep nothing that comes from the world in any other way.

        Args:
            key: what it is; unique within the language.
            work: works it out, given ``args``.
        """
        kept: Callable[..., Kept] | None = getattr(self.world, "once", None)
        return work(*args) if kept is None else kept((type(self).__name__, key), work, *args)

    def module(self, path: str, imported: Import) -> Target:
        """Unknown: a language resolves its imports itself."""
        return UNKNOWN

    def submodule(self, path: str, of: Target, name: str) -> Target | None:
        """None: modules are in no other module."""
        return None

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """None: no module has a name that was not imported."""
        return None

    def beside(self, path: str, facts: FileFacts) -> Sequence[str]:
        """None: a file sees its own names alone."""
        return ()

    def besides(self, path: str, facts: FileFacts, name: str) -> Sequence[str]:
        """All of them."""
        return self.beside(path, facts)

    def extensions(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The file itself."""
        return (path,)

    def interfaces(self, path: str, facts: FileFacts) -> Sequence[str]:
        """None: a class says what it implements."""
        return ()

    def known(self, name: str) -> bool:
        """Whether it is one of :attr:`builtins`."""
        return name in self.builtins

    def injected(
        self, path: str, facts: FileFacts, scope: int, place: int
    ) -> Sequence[tuple[str, int]]:
        """None."""
        return ()
