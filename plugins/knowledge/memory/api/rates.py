"""How often a caller may use the endpoints, unless ``limits.operations`` says otherwise."""

from __future__ import annotations

from plugins.knowledge.memory.model.requests import QUERIES_PER_MINUTE

READS = f"{QUERIES_PER_MINUTE} in 60s"
WRITES = "300 in 60s"
