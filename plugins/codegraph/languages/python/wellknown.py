"""What the linker knows of Python's own names: builtins, containers, functions that call back."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Final

from plugins.codegraph.linking import known
from plugins.codegraph.linking.rules import Container

BUILTINS: Final = frozenset(dir(builtins)) | {
    "__file__",
    "__path__",
    "__all__",
    "__annotations__",
    "__builtins__",
    "__class__",
    "__dict__",
    "__module__",
    "__qualname__",
    "reveal_type",
    "unicode",
    "xrange",
    "basestring",
    "long",
    "raw_input",
}

_LISTS = ["list", "List", "set", "Set", "frozenset", "FrozenSet", "tuple", "Tuple", "deque", "Deque", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection", "AbstractSet", "MutableSet", "Reversible", "generator", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Queue", "LifoQueue", "PriorityQueue", "SimpleQueue", "KeysView", "ValuesView", "range", "filter", "map", "reversed"]
_TABLES = ["dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict", "ChainMap", "WeakValueDictionary", "WeakKeyDictionary", "Counter"]

CONTAINERS: Final[Mapping[str, Container]] = {
    **{name: Container() for name in _LISTS},
    **{name: Container(0, 1, 0) for name in _TABLES},
}

UNWRAPS: Final[Mapping[str, int]] = {
    "Awaitable": 0,
    "Coroutine": 2,
    "Task": 0,
    "Future": 0,
    "AbstractContextManager": 0,
    "AbstractAsyncContextManager": 0,
    "ContextManager": 0,
    "AsyncContextManager": 0,
    "closing": 0,
    "nullcontext": 0,
}
TRANSPARENT: Final[Mapping[str, int]] = {
    "Optional": 0,
    "Annotated": 0,
    "ClassVar": 0,
    "Final": 0,
    "Required": 0,
    "NotRequired": 0,
    "ReadOnly": 0,
    "InitVar": 0,
    "Mapped": 0,
    "ReferenceType": 0,
}
VAGUE: Final = frozenset({"Any", "object", "None", "NoneType", "TypeVar", "Incomplete"})

METHODS: Final[Mapping[str, str]] = {
    "get": known.ITEM,
    "setdefault": known.ITEM,
    "popitem": known.ELEMENT,
    "pop": known.ITEM,
    "popleft": known.ELEMENT,
    "get_nowait": known.ELEMENT,
    "put": known.PUSH,
    "put_nowait": known.PUSH,
    "values": known.ITEMS,
    "items": known.PAIRS,
    "keys": known.ELEMENTS,
    "copy": known.SAME,
    "union": known.SAME,
    "difference": known.SAME,
    "intersection": known.SAME,
    "append": known.PUSH,
    "add": known.PUSH,
    "appendleft": known.PUSH,
    "insert": known.PUSH,
    "extend": known.PUSH,
    "sort": known.SORTED,
}

RUNS: Final[Mapping[str, str]] = {
    "next": "__next__",
    "iter": "__iter__",
    "anext": "__anext__",
    "len": "__len__",
    "str": "__str__",
    "repr": "__repr__",
    "bool": "__bool__",
    "hash": "__hash__",
    "int": "__int__",
    "float": "__float__",
    "bytes": "__bytes__",
    "abs": "__abs__",
    "round": "__round__",
    "reversed": "__reversed__",
    "format": "__format__",
    "dir": "__dir__",
    "os.fspath": "__fspath__",
    "copy.copy": "__copy__",
    "copy.deepcopy": "__deepcopy__",
}

INJECTED = ("fastapi.Depends", "fastapi.Security", "fastapi.params.Depends")

FUNCTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("next", "anext", "min", "max", "random.choice"), known.ELEMENT),
    **dict.fromkeys(
        (
            "list",
            "set",
            "tuple",
            "frozenset",
            "iter",
            "aiter",
            "reversed",
            "collections.deque",
            "itertools.chain.from_iterable",
            "itertools.islice",
            "itertools.cycle",
        ),
        known.ELEMENTS,
    ),
    "dict": known.TABLE,
    "sorted": known.SORTED,
    "enumerate": known.COUNTED,
    "zip": known.ZIPPED,
    "itertools.zip_longest": known.ZIPPED,
    "map": known.RESULTS,
    "filter": known.EACH,
    "itertools.takewhile": known.EACH,
    "itertools.dropwhile": known.EACH,
    "itertools.starmap": known.RESULTS,
    "functools.reduce": known.RESULT,
    "functools.partial": known.PARTIAL,
    "functools.partialmethod": known.PARTIAL,
    **dict.fromkeys(
        (
            "getattr",
            "eval",
            "globals",
            "locals",
            "vars",
            "__import__",
            "importlib.import_module",
            "pickle.loads",
            "pickle.load",
            "operator.attrgetter",
            "operator.methodcaller",
            "inspect.getattr_static",
        ),
        known.UNKNOWN,
    ),
    "asyncio.gather": known.GATHERED,
    "itertools.chain": known.SAME,
    "heapq.heappop": known.ELEMENT,
    "random.sample": known.ELEMENTS,
    "functools.update_wrapper": known.WRAPPED,
    "functools.wraps": known.DECORATOR,
    "functools.lru_cache": known.SAME,
    "functools.cache": known.SAME,
    "functools.singledispatch": known.SAME,
    "contextlib.contextmanager": known.SAME,
    "contextlib.asynccontextmanager": known.SAME,
    "contextlib.closing": known.SAME,
    "contextlib.nullcontext": known.SAME,
    "staticmethod": known.SAME,
    "classmethod": known.SAME,
    "copy.copy": known.SAME,
    "copy.deepcopy": known.SAME,
    "dataclasses.replace": known.SAME,
    "weakref.proxy": known.SAME,
    "asyncio.run": known.SAME,
    "asyncio.create_task": known.SAME,
    "asyncio.ensure_future": known.SAME,
    "asyncio.wait_for": known.SAME,
    "asyncio.shield": known.SAME,
    "asyncio.to_thread": known.RESULT,
    "typing.cast": known.TYPE,
    "type": known.CLASS,
    **dict.fromkeys(INJECTED, known.INJECTED),
}
