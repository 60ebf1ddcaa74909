"""Whether a disk has room for what the embedded vector store writes."""

from __future__ import annotations

import shutil
from pathlib import Path

RESERVE_BYTES = 32 * 1024 * 1024
"""Free space below which nothing is written: the engine maps its files into memory, and to write to
one on a full disk ends the process."""


def lack_of_room(place: Path) -> str:
    """What to do where there is too little room to write at a place; empty where it is enough."""
    disk = next(each for each in (place, *place.parents) if each.exists())
    if shutil.disk_usage(disk).free >= RESERVE_BYTES:
        return ""
    return f"less than {RESERVE_BYTES // 2**20} MiB are free at {place}. Make room."
