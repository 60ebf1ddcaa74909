"""Calls of well-known functions, arguments that reach parameters, and type parameters filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plugins.codegraph.facts import Call, Element, Expr, Group, Scope
from plugins.codegraph.linking import classes, contextual, evaluate, known, overloads, results, types
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.sheet import Sheet, last_name
from plugins.codegraph.linking.values import (
    INFERRED,
    NOTHING,
    Bound,
    Class,
    External,
    Func,
    Instance,
    Method,
    Record,
    Returns,
    Some,
    Thing,
    Tuple,
    Value,
    Values,
    Var,
    add,
    inside,
    outside,
    ranked,
)


def external(engine: Engine, sheet: Sheet, number: int, value: External, call: Call) -> Values:
    """What calling something external gives."""
    name = value.name
    word = sheet.rules.functions.get(name)
    method_name = sheet.rules.runs.get(name)
    if method_name is not None and call.args:
        made = _run(engine, sheet, number, call, method_name)
        if made:
            return made
    if word is None:
        last = name.rpartition(".")[2]
        if last in sheet.rules.containers and value.args:
            return {Thing(last, value.args): INFERRED}
        return {Thing(last): INFERRED}
    args = [arg for arg in call.args if not arg.name]
    first = args[0].value if args else None
    if word == known.TABLE:
        named = [
            (arg.name, inside(evaluate.evaluate(engine, sheet, number, arg.value)))
            for arg in call.args
            if arg.name and not arg.spread
        ]
        if named:
            return {Record(tuple(named)): INFERRED}
        word = known.SAME
    if word in _FUNCTION_FIRST:
        rest = args[1].value if len(args) > 1 else None
        return _with_function(engine, sheet, number, word, first, rest)
    if word == known.ZIPPED:
        parts = tuple(inside(_elements(engine, sheet, number, arg.value)) for arg in args)
        return {Thing("list", ((Tuple("t", parts),),)): INFERRED}
    if word == known.UNKNOWN:
        return NOTHING
    if word in (known.WRAPPED, known.GATHERED):
        found: Values = {}
        for arg in args if word == known.GATHERED else args[:2]:
            expr = Element(arg.value) if arg.spread else arg.value
            add(found, evaluate.evaluate(engine, sheet, number, expr))
        return _listed(found) if word == known.GATHERED else found
    if word == known.TYPE:
        return types.stated(engine, sheet, number, first)
    if word == known.DECORATOR:
        return {Method(known.DECORATOR, value): INFERRED}
    if first is None:
        return {Thing(name.rpartition(".")[2]): INFERRED}
    return worded(engine, sheet, word, evaluate.evaluate(engine, sheet, number, first))


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


def bindings(
    engine: Engine, sheet: Sheet, number: int, func: Func, bound: bool, call: Call
) -> dict[str, Some]:
    """What a call gives for the type parameters of a function."""
    home = engine.there(func.path)
    params = home.scopes[func.scope].params
    found: dict[str, Some] = {}
    for place, each in enumerate(params):
        if each.type is None:
            continue
        arg = results.argument(params, place, call, results.shift(engine, func, bound))
        if arg is None:
            continue
        wanted = types.stated(engine, home, func.scope, each.type)
        if wanted:
            values = evaluate.evaluate(engine, sheet, number, arg.value)
            for value in wanted:
                _match(engine, sheet, value, values, found)
    return found


def _match(
    engine: Engine, sheet: Sheet, wanted: Value, values: Values, found: dict[str, Some]
) -> None:
    if isinstance(wanted, Var):
        found[wanted.name] = tuple(dict.fromkeys((*found.get(wanted.name, ()), *inside(values))))
    elif isinstance(wanted, Class):
        return
    elif isinstance(wanted, Thing) and wanted.args:
        _match_args(engine, sheet, wanted, values, found)
    elif isinstance(wanted, Returns):
        made: Values = {}
        for value, rank in values.items():
            add(made, results.called(engine, sheet, 0, value, rank, Call(None, (), 0)))
        for each in wanted.values:
            _match(engine, sheet, each, made, found)


def _match_args(
    engine: Engine, sheet: Sheet, wanted: Thing, values: Values, found: dict[str, Some]
) -> None:
    container = sheet.rules.containers.get(wanted.name)
    for place, part in enumerate(wanted.args):
        if not any(isinstance(each, Var) for each in part):
            continue
        if container is not None and place == container.element:
            taken = evaluate.elements(engine, sheet, values, -1)
        elif container is not None and place == container.item:
            taken = evaluate.subscript(engine, sheet, values, None)
        else:
            taken = {
                each: INFERRED
                for value in values
                if isinstance(value, Thing) and place < len(value.args)
                for each in value.args[place]
            }
        for each in part:
            _match(engine, sheet, each, taken, found)


def injected(engine: Engine, sheet: Sheet, func: Func, place: int) -> Values:
    """What a framework passes for a parameter, as the language's rules know it."""
    found: Values = {}
    for path, number in sheet.rules.injected(sheet.path, sheet.facts, func.scope, place):
        home = engine.sheet(path)
        if home is not None:
            made = results.result(engine, Func(path, number))
            if home.scopes[number].yields:
                made = evaluate.elements(engine, home, made, -1)
            add(found, made)
    return found


