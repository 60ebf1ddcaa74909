"""How the process holds memory that it does not use."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD_BYTES = 1 << 20
"""Bytes free at the end of the heap that are given back."""

_M_TRIM_THRESHOLD = -1  # of mallopt(3)


def give_back_freed_memory() -> None:
    """Have the C library return large pieces of memory once they are free, where it is glibc.

    By itself glibc takes them from the heap as soon as some were freed, where one small piece
    behind them keeps them all: after an index a hundred MiB that nothing needs. Naming the
    threshold at which the heap shrinks also ends that (mallopt(3), M_MMAP_THRESHOLD).
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none, and keeps little
        mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
