"""The owner of rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """An organisation's repository; every row has both columns."""

    org: str
    repo: str
