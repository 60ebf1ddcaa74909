"""The effects of external functions and methods: what they return and which arguments they call.

A language maps its well-known functions and the methods of its containers to one of these words
(``Rules.functions``, ``Rules.methods``); the linker interprets the word. A function that is not
listed returns something external: no edge, and nothing unresolved.
"""

from __future__ import annotations

from typing import Final

ITEM: Final = "item"
"""Returns what a subscript of the receiver (or the first argument) gives: ``d.get(k)``."""
ELEMENT: Final = "element"
"""Returns an element of the receiver (or the first argument): ``next(x)``, ``xs.pop()``."""
ITEMS: Final = "items"
"""Returns a list of what a subscript gives: ``d.values()``."""
ELEMENTS: Final = "elements"
"""Returns a list of the elements: ``list(xs)``, ``xs.filter(...)``, ``xs.copy()``."""
PAIRS: Final = "pairs"
"""Returns a list of (key, item) tuples: ``d.items()``, ``Object.entries(x)``."""
COUNTED: Final = "counted"
"""Returns a list of (number, element) tuples: ``enumerate(xs)``."""
ZIPPED: Final = "zipped"
"""Returns a list of tuples with one element of each argument: ``zip(a, b)``."""
SAME: Final = "same"
"""Returns the receiver, or the first argument: ``copy.copy(x)``, ``cast`` without a type."""
RESULT: Final = "result"
"""Calls the first argument and returns its result: ``asyncio.to_thread(f)``."""
RESULTS: Final = "results"
"""Calls the first argument with the elements of the receiver or of the next arguments, and returns
a list of the results: ``map(f, xs)``, ``xs.map(f)``."""
EACH: Final = "each"
"""Calls the first argument with the elements, and returns a list of those elements: ``filter(f,
xs)``, ``xs.filter(f)``; also ``xs.forEach(f)``."""
FIRST: Final = "first"
"""Calls the first argument with the elements, and returns one element: ``xs.find(f)``."""
SORTED: Final = "sorted"
"""Returns a list of the elements, and calls ``key=`` with them."""
INJECTED: Final = "injected"
"""Returns the result of the first argument, which a framework calls elsewhere: ``Depends(f)``."""
PARTIAL: Final = "partial"
"""Returns the first argument, partially applied: ``functools.partial``, ``f.bind``."""
DECORATOR: Final = "decorator"
"""Returns a decorator that returns what it decorates: ``functools.wraps(f)``."""
TYPE: Final = "type"
"""Returns an object of the type that is the first argument: ``typing.cast(T, x)``."""
CLASS: Final = "class"
"""Returns the class of the first argument: ``type(x)``."""
UNKNOWN: Final = "unknown"
"""Returns anything: ``eval(text)``. Treated as unknown, not as external."""
GATHERED: Final = "gathered"
"""Returns a list of the arguments: ``asyncio.gather(a, b)``."""
WRAPPED: Final = "wrapped"
"""Returns the first argument, which wraps the second: ``functools.update_wrapper(f, g)``."""
MERGED: Final = "merged"
"""Returns the first argument, with the members of the others: ``Object.assign({}, a, b)``."""
TABLE: Final = "table"
"""Returns a mapping of the keyword arguments, or else the first argument: ``dict(a=1)``."""
PUSH: Final = "push"
"""Adds the last argument to the receiver's elements: ``xs.append(x)``."""
CALLED: Final = "called"
"""May call any argument that is a function: ``atexit.register(f)``, ``setTimeout(f)``."""
