"""Calls of well-known functions, arguments that reach parameters, and type parameters filled in."""

from __future__ import annotations

from collections.abc import Callable

from plugins.codegraph.facts import Call, Element, Expr
from plugins.codegraph.linking import (
    evaluate,
    known,
    results,
    types,
)
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.sheet import Sheet
from plugins.codegraph.linking.values import (
    INFERRED,
    NOTHING,
    Class,
    External,
    Instance,
    Method,
    Record,
    Thing,
    Tuple,
    Values,
    add,
    inside,
)


def outer(
    engine: Engine, sheet: Sheet, number: int, value: External | Method, call: Call
) -> Values:
    """What calling something outside of the repository gives."""
    if isinstance(value, Method):
        return method(engine, sheet, number, value, call)
    return external(engine, sheet, number, value, call)


def external(engine: Engine, sheet: Sheet, number: int, value: External, call: Call) -> Values:
    """What calling something external gives."""
    method_name = sheet.rules.runs.get(value.name)
    if method_name is not None and call.args:
        made = _run(engine, sheet, number, call, method_name)
        if made:
            return made
    word = sheet.rules.functions.get(value.name)
    last = value.name.rpartition(".")[2]
    if word is None:
        holds = last in sheet.rules.containers or last in sheet.rules.unwraps
        return {Thing(last, value.args if holds else ()): INFERRED}
    if word == known.UNKNOWN:
        return NOTHING
    if word == known.DECORATOR:
        return {Method(known.DECORATOR, value): INFERRED}
    work = _ARGUMENTS.get(word)
    if work is not None:
        return work(engine, sheet, number, word, call)
    args = [arg for arg in call.args if not arg.name]
    if not args:
        return {Thing(last): INFERRED}
    return worded(engine, sheet, word, evaluate.evaluate(engine, sheet, number, args[0].value))


def _tabled(engine: Engine, sheet: Sheet, number: int, word: str, call: Call) -> Values:
    named = [
        (arg.name, inside(evaluate.evaluate(engine, sheet, number, arg.value)))
        for arg in call.args
        if arg.name and not arg.spread
    ]
    if named:
        return {Record(tuple(named)): INFERRED}
    if not call.args:
        return {Thing("dict"): INFERRED}
    return evaluate.evaluate(engine, sheet, number, call.args[0].value)


def _with_first(engine: Engine, sheet: Sheet, number: int, word: str, call: Call) -> Values:
    args = [arg.value for arg in call.args if not arg.name] + [None, None]
    return _with_function(engine, sheet, number, word, args[0], args[1])


def _zipped(engine: Engine, sheet: Sheet, number: int, word: str, call: Call) -> Values:
    parts = tuple(
        inside(_elements(engine, sheet, number, arg.value)) for arg in call.args if not arg.name
    )
    return {Thing("list", ((Tuple("t", parts),),)): INFERRED}


def _together(engine: Engine, sheet: Sheet, number: int, word: str, call: Call) -> Values:
    args = [arg for arg in call.args if not arg.name]
    found: Values = {}
    for arg in args if word == known.GATHERED else args[:2]:
        expr = Element(arg.value) if arg.spread else arg.value
        add(found, evaluate.evaluate(engine, sheet, number, expr))
    return _listed(found) if word == known.GATHERED else found


def _of_type(engine: Engine, sheet: Sheet, number: int, word: str, call: Call) -> Values:
    return types.stated(engine, sheet, number, call.args[0].value) if call.args else NOTHING


_ARGUMENTS: dict[str, Callable[[Engine, Sheet, int, str, Call], Values]] = {
    known.TABLE: _tabled,
    known.ZIPPED: _zipped,
    known.WRAPPED: _together,
    known.GATHERED: _together,
    known.TYPE: _of_type,
    known.INJECTED: _with_first,
    known.RESULT: _with_first,
    known.RESULTS: _with_first,
    known.EACH: _with_first,
    known.FIRST: _with_first,
    known.CALLED: _with_first,
}
"""What words about several arguments do."""


def _run(engine: Engine, sheet: Sheet, number: int, call: Call, name: str) -> Values:
    """What a method of the first argument gives, which a function calls."""
    found: Values = {}
    for value, rank in evaluate.evaluate(engine, sheet, number, call.args[0].value).items():
        if isinstance(value, Instance):
            add(found, results.of_method(engine, sheet, value, rank, name))
    return found


_FUNCTION_FIRST = {
    known.INJECTED,
    known.RESULT,
    known.RESULTS,
    known.EACH,
    known.FIRST,
    known.CALLED,
}


