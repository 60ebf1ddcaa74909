"""The two ends of HTTP in a file: the routes that it serves, and the requests that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plugins.codegraph.facts import Attr, Call, Expr, Inner, Name, Unwrapped, UrlPath, last_name
from plugins.codegraph.languages.url_paths import REQUESTING, SERVING, VERBS
from plugins.codegraph.linker import evaluate
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.entities import file_key
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.relations import entity_keys
from plugins.codegraph.linker.values import Bound, Class, Func
from plugins.codegraph.model import Endpoint

_NEAR_LINES = 3
"""How far apart the line of a call and of its name may be, in a chain over several lines."""
_CLIENTS = frozenset({"$", "jQuery", "axios", "superagent", "ky", "got", "request"})
"""Receivers whose ``get`` takes a callback and makes a request all the same."""
_SPELT = {spelt: verb for verb in VERBS for spelt in (verb.lower(), verb, verb.title())}
Handled = tuple[str, Expr | None]
"""An HTTP method, or "", and the expression that handles it."""


def endpoints(engine: Engine, index: FileIndex) -> list[Endpoint]:
    """The routes and requests of a file.

    A path counts where it decorates a function, or is an argument of a call that the linker knows:
    a route where a function is given with it, and else a request.
    """
    found = [each for path in index.facts.url_paths for each in _endpoints(engine, index, path)]
    return list(dict.fromkeys(found))


def _endpoints(engine: Engine, index: FileIndex, path: UrlPath) -> Iterator[Endpoint]:
    if path.decorates >= 0:
        key = index.keys(engine.view.repo)[path.decorates]
        yield from _made(index, path, [key], serves=True)
        return
    number, call = _call(index, path)
    if call is None:
        return
    around = _around(engine, index, number)
    served = False
    handled = _handled(call) if path.call in SERVING else ()
    for verb, expr in (*handled, *_chained(index, path, call)):
        keys = _handlers(engine, index, number, expr)
        if not keys and _is_function(index, expr):
            keys = [around]
        served = served or bool(keys)
        yield from _made(index, path, keys, serves=True, verb=verb)
    if not served and path.call in REQUESTING:
        yield from _made(index, path, [around], serves=False)


def _call(index: FileIndex, path: UrlPath) -> tuple[int, Call | None]:
    """The call that takes a path, with its scope."""
    named = (*index.calls_of(path.call), *index.calls_of(""))
    near = [
        (abs(call.line - path.line), place, number, call)
        for place, (number, call) in enumerate(named)
        if abs(call.line - path.line) <= _NEAR_LINES and _called(call) == path.call
    ]
    if not near:
        return 0, None
    _, _, number, call = min(near, key=lambda each: each[:2])
    return number, call


def _called(call: Call) -> str:
    """The name that a call calls; ``await client.post<T>(...)`` is read as a call of what is
    awaited."""
    return last_name(call.of.of if type(call.of) is Unwrapped else call.of)


def _is_function(index: FileIndex, expr: Expr | None) -> bool:
    """Whether an expression is an inline function, and no object literal."""
    return type(expr) is Inner and index.scopes[expr.scope].kind == "function"


def _around(engine: Engine, index: FileIndex, number: int) -> int:
    """The key of the function that a scope is part of, or of the file."""
    owner = index.owner(number)
    repo = engine.view.repo
    return index.keys(repo)[owner] if owner >= 0 else file_key(repo, index.path)


def _handled(call: Call) -> Iterator[Handled]:
    """What handles a route, of the arguments of the call that declares it."""
    if type(call.of) is Attr and last_name(call.of.of) in _CLIENTS:
        return
    for arg in call.args:
        yield from _within(arg.value)


def _within(expr: Expr | None, depth: int = 2) -> Iterator[Handled]:
    """A handler, also where a call is around it: ``get(list).post(make)``, ``wrapped(make)``,
    ``View.as_view()``."""
    if type(expr) is not Call or not depth:
        yield "", expr
        return
    verb = _SPELT.get(last_name(expr.of), "")
    for arg in expr.args:
        for own, each in _within(arg.value, depth - 1):
            yield own or verb, each
    if type(expr.of) is Attr:
        yield from _within(expr.of.of, depth - 1)


def _chained(index: FileIndex, path: UrlPath, call: Call) -> Iterator[Handled]:
    """The handlers of ``router.route("/users").get(list).post(make)``."""
    if path.call != "route":
        return
    for name, verb in _SPELT.items():
        for _, each in index.calls_of(name):
            if _begins_with(each, call):
                for arg in each.args:
                    yield from ((own or verb, expr) for own, expr in _within(arg.value))


def _begins_with(chain: Call, call: Call) -> bool:
    of: Expr | None = chain
    while type(of) is Call and type(of.of) is Attr:
        of = of.of.of
        if of is call:
            return True
    return False


def _handlers(engine: Engine, index: FileIndex, number: int, expr: Expr | None) -> list[int]:
    """The keys of the functions, or of the classes of views, that an expression is."""
    if not isinstance(expr, Name | Attr):
        return []
    values = evaluate.evaluate(engine, index, number, expr)
    known = (value.func if isinstance(value, Bound) else value for value in values)
    return [
        key for each in known if isinstance(each, Func | Class) for key in entity_keys(engine, each)
    ]


def _made(
    index: FileIndex, path: UrlPath, keys: Sequence[int], *, serves: bool, verb: str = ""
) -> Iterator[Endpoint]:
    for method in (verb,) if verb else path.methods or ("",):
        for key in keys:
            yield Endpoint(index.path, path.line, key, serves, method, path.path, path.host)
