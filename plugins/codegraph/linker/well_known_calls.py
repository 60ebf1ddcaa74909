"""The results of calls to external functions with known effects (``languages/effects.py``)."""

from __future__ import annotations

from collections.abc import Callable

from plugins.codegraph.facts import Call, Element, Expr, Table
from plugins.codegraph.languages import effects
from plugins.codegraph.linker import evaluate, results, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    INFERRED,
    NOTHING,
    Class,
    External,
    Instance,
    Method,
    Record,
    Some,
    Thing,
    Tuple,
    Values,
    add,
    inside,
)


def outer(
    engine: Engine, index: FileIndex, number: int, value: External | Method, call: Call
) -> Values:
    """The result of calling an external function or a known method."""
    if isinstance(value, Method):
        return method(engine, index, number, value, call)
    return external(engine, index, number, value, call)


def external(engine: Engine, index: FileIndex, number: int, value: External, call: Call) -> Values:
    """The result of calling an external function or class."""
    method_name = index.rules.runs.get(value.name)
    if method_name is not None and call.args:
        made = _run(engine, index, number, call, method_name)
        if made:
            return made
    word = index.rules.functions.get(value.name)
    last = value.name.rpartition(".")[2]
    if word is None:
        holds = last in index.rules.containers or last in index.rules.unwraps
        return {Thing(last, value.args if holds else ()): INFERRED}
    if word == effects.UNKNOWN:
        return NOTHING
    if word == effects.DECORATOR:
        return {Method(effects.DECORATOR, value): INFERRED}
    work = _ARGUMENTS.get(word)
    if work is not None:
        return work(engine, index, number, word, call)
    args = [arg for arg in call.args if not arg.name]
    if not args:
        return {Thing(last): INFERRED}
    return worded(engine, index, word, evaluate.evaluate(engine, index, number, args[0].value))


def _tabled(engine: Engine, index: FileIndex, number: int, word: str, call: Call) -> Values:
    named = [
        (arg.name, inside(evaluate.evaluate(engine, index, number, arg.value)))
        for arg in call.args
        if arg.name and not arg.spread
    ]
    if named:
        return {Record(tuple(named)): INFERRED}
    if not call.args:
        return {Thing("dict"): INFERRED}
    return evaluate.evaluate(engine, index, number, call.args[0].value)


def _with_first(engine: Engine, index: FileIndex, number: int, word: str, call: Call) -> Values:
    args = [arg.value for arg in call.args if not arg.name] + [None, None]
    return _with_function(engine, index, number, word, args[0], args[1])


def _zipped(engine: Engine, index: FileIndex, number: int, word: str, call: Call) -> Values:
    parts = tuple(
        inside(_elements(engine, index, number, arg.value)) for arg in call.args if not arg.name
    )
    return {Thing("list", ((Tuple("t", parts),),)): INFERRED}


def _together(engine: Engine, index: FileIndex, number: int, word: str, call: Call) -> Values:
    args = [arg for arg in call.args if not arg.name]
    found: Values = {}
    for arg in args if word == effects.GATHERED else args[:2]:
        expr = Element(arg.value) if arg.spread else arg.value
        add(found, evaluate.evaluate(engine, index, number, expr))
    return _listed(found) if word == effects.GATHERED else found


def _merged(engine: Engine, index: FileIndex, number: int, word: str, call: Call) -> Values:
    """The members of the last literal that has them, where all are literals; else of any."""
    found: Values = {}
    items: dict[str | None, Some] | None = {}
    for arg in call.args:
        expr = Element(arg.value) if arg.spread else arg.value
        made = evaluate.evaluate(engine, index, number, expr)
        add(found, made)
        (only,) = made if len(made) == 1 else (None,)
        if items is None or type(arg.value) is not Table or not isinstance(only, Record):
            items = None
        else:
            items.update(only.items)
    return found if items is None else {Record(tuple(items.items())): INFERRED}


def _of_type(engine: Engine, index: FileIndex, number: int, word: str, call: Call) -> Values:
    return types.stated(engine, index, number, call.args[0].value) if call.args else NOTHING


_ARGUMENTS: dict[str, Callable[[Engine, FileIndex, int, str, Call], Values]] = {
    effects.MERGED: _merged,
    effects.TABLE: _tabled,
    effects.ZIPPED: _zipped,
    effects.WRAPPED: _together,
    effects.GATHERED: _together,
    effects.TYPE: _of_type,
    effects.INJECTED: _with_first,
    effects.RESULT: _with_first,
    effects.RESULTS: _with_first,
    effects.EACH: _with_first,
    effects.FIRST: _with_first,
    effects.CALLED: _with_first,
}
"""By effect, how the result follows from several arguments."""


