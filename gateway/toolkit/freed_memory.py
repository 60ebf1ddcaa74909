"""Gives memory that is free back to the system.

What a large piece of work has taken and freed stays with the process: the C library keeps it for
the next one, and the system counts it as in use.
"""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Give back what is free, where the C library can (glibc); it takes some 50 ms for a gigabyte.

    The interpreter's lock is free meanwhile: run it in a thread.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))
