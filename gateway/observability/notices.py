"""How notices begin that say no more than that a service is away, so that they are told once."""

from __future__ import annotations

CACHE_AWAY = "The cache server at"
COUNTED_ALONE = "Calls are counted in each process alone"
"""No server counts for all processes."""
