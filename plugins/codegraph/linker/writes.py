"""What a program writes to members of objects, in languages that let it do so anywhere."""

from __future__ import annotations

from plugins.codegraph.facts import Attr, Bind, Name
from plugins.codegraph.linker import names
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex, Put
from plugins.codegraph.linker.values import Class, Record, Value, Values, add, capped

MAX_WRITES = 24
"""A member that a file writes more often is looked up in the variable itself alone."""


def written(
    engine: Engine, index: FileIndex, number: int, of: Name, member: Attr, *, kept: bool
) -> Values:
    """What the file writes to a member of what a variable may hold.

    Args:
        engine: the engine of the repository.
        index: the file.
        number: the scope in which the member is read.
        of: the variable.
        member: the member of it.
        kept: whether it is read once, to be kept in another variable, as ``const old = d.x`` does.
    """
    line = member.line if kept or _is_own(index, number, of.id) else 0
    key = ("w", index.path, number, of.id, member.name, line)
    found: Values = engine.solve(key, _written, engine, index, number, of.id, member.name, line)
    return found


def _is_own(index: FileIndex, number: int, name: str) -> bool:
    """Whether a variable is made anew each time that this body runs."""
    if name not in index.names[number]:
        return False
    return not number or f"local:{name}" in index.scopes[number].modifiers


def _written(
    engine: Engine, index: FileIndex, number: int, of: str, name: str, line: int
) -> Values:
    """As :func:`written`, without what the same body writes after this line, unless that is 0."""
    puts, own = index.puts[name], _binder(index, number, of)
    if line and f"repeated:{name}" not in index.scopes[number].modifiers:
        puts = [each for each in puts if not _is_later(each, number, line)]
    shared: set[Value] = set()
    if len(puts) <= MAX_WRITES:
        held = names.lookup(engine, index, number, of)
        shared = {each for each in held if _has_identity(each)}
    is_foreign = not own and _is_foreign(index, of)
    found: Values = {}
    for each in puts:
        where = each.origin.scope
        same = each.of == of and _binder(index, where, of) == own
        if same and is_foreign and not _is_around(index, where, number):
            continue
        if same or (shared and not shared.isdisjoint(names.lookup(engine, index, where, each.of))):
            add(found, names.of_origin(engine, index, each.origin))
    return capped(found)


def _is_foreign(index: FileIndex, name: str) -> bool:
    """Whether an object is made elsewhere: a global or imported one, which functions that replace a
    member of it, such as tests, restore before they end."""
    return all(each.how == "import" for each in index.names[0].get(name, ()))


def _is_around(index: FileIndex, outer: int, inner: int) -> bool:
    """Whether a scope is another one, or encloses it."""
    while inner > outer:
        inner = index.scopes[inner].parent
    return inner == outer


def _is_later(put: Put, number: int, line: int) -> bool:
    """Whether a value is written in this body, after this line."""
    bind = put.origin.of
    return put.origin.scope == number and isinstance(bind, Bind) and bind.line > line


def _has_identity(value: Value) -> bool:
    """Whether two variables that hold this value are taken to hold the same object."""
    return bool(value.items) if isinstance(value, Record) else isinstance(value, Class)


def _binder(index: FileIndex, number: int, name: str) -> int:
    return number if name in index.names[number] else index.binder(number, name)