def _elements(engine: Engine, sheet: Sheet, number: int, expr: Expr | None) -> Values:
    return evaluate.elements(engine, sheet, evaluate.evaluate(engine, sheet, number, expr), -1)


def _with_function(
    engine: Engine, sheet: Sheet, number: int, word: str, func: Expr | None, over: Expr | None
) -> Values:
    """The first argument is a function, the second what it is called with."""
    if word in (known.EACH, known.FIRST):
        found = _elements(engine, sheet, number, over)
    else:
        found = _given_back(engine, sheet, number, func)
    if word in (known.RESULT, known.FIRST):
        return found
    if word == known.INJECTED:
        return _made(engine, sheet, found)
    if word == known.CALLED:
        return {Thing(""): INFERRED}
    return {Thing("list", (inside(found),)): INFERRED}


def _made(engine: Engine, sheet: Sheet, values: Values) -> Values:
    """What is injected: of a generator, what it yields."""
    found: Values = {}
    for value, rank in values.items():
        if isinstance(value, Thing) and value.name in sheet.rules.containers:
            add(found, evaluate.elements(engine, sheet, {value: rank}, -1))
        else:
            found[value] = rank
    return found


def _given_back(engine: Engine, sheet: Sheet, number: int, func: Expr | None) -> Values:
    found: Values = {}
    for value, rank in evaluate.evaluate(engine, sheet, number, func).items():
        add(found, results.called(engine, sheet, number, value, rank, Call(func, (), 0)))
    return found


def method(engine: Engine, sheet: Sheet, number: int, value: Method, call: Call) -> Values:
    """What calling a known method of an external object gives."""
    receiver = {value.receiver: INFERRED}
    first = call.args[0].value if call.args else None
    if value.word == known.DECORATOR:
        return evaluate.evaluate(engine, sheet, number, first)
    if value.word in (known.EACH, known.FIRST):
        found = evaluate.elements(engine, sheet, receiver, -1)
        return found if value.word == known.FIRST else _listed(found)
    if value.word == known.RESULTS:
        return _listed(_given_back(engine, sheet, number, first))
    if value.word == known.RESULT:
        return _given_back(engine, sheet, number, first)
    if value.word == known.ITEM:
        key = None
        found = evaluate.subscript(engine, sheet, receiver, key)
        if len(call.args) > 1:
            found = dict(found)
            add(found, evaluate.evaluate(engine, sheet, number, call.args[1].value))
        return found
    if value.word in (known.PUSH, known.CALLED):
        return {Thing(""): INFERRED}
    return worded(engine, sheet, value.word, receiver)


def _listed(values: Values) -> Values:
    return {Thing("list", (inside(values),)): INFERRED}


def worded(engine: Engine, sheet: Sheet, word: str, of: Values) -> Values:
    """What a word says about values."""
    work = _WORDS.get(word)
    return {Thing(""): INFERRED} if work is None else work(engine, sheet, of)


def _items(engine: Engine, sheet: Sheet, of: Values) -> Values:
    return _listed(evaluate.subscript(engine, sheet, of, None))


def _pairs(engine: Engine, sheet: Sheet, of: Values) -> Values:
    keys = inside(evaluate.elements(engine, sheet, of, 0))
    items = inside(evaluate.elements(engine, sheet, of, 1))
    return {Thing("list", ((Tuple("t", (keys, items)),),)): INFERRED}


def _counted(engine: Engine, sheet: Sheet, of: Values) -> Values:
    held = inside(evaluate.elements(engine, sheet, of, -1))
    return {Thing("list", ((Tuple("t", ((), held)),),)): INFERRED}


def _classes(engine: Engine, sheet: Sheet, of: Values) -> Values:
    return {
        Class(value.path, value.scope, value.args): rank
        for value, rank in of.items()
        if isinstance(value, Instance)
    }


_WORDS: dict[str, Callable[[Engine, Sheet, Values], Values]] = {
    known.ITEM: lambda engine, sheet, of: evaluate.subscript(engine, sheet, of, None),
    known.ELEMENT: lambda engine, sheet, of: evaluate.elements(engine, sheet, of, -1),
    known.ELEMENTS: lambda engine, sheet, of: _listed(evaluate.elements(engine, sheet, of, -1)),
    known.SORTED: lambda engine, sheet, of: _listed(evaluate.elements(engine, sheet, of, -1)),
    known.ITEMS: _items,
    known.PAIRS: _pairs,
    known.COUNTED: _counted,
    known.SAME: lambda engine, sheet, of: of,
    known.PARTIAL: lambda engine, sheet, of: of,
    known.CLASS: _classes,
}
