"""Sentences that have nothing to do with each other, in many languages."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("unrelated.txt")


@cache
def sample_texts() -> tuple[str, ...]:
    """The sentences; vectors that were centred by others never compare with these."""
    return tuple(_FILE.read_text(encoding="utf-8").splitlines())
