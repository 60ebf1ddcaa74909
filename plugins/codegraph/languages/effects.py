"""What functions and methods outside of the repository give back, in a few words.

A language lists its well-known functions and the methods of its containers with one of these
words (``Rules.functions``, ``Rules.methods``); the linker does what the word says. A function
that is not listed gives something external: no edge, and nothing unresolved.
"""

from __future__ import annotations

from typing import Final

ITEM: Final = "item"
"""What a subscript of the receiver (or of the first argument) gives: ``d.get(k)``."""
ELEMENT: Final = "element"
"""What iterating over the receiver (or the first argument) gives: ``next(x)``, ``xs.pop()``."""
ITEMS: Final = "items"
"""A list of what a subscript gives: ``d.values()``."""
ELEMENTS: Final = "elements"
"""A list of what iterating gives: ``list(xs)``, ``xs.filter(...)``, ``xs.copy()``."""
PAIRS: Final = "pairs"
"""A list of tuples of key and item: ``d.items()``, ``Object.entries(x)``."""
COUNTED: Final = "counted"
"""A list of tuples of a number and an element: ``enumerate(xs)``."""
ZIPPED: Final = "zipped"
"""A list of tuples of one element of each argument: ``zip(a, b)``."""
SAME: Final = "same"
"""The receiver, or the first argument: ``copy.copy(x)``, ``cast`` without a type."""
RESULT: Final = "result"
"""What calling the first argument gives, which is called: ``asyncio.to_thread(f)``."""
RESULTS: Final = "results"
"""A list of what calling the first argument gives, with the elements of the receiver or of the
next arguments: ``map(f, xs)``, ``xs.map(f)``."""
EACH: Final = "each"
"""The first argument is called with the elements: ``xs.forEach(f)``, and gives those elements as
a list: ``filter(f, xs)``, ``xs.filter(f)``."""
FIRST: Final = "first"
"""The first argument is called with the elements, and one element comes back: ``xs.find(f)``."""
SORTED: Final = "sorted"
"""A list of the elements; ``key=`` is called with them."""
INJECTED: Final = "injected"
"""What calling the first argument gives; a framework calls it, and not here: ``Depends(f)``."""
PARTIAL: Final = "partial"
"""The first argument, with some arguments given: ``functools.partial``, ``f.bind``."""
DECORATOR: Final = "decorator"
"""A decorator that gives back what it decorates: ``functools.wraps(f)``."""
TYPE: Final = "type"
"""An object of the type that is the first argument: ``typing.cast(T, x)``."""
CLASS: Final = "class"
"""The class of the first argument: ``type(x)``."""
UNKNOWN: Final = "unknown"
"""Nobody knows what: ``eval(text)``. It is not taken for something external."""
GATHERED: Final = "gathered"
"""A list of the arguments: ``asyncio.gather(a, b)``."""
WRAPPED: Final = "wrapped"
"""The first argument, which stands for the second: ``functools.update_wrapper(f, g)``."""
TABLE: Final = "table"
"""A table of the keyword arguments, or else the first argument: ``dict(a=1)``."""
PUSH: Final = "push"
"""The receiver's elements get the first argument: ``xs.append(x)``."""
CALLED: Final = "called"
"""All arguments that are functions may be called: ``atexit.register(f)``, ``setTimeout(f)``."""