def _run(engine: Engine, index: FileIndex, number: int, call: Call, name: str) -> Values:
    """The result of a method of the first argument that a function calls (``next(x)``)."""
    found: Values = {}
    for value, rank in evaluate.evaluate(engine, index, number, call.args[0].value).items():
        if isinstance(value, Instance):
            add(found, results.of_method(engine, index, value, rank, name))
    return found


def _elements(engine: Engine, index: FileIndex, number: int, expr: Expr | None) -> Values:
    return evaluate.elements(engine, index, evaluate.evaluate(engine, index, number, expr), -1)


def _with_function(
    engine: Engine, index: FileIndex, number: int, word: str, func: Expr | None, over: Expr | None
) -> Values:
    """The result of a function that calls its first argument with the second, or with its
    elements."""
    if word in (effects.EACH, effects.FIRST):
        found = _elements(engine, index, number, over)
    else:
        found = _given_back(engine, index, number, func)
    if word in (effects.RESULT, effects.FIRST):
        return found
    if word == effects.INJECTED:
        return _made(engine, index, found)
    if word == effects.CALLED:
        return {Thing(""): INFERRED}
    return {Thing("list", (inside(found),)): INFERRED}


def _made(engine: Engine, index: FileIndex, values: Values) -> Values:
    """Injected values: what a generator yields, other values as they are."""
    found: Values = {}
    for value, rank in values.items():
        if isinstance(value, Thing) and value.name in index.rules.containers:
            add(found, evaluate.elements(engine, index, {value: rank}, -1))
        else:
            found[value] = rank
    return found


def _given_back(engine: Engine, index: FileIndex, number: int, func: Expr | None) -> Values:
    found: Values = {}
    for value, rank in evaluate.evaluate(engine, index, number, func).items():
        add(found, results.called(engine, index, number, value, rank, Call(func, (), 0)))
    return found


def method(engine: Engine, index: FileIndex, number: int, value: Method, call: Call) -> Values:
    """The result of calling a known method of an external object."""
    receiver = {value.receiver: INFERRED}
    first = call.args[0].value if call.args else None
    if value.word == effects.DECORATOR:
        return evaluate.evaluate(engine, index, number, first)
    if value.word in (effects.EACH, effects.FIRST):
        found = evaluate.elements(engine, index, receiver, -1)
        return found if value.word == effects.FIRST else _listed(found)
    if value.word == effects.RESULTS:
        return _listed(_given_back(engine, index, number, first))
    if value.word == effects.RESULT:
        return _given_back(engine, index, number, first)
    if value.word == effects.ITEM:
        key = None
        found = evaluate.subscript(engine, index, receiver, key)
        if len(call.args) > 1:
            found = dict(found)
            add(found, evaluate.evaluate(engine, index, number, call.args[1].value))
        return found
    if value.word in (effects.PUSH, effects.CALLED):
        return {Thing(""): INFERRED}
    return worded(engine, index, value.word, receiver)


def _listed(values: Values) -> Values:
    return {Thing("list", (inside(values),)): INFERRED}


def worded(engine: Engine, index: FileIndex, word: str, of: Values) -> Values:
    """The result of an effect that depends on one argument alone."""
    work = _WORDS.get(word)
    return {Thing(""): INFERRED} if work is None else work(engine, index, of)


def _items(engine: Engine, index: FileIndex, of: Values) -> Values:
    return _listed(evaluate.subscript(engine, index, of, None))


def _pairs(engine: Engine, index: FileIndex, of: Values) -> Values:
    keys = inside(evaluate.elements(engine, index, of, 0))
    items = inside(evaluate.elements(engine, index, of, 1))
    return {Thing("list", ((Tuple("t", (keys, items)),),)): INFERRED}


def _counted(engine: Engine, index: FileIndex, of: Values) -> Values:
    held = inside(evaluate.elements(engine, index, of, -1))
    return {Thing("list", ((Tuple("t", ((), held)),),)): INFERRED}


def _classes(engine: Engine, index: FileIndex, of: Values) -> Values:
    return {
        Class(value.path, value.scope, value.args): rank
        for value, rank in of.items()
        if isinstance(value, Instance)
    }


_WORDS: dict[str, Callable[[Engine, FileIndex, Values], Values]] = {
    effects.ITEM: lambda engine, index, of: evaluate.subscript(engine, index, of, None),
    effects.ELEMENT: lambda engine, index, of: evaluate.elements(engine, index, of, -1),
    effects.ELEMENTS: lambda engine, index, of: _listed(evaluate.elements(engine, index, of, -1)),
    effects.SORTED: lambda engine, index, of: _listed(evaluate.elements(engine, index, of, -1)),
    effects.ITEMS: _items,
    effects.PAIRS: _pairs,
    effects.COUNTED: _counted,
    effects.SAME: lambda engine, index, of: of,
    effects.PARTIAL: lambda engine, index, of: of,
    effects.CLASS: _classes,
}
