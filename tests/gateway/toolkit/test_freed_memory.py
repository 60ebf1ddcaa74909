"""Memory that is free goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, os
from gateway.toolkit.freed_memory import give_back

def held():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

system = ctypes.CDLL(None)
system.malloc.restype = ctypes.c_void_p
blocks = [system.malloc(ctypes.c_size_t(1000)) for _ in range(100_000)]
for block in blocks:
    ctypes.memset(block, 1, 1000)
kept = system.malloc(ctypes.c_size_t(1000))  # above all of them: the heap cannot simply end sooner
for block in blocks:
    system.free(ctypes.c_void_p(block))
before = held()
give_back()
print(before - held())
"""


@pytest.mark.skipif(
    not hasattr(__import__("ctypes").CDLL(None), "malloc_trim"), reason="glibc alone can"
)
def test_what_was_freed_is_no_longer_held() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    assert float(found.stdout) > 50  # of 95 MiB
