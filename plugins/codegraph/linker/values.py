"""What an expression may stand for."""

from __future__ import annotations

from typing import Union

import msgspec

from plugins.codegraph.languages.rules import Target

Rank = int
"""How surely a value is what an expression stands for: the place of its strategy in this list:"""

SCOPE, IMPORT, SELF, DECLARED, INFERRED = range(5)

MAX_VALUES = 24
"""More values than this for one name are as good as none."""
MAX_DEPTH = 3
"""Values within values: what is deeper is not followed."""
MAX_ITEMS = 48
"""A written-out group or table with more entries is kept as one of unknown order."""

Some = tuple["Value", ...]
"""Values within a value."""


class Module(msgspec.Struct, frozen=True, gc=False):
    """A module of the repository."""

    target: Target


class Class(msgspec.Struct, frozen=True, gc=False):
    """A class, interface or trait of the repository, with the type arguments it was given."""

    path: str
    scope: int
    args: tuple[Some, ...] = ()


class Func(msgspec.Struct, frozen=True, gc=False):
    """A function or method of the repository, or a lambda."""

    path: str
    scope: int


class Bound(msgspec.Struct, frozen=True, gc=False):
    """A method with the object or class that it was taken from."""

    func: Func
    receiver: Value


class Instance(msgspec.Struct, frozen=True, gc=False):
    """An object of a class of the repository. ``own`` is the object around: ``self``."""

    path: str
    scope: int
    args: tuple[Some, ...] = ()
    own: bool = False


class External(msgspec.Struct, frozen=True, gc=False):
    """A module, function or class outside of the repository, by its dotted name."""

    name: str
    args: tuple[Some, ...] = ()


class Thing(msgspec.Struct, frozen=True, gc=False):
    """An object of an external type, by the type's last name, with its type arguments."""

    name: str
    args: tuple[Some, ...] = ()


class Tuple(msgspec.Struct, frozen=True, gc=False):
    """A group that is written out: what stands at each place."""

    kind: str
    items: tuple[Some, ...]


class Record(msgspec.Struct, frozen=True, gc=False):
    """A table that is written out: what stands at each key; None is any key."""

    items: tuple[tuple[str | None, Some], ...]


class Method(msgspec.Struct, frozen=True, gc=False):
    """A known method of an external type: the word says what it gives."""

    word: str
    receiver: Value


class Returns(msgspec.Struct, frozen=True, gc=False):
    """Some function, known by its type alone: what it gives, and what it is called with."""

    values: Some
    params: tuple[Some, ...] = ()


class Var(msgspec.Struct, frozen=True, gc=False):
    """A type parameter, with what it is bound to."""

    name: str
    bound: Some = ()


class Given(msgspec.Struct, frozen=True, gc=False):
    """What a call passes for one parameter of a function: filled in at the call."""

    func: Func
    name: str


Value = Union[  # noqa: UP007
    Module,
    Class,
    Func,
    Bound,
    Instance,
    External,
    Thing,
    Tuple,
    Record,
    Method,
    Returns,
    Var,
    Given,
]

Values = dict[Value, Rank]
"""All that an expression may stand for, each with how surely. Empty: nobody knows."""

NOTHING: Values = {}
"""Never changed by anyone."""


def add(into: Values, values: Values, rank: Rank = 0) -> None:
    """Add values, each at least as unsure as ``rank``; the surer way to a value counts."""
    for value, own in values.items():
        at_least = own if own > rank else rank
        old = into.get(value)
        if old is None or at_least < old:
            into[value] = at_least


def ranked(values: Values, rank: Rank) -> Values:
    """The values, each at least as unsure as ``rank``."""
    return {value: own if own > rank else rank for value, own in values.items()}


def capped(values: Values) -> Values:
    """The values, or none if there are too many to mean anything."""
    return values if len(values) <= MAX_VALUES else NOTHING


def depth_of(value: Value) -> int:
    """How deep values are nested in this one; 0 for one that holds none."""
    match value:
        case Thing(args=parts) | Class(args=parts) | Instance(args=parts) | External(args=parts):
            pass
        case Tuple(items=parts):
            pass
        case Record(items=pairs):
            parts = tuple(part for _, part in pairs)
        case Returns(values=part):
            parts = (part,)
        case _:
            return 0
    return 1 + max((depth_of(each) for part in parts for each in part), default=-1 + bool(parts))


def inside(values: Values) -> Some:
    """Values as they are kept within another one: not too many, not too deep."""
    if not values or len(values) > MAX_VALUES:
        return ()
    return tuple(value for value in values if depth_of(value) < MAX_DEPTH)


def outside(values: Some, rank: Rank) -> Values:
    """Values taken out of another one, which was as sure as ``rank``."""
    return dict.fromkeys(values, rank)
