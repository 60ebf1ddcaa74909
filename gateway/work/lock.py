"""The one lock under which work changes its state."""

from __future__ import annotations

from gateway.toolkit.sql import lock_number

LOCK = lock_number("", "porch_work")
"""Held for the few milliseconds of a transaction; no code of a plugin runs meanwhile."""