def from_calls(engine: Engine, sheet: Sheet, func: Func, place: int) -> Values:
    """What the calls in the same file pass for a parameter."""
    scope = sheet.scopes[func.scope]
    if not scope.name:
        return _from_use(engine, sheet, func, place)
    found: Values = {}
    for where, call, shift in _callers(engine, sheet, func, scope):
        arg = results.argument(scope.params, place, call, shift)
        if arg is not None:
            add(found, evaluate.evaluate(engine, sheet, where, arg.value))
    return found


def _callers(
    engine: Engine, sheet: Sheet, func: Func, scope: Scope
) -> Iterator[tuple[int, Call, int]]:
    """The calls in its own file that run a function: the scope, the call, and how many
    parameters are filled already."""
    names = [scope.name]
    parent = sheet.scopes[scope.parent]
    if parent.kind == "class" and scope.name in sheet.rules.constructors:
        names.append(parent.name)
    elif parent.kind == "function":
        names.append("()")
    for name in names:
        for where, call in sheet.calls_of(name):
            if call.args:
                for value in evaluate.evaluate(engine, sheet, where, call.of):
                    shift = _runs(engine, value, func)
                    if shift >= 0:
                        yield where, call, shift


def rest_from_calls(engine: Engine, sheet: Sheet, func: Func, place: int) -> Values:
    """What the calls in the same file pass for ``*args`` or ``**options``."""
    scope = sheet.scopes[func.scope]
    if not scope.name:
        return NOTHING
    found: Values = {}
    items: dict[str | None, Values] = {}
    named = {each.name for each in scope.params}
    double = scope.params[place].kind == "**"
    for where, call, shift in _callers(engine, sheet, func, scope):
        positional = shift
        for arg in call.args:
            if arg.name:
                if double and arg.name not in named and not arg.spread:
                    values = evaluate.evaluate(engine, sheet, where, arg.value)
                    add(items.setdefault(arg.name, {}), values)
                continue
            if positional >= place or arg.spread:
                expr = Element(arg.value) if arg.spread else arg.value
                add(found, evaluate.evaluate(engine, sheet, where, expr))
            positional += 1
    if double:
        pairs = tuple((name, inside(values)) for name, values in items.items())
        return {Record(pairs): INFERRED} if pairs else {Thing("dict"): INFERRED}
    return {Thing("list", (inside(found),)): INFERRED}


def _runs(engine: Engine, value: Value, func: Func) -> int:
    """Whether calling a value runs a function: how many parameters are filled already, or -1."""
    if value == func:
        return 0
    if isinstance(value, Bound):
        return results.shift(engine, func, True) if value.func == func else -1
    if isinstance(value, Class):
        rules = engine.there(value.path).rules
        for name in rules.constructors:
            defined, _, _ = classes.find(engine, value.path, value.scope, name)
            if (func.path, func.scope) in defined:
                return 1 if rules.first_parameter else 0
    return -1


