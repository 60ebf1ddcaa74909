"""The values that expressions may evaluate to."""

from __future__ import annotations

from typing import Union

import msgspec

from plugins.codegraph.languages.rules import Target

Rank = int
"""How certain a value is, as an index into the list below; lower is more certain."""

SCOPE, IMPORT, SELF, DECLARED, INFERRED = range(5)

MAX_VALUES = 24
"""A name with more possible values than this is treated as unknown."""
MAX_DEPTH = 3
"""The maximum nesting of values; deeper ones are dropped."""
MAX_ITEMS = 48
"""A literal group or table with more entries is stored without its order or keys."""

Some = tuple["Value", ...]
"""Alternatives nested within a value."""


class Module(msgspec.Struct, frozen=True, gc=False):
    """A module of the repository."""

    target: Target


class Class(msgspec.Struct, frozen=True, gc=False):
    """A class, interface or trait of the repository, with its type arguments."""

    path: str
    scope: int
    args: tuple[Some, ...] = ()


class Func(msgspec.Struct, frozen=True, gc=False):
    """A function or method of the repository, or a lambda."""

    path: str
    scope: int


class Bound(msgspec.Struct, frozen=True, gc=False):
    """A method with the object or class that it was accessed through."""

    func: Func
    receiver: Value


class Instance(msgspec.Struct, frozen=True, gc=False):
    """An object of a class of the repository. ``own`` marks the receiver: ``self``."""

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
    """A literal sequence, with the possible values at each position."""

    kind: str
    items: tuple[Some, ...]


class Record(msgspec.Struct, frozen=True, gc=False):
    """A literal mapping, with the possible values at each key; None is any key."""

    items: tuple[tuple[str | None, Some], ...]


class Method(msgspec.Struct, frozen=True, gc=False):
    """A known method of an external type; ``word`` names its effect (``languages/effects.py``)."""

    word: str
    receiver: Value


class Returns(msgspec.Struct, frozen=True, gc=False):
    """A function known only by its type: its result, and its parameters."""

    values: Some
    params: tuple[Some, ...] = ()


class Var(msgspec.Struct, frozen=True, gc=False):
    """A type parameter, with its bound."""

    name: str
    bound: Some = ()


class Given(msgspec.Struct, frozen=True, gc=False):
    """A parameter that a function returns unchanged; replaced by the argument at each call."""

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
"""The possible values of an expression, with the rank of each. Empty if they are unknown."""

NOTHING: Values = {}
"""Shared; must not be mutated."""


def add(into: Values, values: Values, rank: Rank = 0) -> None:
    """Merge ``values`` into ``into``, none more certain than ``rank``; of duplicates the more
    certain counts."""
    for value, own in values.items():
        at_least = own if own > rank else rank
        old = into.get(value)
        if old is None or at_least < old:
            into[value] = at_least


def ranked(values: Values, rank: Rank) -> Values:
    """The values, none more certain than ``rank``."""
    return {value: own if own > rank else rank for value, own in values.items()}


def capped(values: Values) -> Values:
    """The values, or none if there are more than ``MAX_VALUES``."""
    return values if len(values) <= MAX_VALUES else NOTHING


def depth_of(value: Value) -> int:
    """How deeply values are nested in this one; 0 for one that contains none."""
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
    """Values as stored within another one; empty if there are too many, without those too deep."""
    if not values or len(values) > MAX_VALUES:
        return ()
    return tuple(value for value in values if depth_of(value) < MAX_DEPTH)


def outside(values: Some, rank: Rank) -> Values:
    """Values taken out of another one of rank ``rank``."""
    return dict.fromkeys(values, rank)
