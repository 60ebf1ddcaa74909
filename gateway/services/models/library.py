"""Imports pydantic-ai, one thread at a time."""

from __future__ import annotations

import threading

_IMPORTING = threading.Lock()


def load_library() -> None:
    """Import pydantic-ai whole, before any part of it; takes a second or two, so beside the loop.

    Its modules import each other in circles: of two threads that begin with different ones, the
    second meets a module that is half made.
    """
    with _IMPORTING:
        import pydantic_ai  # noqa: F401