def _from_use(engine: Engine, sheet: Sheet, func: Func, place: int) -> Values:
    """What a function that is written in place is called with by what it is passed to."""
    used = sheet.passed(func.scope)
    if used is None:
        return NOTHING
    where, call, at = used
    found: Values = {}
    if at < 0:
        arg = results.argument(sheet.scopes[func.scope].params, place, call, 0)
        return NOTHING if arg is None else evaluate.evaluate(engine, sheet, where, arg.value)
    for value in evaluate.evaluate(engine, sheet, where, call.of):
        if isinstance(value, External):
            word = sheet.rules.functions.get(value.name, "")
            if word in (known.RESULTS, known.EACH, known.FIRST, known.SORTED):
                index = place + 1 if word != known.SORTED else 0
                if index < len(call.args):
                    over = call.args[index].value
                    add(found, _elements(engine, sheet, where, over))
        elif isinstance(value, Method):
            if value.word in (known.RESULTS, known.EACH, known.FIRST, known.SORTED):
                add(found, _iterated(engine, sheet, value, func, place))
        elif isinstance(value, Func | Bound):
            add(found, _by_type(engine, value, at, place))
    return ranked(found, INFERRED)


def _iterated(engine: Engine, sheet: Sheet, value: Method, func: Func, place: int) -> Values:
    """What a method of a container calls a function with: elements, or keys and values."""
    receiver: Values = {value.receiver: INFERRED}
    if _gives_pairs(sheet, value.receiver):
        return evaluate.elements(engine, sheet, receiver, 1 - place)
    pairs = isinstance(value.receiver, Thing) and len(sheet.scopes[func.scope].params) == 2
    if pairs and isinstance(value.receiver, Thing):
        container = sheet.rules.containers.get(value.receiver.name)
        if container is not None and container.key >= 0:
            return evaluate.elements(engine, sheet, receiver, place)
    return NOTHING if place else evaluate.elements(engine, sheet, receiver, -1)


def _gives_pairs(sheet: Sheet, value: Value) -> bool:
    """Whether iterating gives pairs, while a visitor gets the item first, then its key."""
    container = sheet.rules.containers.get(value.name) if isinstance(value, Thing) else None
    return container is not None and container.pairs


def _by_type(engine: Engine, value: Func | Bound, at: int, place: int) -> Values:
    """What a parameter's type says that a function passed for it is called with."""
    func = value.func if isinstance(value, Bound) else value
    home = engine.there(func.path)
    scope = home.scopes[func.scope]
    explicit = bool(scope.params) and scope.params[0].name in home.rules.receivers
    shifted = isinstance(value, Bound) and (home.rules.first_parameter or explicit)
    index = at + 1 if shifted else at
    if index >= len(scope.params):
        return NOTHING
    expr = scope.params[index].type
    args = getattr(expr, "args", ())
    given: dict[str, Some] = {}
    if isinstance(value, Bound) and isinstance(value.receiver, Instance):
        given = classes.type_arguments(engine, value.receiver)
    if home.rules.functional:
        found = _by_interface(engine, home, func, expr, place)
        if not found and args and last_name(expr) in home.rules.functional:
            at = min(place, len(args) - 1)
            found = outside(types.argument(engine, home, func.scope, args[at]), INFERRED)
        return classes.filled(found, given)
    if not args or not isinstance(args[0], Group):
        wanted = contextual.parameter(engine, home, types.stated(engine, home, func.scope, expr), place)
        return classes.filled(wanted, given)
    stated = classes.filled_some(types.argument(engine, home, func.scope, args[0]), given)
    for each in stated:
        if isinstance(each, Tuple) and place < len(each.items):
            return outside(each.items[place], INFERRED)
    return NOTHING


def _by_interface(engine: Engine, home: Sheet, func: Func, of: Expr | None, place: int) -> Values:
    """What the one method of an interface says that a function passed for it is called with."""
    found: Values = {}
    for each in types.stated(engine, home, func.scope, of):
        if not isinstance(each, Instance):
            continue
        sheet = engine.there(each.path)
        origins = [o for many in sheet.names[each.scope].values() for o in many]
        methods = [o.number for o in origins if o.how == "scope"]
        open_ones = [m for m in methods if "abstract" in sheet.scopes[m].modifiers]
        if len(open_ones) == 1:
            params = overloads.parameters(sheet, open_ones[0])
            if place < len(params):
                wanted = types.stated(engine, sheet, open_ones[0], params[place].type)
                add(found, classes.filled(wanted, classes.type_arguments(engine, each)))
    return found
