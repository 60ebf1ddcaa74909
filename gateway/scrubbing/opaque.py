"""Arguments that are bytes in Base64, cursors and the like: nothing is looked for in them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

Opaque: TypeAlias = "dict[str, Opaque] | None"
"""What is left alone below a value: nothing (an empty one), all of it (None), or some keys."""

NOTHING: Opaque = {}
"""What leaves nothing alone."""
CURSOR = "cursor"
"""The argument of every paged tool (:mod:`gateway.contract.answer_size`), made by the portal."""


def opaque(paths: Iterable[str]) -> Opaque:
    """What paths such as ``attachments.base64`` leave alone; ``cursor`` is always among them.

    A list on the way is passed through: the path above means that key of every attachment.

    Args:
        paths: argument names with dots between them, as callers write them.
    """
    return _tree(tuple(paths))


@cache
def _tree(paths: tuple[str, ...]) -> Opaque:
    root: dict[str, Opaque] = {}
    for path in (*paths, CURSOR):
        *way, last = path.split(".")
        node: Opaque = root
        for key in way:
            if node is None:
                break
            node = node.setdefault(key, {})
        if node is not None:
            node[last] = None
    return root
