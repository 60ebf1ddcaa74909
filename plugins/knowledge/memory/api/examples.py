"""What the endpoints answer, as examples for the API's document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from plugins.knowledge.memory.responses import (
    CreateResponse,
    DeleteResponse,
    MetadataResponse,
    QueryResponse,
)

_WHEN = "2026-03-01T12:00:00Z"
_METADATA = {"title": "Watering", "tags": ["garden"], "confidence": 0.9}
_SOURCE = {"type": "agent_generated", "identifier": "gardener"}
_ENTRY = {
    "id": "6f2b8c1e4d7a4b0f9c3e5a1d2b7f8e60",
    "content": "The beds are watered at six in the morning.",
    "metadata": _METADATA,
    "source": _SOURCE,
    "access_policy": "private",
    "created_at": _WHEN,
    "version": 1,
}

EXAMPLES: Mapping[type[BaseModel], Any] = {
    QueryResponse: {
        "query_id": "b1946ac92492d2347c6235b4d2611184",
        "results": [
            {
                "entry": _ENTRY,
                "score": 0.71,
                "distance": 0.34,
                "highlight": {"content": ["The beds are **watered** at six in the morning."]},
            }
        ],
        "metadata": {
            "total_results": 1,
            "execution_time_ms": 12.5,
            "layers_queried": ["semantic", "organization"],
            "layers_contributed": ["semantic"],
            "provider": {"name": "Our portal", "version": "1.0.0"},
        },
    },
    CreateResponse: {"entry": _ENTRY, "status": "created"},
    DeleteResponse: {"deleted": True, "entry_id": _ENTRY["id"]},
    MetadataResponse: {
        "entry_id": _ENTRY["id"],
        "metadata": _METADATA,
        "source": _SOURCE,
        "version_history": [{"version": 1, "created_at": _WHEN, "created_by": "person:ana"}],
    },
}
"""By the model of the answer."""
