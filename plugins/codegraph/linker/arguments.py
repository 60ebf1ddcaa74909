"""Values that reach a parameter: from calls in the same file, and from where a function is
passed."""

from __future__ import annotations

from collections.abc import Iterator

from plugins.codegraph.facts import (
    Call,
    Element,
    Expr,
    Group,
    Scope,
    last_name,
)
from plugins.codegraph.languages import effects
from plugins.codegraph.linker import (
    classes,
    contextual,
    evaluate,
    generics,
    overloads,
    parameters,
    results,
    types,
)
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    INFERRED,
    NOTHING,
    Bound,
    Class,
    External,
    Func,
    Instance,
    Method,
    Record,
    Some,
    Thing,
    Tuple,
    Value,
    Values,
    add,
    inside,
    outside,
    ranked,
)


def injected(engine: Engine, index: FileIndex, func: Func, place: int) -> Values:
    """The values that a framework passes for a parameter, according to the language's rules."""
    found: Values = {}
    for path, number in index.rules.injected(index.path, index.facts, func.scope, place):
        home = engine.index(path)
        if home is not None:
            made = results.result(engine, Func(path, number))
            if home.scopes[number].yields:
                made = evaluate.elements(engine, home, made, -1)
            add(found, made)
    return found


def from_calls(engine: Engine, index: FileIndex, func: Func, place: int) -> Values:
    """The values that calls in the same file pass for a parameter."""
    scope = index.scopes[func.scope]
    if not scope.name:
        return _from_use(engine, index, func, place)
    found: Values = {}
    for where, call, shift in _callers(engine, index, func, scope):
        arg = parameters.argument(scope.params, place, call, shift)
        if arg is not None:
            add(found, evaluate.evaluate(engine, index, where, arg.value))
    return found


def _callers(
    engine: Engine, index: FileIndex, func: Func, scope: Scope
) -> Iterator[tuple[int, Call, int]]:
    """The calls in the function's own file that run it, each as: the number of the scope that it
    stands in, the call, and how many parameters are already filled."""
    names = [scope.name]
    parent = index.scopes[scope.parent]
    if parent.kind == "class" and scope.name in index.rules.constructors:
        names.append(parent.name)
    elif parent.kind == "function":
        names.append("()")
    for name in names:
        for where, call in index.calls_of(name):
            if call.args:
                for value in evaluate.evaluate(engine, index, where, call.of):
                    shift = runs_by(engine, value, func)
                    if shift >= 0:
                        yield where, call, shift


def rest_from_calls(engine: Engine, index: FileIndex, func: Func, place: int) -> Values:
    """The container that calls in the same file fill for ``*args`` or ``**options``."""
    scope = index.scopes[func.scope]
    if not scope.name:
        return NOTHING
    found: Values = {}
    items: dict[str | None, Values] = {}
    named = {each.name for each in scope.params}
    double = scope.params[place].kind == "**"
    for where, call, shift in _callers(engine, index, func, scope):
        positional = shift
        for arg in call.args:
            if arg.name:
                if double and arg.name not in named and not arg.spread:
                    values = evaluate.evaluate(engine, index, where, arg.value)
                    add(items.setdefault(arg.name, {}), values)
                continue
            if positional >= place or arg.spread:
                expr = Element(arg.value) if arg.spread else arg.value
                add(found, evaluate.evaluate(engine, index, where, expr))
            positional += 1
    if double:
        pairs = tuple((name, inside(values)) for name, values in items.items())
        return {Record(pairs): INFERRED} if pairs else {Thing("dict"): INFERRED}
    return {Thing("list", (inside(found),)): INFERRED}


def runs_by(engine: Engine, value: Value, func: Func) -> int:
    """How many parameters of ``func`` are already filled when ``value`` is called (1 for a bound
    receiver, else 0); -1 if calling it does not run ``func``."""
    if value == func:
        return 0
    if isinstance(value, Bound):
        return parameters.shift(engine, func, True) if value.func == func else -1
    if isinstance(value, Class):
        rules = engine.there(value.path).rules
        for name in rules.constructors:
            defined, _, _ = classes.find(engine, value.path, value.scope, name)
            if (func.path, func.scope) in defined:
                return 1 if rules.first_parameter else 0
    return -1


