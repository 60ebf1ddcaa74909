"""How much memory the process holds, and when it looks for garbage."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from gateway.testing import open_test_portal
from tests.journeys import garden

_HOLD_AND_FREE = """
import sys
from gateway.server.allocator import give_back_freed_memory
if sys.argv[1] == "told":
    give_back_freed_memory()

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

before, kept = held(), []
for _ in range(3):
    large = [bytearray(20_000_000) for _ in range(10)]
    kept.append([bytes(100_000) for _ in range(20)])  # what is small and stays lies behind them
    del large
print(held() - before)
"""


def _kept(told: str) -> int:
    ran = subprocess.run(
        [sys.executable, "-c", _HOLD_AND_FREE, told], capture_output=True, text=True, check=True
    )
    return int(ran.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")
def test_large_pieces_that_were_freed_go_back_to_the_system() -> None:
    assert _kept("told") < 30_000_000


async def test_an_open_portal_collects_garbage_even_if_its_start_did_not() -> None:
    gc.disable()
    try:
        async with open_test_portal(garden):
            assert gc.isenabled()
    finally:
        gc.enable()
