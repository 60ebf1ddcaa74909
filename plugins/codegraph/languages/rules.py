"""All that differs by language when names are looked up: what a language tells the linker.

The linker (:mod:`plugins.codegraph.linker.linker`) evaluates facts the same way for every
language. Where languages differ it asks its :class:`Rules`. A language sets the class attributes
that are data and overrides the few methods that need the repository: resolving a module, and
which other files a bare name is looked up in. The defaults are those of a language with lexical
scopes, files that are modules, and no builtins.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from plugins.codegraph.facts import FileFacts, Import, Scope
from plugins.codegraph.languages.source_view import SourceView

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
        pairs: whether iterating gives pairs of key and item (JavaScript's ``Map``), while a
            function that visits it (``forEach``) gets the element.
    """

    element: int = 0
    item: int = 0
    key: int = -1
    pairs: bool = False


class BaseRules:
    """How names of one language are looked up in one repository, with the defaults that a
    language derives from.

    Args:
        view: the repository.
    """

    receivers: frozenset[str] = frozenset()
    """Names that mean the object around: ``this``, Rust's ``self``."""
    first_parameter: bool = False
    """Whether a method's first parameter is the receiver, whatever its name (Python). One whose
    scope has a ``receiver`` (Go) has it in any case."""
    own_types: frozenset[str] = frozenset()
    """Names that mean the class around, in types: ``Self``."""
    class_scopes: bool = False
    """Whether a bare name is looked up among the members, inherited ones too, of the classes
    around (Java); if not, a function does not see its class's names without ``self`` (Python)."""
    builtins: frozenset[str] = frozenset()
    """Names that the language binds itself: they are external, not unresolved."""
    imports_exported: bool = False
    """Whether a name that a file imports at its top is a member of that file (Python)."""
    stars_hide: bool = True
    """Whether ``import *`` leaves out names that begin with an underscore (Python)."""
    body_sees_members: bool = True
    """Whether what stands in a class's own body sees its members by bare names (Python)."""
    whole: str = ""
    """The name, in a file's scope, of the one value that the file exports as a whole (CommonJS'
    ``module.exports``); "" where files export names alone."""
    constructors: tuple[str, ...] = ("constructor",)
    """Methods that a call of a class runs: ``__init__``, ``constructor``. A member function with
    the modifier ``constructor`` counts too, whatever its name (Java)."""
    converts: bool = False
    """Whether calling a type converts a value to it, which is no call (Go)."""
    overloads: bool = False
    """Whether of several functions of one name the arguments choose (Java)."""
    hides: bool = False
    """Whether a class's function hides all of its name in the classes above (Rust); if not, those
    for other arguments are still there (Java). Asked where :attr:`overloads` is set."""
    functional: frozenset[str] = frozenset()
    """Types of functions whose type arguments are those of their parameters, in order, where
    functions are passed as objects of one method (Java's ``Consumer<T>``)."""
    inborn: frozenset[str] = frozenset()
    """Members that every object has: ``toString``, ``hashCode``."""
    final: Mapping[str, str] = _NONE
    """Types that have no others below them, each with the one that it stands for: an argument of
    one is never meant for a parameter of another (``int``, ``Integer``, ``String``)."""
    structural: bool = False
    """Whether a class implements an interface by having its methods (Go)."""
    linear: bool = False
    """Whether bases are searched by C3 linearisation (Python); if not, depth first."""
    containers: Mapping[str, Container] = MappingProxyType({})
    """Container types by name: ``list``, ``Array``, ``Vec``, ``Map``, ``[]``."""
    unwraps: Mapping[str, int] = MappingProxyType({})
    """Types that stand for what is in them, and which argument that is: ``Promise``, ``Option``,
    ``Box``, ``Awaitable``. Members are looked up in the wrapper first."""
    transparent: Mapping[str, int] = MappingProxyType({})
    """Types that are their argument wherever they stand: ``Optional``, ``Annotated``,
    ``ClassVar``, ``Readonly``."""
    callables: Mapping[str, int] = MappingProxyType({})
    """Types of functions and which argument is the result: ``Callable``; -1 is the last."""
    class_types: frozenset[str] = frozenset()
    """Types whose value is the class that is their argument: ``type``."""
    vague: frozenset[str] = frozenset()
    """Types that say nothing: ``Any``, ``object``, ``None``; what is assigned says more."""
    methods: Mapping[str, str] = _NONE
    """Methods of container types, by bare name, and what they give: one of the words of
    :mod:`plugins.codegraph.languages.effects`."""
    functions: Mapping[str, str] = _NONE
    """Functions outside of the repository by dotted name, and what they give, in the same
    words."""
    enters: Mapping[str, str] = _NONE
    """By the ``how`` of an ``Unwrapped``, the method that it calls: ``with`` → ``__enter__``."""
    iterates: tuple[tuple[str, str], ...] = ()
    """The methods that iterating calls, and the one called on their result:
    ``("__iter__", "__next__")``."""
    subscript: str = ""
    """The method that a subscript calls: ``__getitem__``, or ""."""
    stores: str = ""
    """The method that assigning to a subscript calls: ``__setitem__``, or ""."""
    missing: str = ""
    """The method that reading a member calls where there is none: ``__getattr__``, or ""."""
    subclassed: str = ""
    """The method of the bases that defining a class calls: ``__init_subclass__``, or ""."""
    runs: Mapping[str, str] = _NONE
    """By the name of a function outside of the repository, the method that it calls of its first
    argument and whose result it gives: ``next`` → ``__next__``."""
    called: str = ""
    """The method that calling an object calls: ``__call__``, or ""."""

    def __init__(self, view: SourceView) -> None:
        self.view = view

    def once(self, key: Hashable, work: Callable[..., Kept], *args: Any) -> Kept:
        """Work something out of the repository once, and note for everyone who asks for it what
        it depends on. Keep nothing that comes from the world in any other way.

        Args:
            key: what it is; unique within the language.
            work: works it out, given ``args``.
        """
        kept: Callable[..., Kept] | None = getattr(self.view, "once", None)
        return work(*args) if kept is None else kept((type(self).__name__, key), work, *args)

    def module(self, path: str, imported: Import) -> Target:
        """The module that an import statement of the file at ``path`` names (its ``module`` and
        ``level`` alone; the linker looks for the symbol in it). A module "" is never asked for:
        it is the file itself, which exports a name of its own."""
        return UNKNOWN

    def submodule(self, path: str, of: Target, name: str) -> Target | None:
        """A module within a module, where the language has that (``pkg.sub``, ``a::b``), or
        None. It is asked for when ``of`` has no such name itself."""
        return None

    def named(self, path: str, scope: Scope, name: str) -> Target | None:
        """The module that a bare name means without any import: Rust's ``crate``, or None. It is
        asked for last, after all scopes and before the builtins."""
        return None

    def beside(self, path: str, facts: FileFacts) -> Sequence[str]:
        """Other files whose top-level names a bare name is looked up in, after the file's own:
        those of the package (Go, Java). Star imports do not belong here."""
        return ()

    def besides(self, path: str, facts: FileFacts, name: str) -> Sequence[str]:
        """Those of the files :meth:`beside` that may have this name: all of them, or for a large
        package those that an index says."""
        return self.beside(path, facts)

    def extensions(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files in which methods of this file's classes may be defined from outside of the
        class, by scopes with a ``receiver`` (Go, Rust); with the file itself."""
        return (path,)

    def interfaces(self, path: str, facts: FileFacts) -> Sequence[str]:
        """The files whose interfaces the classes of a file may implement without saying so; asked
        where :attr:`structural` is set."""
        return ()

    def known(self, name: str) -> bool:
        """Whether a bare name that nothing binds is the language's own, thus external."""
        return name in self.builtins

    def injected(
        self, path: str, facts: FileFacts, scope: int, place: int
    ) -> Sequence[tuple[str, int]]:
        """The functions whose result a framework passes for a parameter: the file and the number
        of the scope of each. ``place`` is the parameter's, ``scope`` the function's."""
        return ()


Rules = BaseRules
"""What the linker asks; a language may derive from it without changing anything."""
