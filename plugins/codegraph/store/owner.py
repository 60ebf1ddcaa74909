"""Whose rows they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """An organisation's repository; every row carries both."""

    org: str
    repo: str
