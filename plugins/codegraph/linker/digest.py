"""A digest of what other files can depend on; while it is unchanged, they need no relinking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from plugins.codegraph.facts import Attr, Call, FileFacts, Inner, Name, Scope, last_name
from plugins.codegraph.walk import calls_in

_encoder = msgspec.msgpack.Encoder()
_PLAIN = frozenset({str, int, bool, type(None)})
_FIELDS: dict[type, Callable[[Any], tuple[Any, ...]]] = {}
"""By struct, what gives the values of its fields but the line: looked up a million times."""


def interface_digest(facts: FileFacts) -> bytes:
    """A 16-byte digest of everything in a file that linking another file may depend on.

    It covers the identity of every definition, and what the values of each scope come from: names,
    parameters, types, bases, imports, what it binds, returns and yields, and the calls that pass
    arguments to a function of the same file or put something into a container. Lines,
    documentation and all other calls are left out.

    Args:
        facts: the facts of the file.
    """
    seen: list[Any] = [facts.language, facts.package]
    for each in facts.definitions:
        seen += (each.kind, each.qualified, each.signature, each.exported)
    names = {each.name for each in facts.scopes if each.name}
    for scope in facts.scopes:
        flatten(visible(scope), seen)
        for call in calls_in(scope):
            if call.args and _matters(call, names):
                flatten(call, seen)
    return hashlib.blake2b(_encoder.encode(seen), digest_size=16).digest()


def _matters(call: Call, names: set[str]) -> bool:
    """Whether a call's arguments may reach a parameter or a container of the same file."""
    if last_name(call.of) in names:
        return True
    if type(call.of) is not Attr:
        return False
    of = call.of.of
    return type(of) is Name or (type(of) is Attr and type(of.of) is Name)


def visible(scope: Scope) -> tuple[Any, ...]:
    """What of a scope the values come from that others may see."""
    return (
        scope.kind,
        scope.definition,
        scope.parent,
        scope.name,
        scope.params,
        scope.returns,
        scope.receiver,
        scope.bases,
        scope.implements,
        scope.decorators,
        scope.modifiers,
        scope.imports,
        scope.binds,
        scope.results,
        scope.yields,
    )


def flatten(value: Any, into: list[Any], inner: Callable[[int], Any] | None = None) -> None:
    """Append a struct's fields, flattened, without line numbers.

    Args:
        value: the struct, or a tuple of some.
        into: what they are appended to.
        inner: what stands for the number of an inline scope; the number itself where None.
    """
    todo = [value]
    while todo:
        each = todo.pop()
        kind = type(each)
        if kind is tuple:
            into.append(len(each))
            todo += each
        elif kind in _PLAIN:
            into.append(each)
        elif kind is Inner and inner is not None:
            into += ("Inner", inner(each.scope))
        elif (fields := _FIELDS.get(kind) or _fields(kind)) is not None:
            into.append(kind.__name__)
            todo += fields(each)
        else:
            into.append(each)


def _fields(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """What gives the values of a struct's fields; None for what is no struct."""
    if not issubclass(kind, msgspec.Struct):
        return None
    names = [name for name in kind.__struct_fields__ if name != "line"]
    get = attrgetter(*names) if names else _none
    _FIELDS[kind] = get if len(names) != 1 else lambda value: (get(value),)
    return _FIELDS[kind]


def _none(_: object) -> tuple[Any, ...]:
    return ()
