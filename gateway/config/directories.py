"""Where the configuration and the data lie: what a command knows before it reads any setting."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_CONFIG = Path("config")
"""The configuration directory where nobody names one."""


def named_directory(setting: str) -> Path | None:
    """The directory that a variable of the environment names.

    Args:
        setting: ``config`` or ``data``, for ``PORCH_CONFIG`` or ``PORCH_DATA``.
    """
    value = os.environ.get(f"PORCH_{setting.upper()}")
    return None if value is None else Path(value)