def _from_use(engine: Engine, index: FileIndex, func: Func, place: int) -> Values:
    """The arguments that an inline function (a lambda, a closure) is called with, inferred from the
    call that it is passed to."""
    used = index.passed(func.scope)
    if used is None:
        return NOTHING
    where, call, at = used
    found: Values = {}
    if at < 0:
        arg = parameters.argument(index.scopes[func.scope].params, place, call, 0)
        return NOTHING if arg is None else evaluate.evaluate(engine, index, where, arg.value)
    for value in evaluate.evaluate(engine, index, where, call.of):
        if isinstance(value, External):
            add(found, _by_word(engine, index, where, value, call, place))
        elif isinstance(value, Method):
            if value.word in _CALLS_WITH_ELEMENTS:
                add(found, _iterated(engine, index, value, func, place))
        elif isinstance(value, Func | Bound):
            add(found, _by_type(engine, value, at, place))
    return ranked(found, INFERRED)


def _by_word(
    engine: Engine, index: FileIndex, where: int, value: External, call: Call, place: int
) -> Values:
    """The argument that a well-known function (``map``, ``sorted`` ...) passes to its callback."""
    word = index.rules.functions.get(value.name, "")
    at = 0 if word == effects.SORTED else place + 1
    if word not in _CALLS_WITH_ELEMENTS or at >= len(call.args):
        return NOTHING
    over = evaluate.evaluate(engine, index, where, call.args[at].value)
    return evaluate.elements(engine, index, over, -1)


_CALLS_WITH_ELEMENTS = {effects.RESULTS, effects.EACH, effects.FIRST, effects.SORTED}


def _iterated(engine: Engine, index: FileIndex, value: Method, func: Func, place: int) -> Values:
    """The argument that a container's method passes to its callback: an element, or a key or
    value."""
    receiver: Values = {value.receiver: INFERRED}
    if _gives_pairs(index, value.receiver):
        return evaluate.elements(engine, index, receiver, 1 - place)
    pairs = isinstance(value.receiver, Thing) and len(index.scopes[func.scope].params) == 2
    if pairs and isinstance(value.receiver, Thing):
        container = index.rules.containers.get(value.receiver.name)
        if container is not None and container.key >= 0:
            return evaluate.elements(engine, index, receiver, place)
    return NOTHING if place else evaluate.elements(engine, index, receiver, -1)


def _gives_pairs(index: FileIndex, value: Value) -> bool:
    """Whether iterating gives (key, item) pairs; the container's visitors take the item first, then
    the key."""
    container = index.rules.containers.get(value.name) if isinstance(value, Thing) else None
    return container is not None and container.pairs


def _by_type(engine: Engine, value: Func | Bound, at: int, place: int) -> Values:
    """The argument that a callback is called with, according to the declared type of the parameter
    (number ``at``) that it is passed for."""
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
        given = generics.type_arguments(engine, value.receiver)
    if home.rules.functional:
        found = _by_interface(engine, home, func, expr, place)
        if not found and args and last_name(expr) in home.rules.functional:
            at = min(place, len(args) - 1)
            found = outside(types.argument(engine, home, func.scope, args[at]), INFERRED)
        return generics.filled(found, given)
    if not args or not isinstance(args[0], Group):
        wanted = contextual.parameter(
            engine, home, types.stated(engine, home, func.scope, expr), place
        )
        return generics.filled(wanted, given)
    stated = generics.filled_some(types.argument(engine, home, func.scope, args[0]), given)
    for each in stated:
        if isinstance(each, Tuple) and place < len(each.items):
            return outside(each.items[place], INFERRED)
    return NOTHING


def _by_interface(
    engine: Engine, home: FileIndex, func: Func, of: Expr | None, place: int
) -> Values:
    """The argument that a callback is called with, according to the only abstract method of the
    interface that it is passed for."""
    found: Values = {}
    for each in types.stated(engine, home, func.scope, of):
        if not isinstance(each, Instance):
            continue
        index = engine.there(each.path)
        origins = [o for many in index.names[each.scope].values() for o in many]
        methods = [o.number for o in origins if o.how == "scope"]
        open_ones = [m for m in methods if "abstract" in index.scopes[m].modifiers]
        if len(open_ones) == 1:
            params = overloads.parameters(index, open_ones[0])
            if place < len(params):
                wanted = types.stated(engine, index, open_ones[0], params[place].type)
                add(found, generics.filled(wanted, generics.type_arguments(engine, each)))
    return found
