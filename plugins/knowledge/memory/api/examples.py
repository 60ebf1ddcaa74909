"""What the endpoints answer, as examples for the API's document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from plugins.knowledge.memory.api.approvals import ApprovalPage
from plugins.knowledge.memory.model.responses import (
    BatchReport,
    BatchResponse,
    CreateResponse,
    DeleteResponse,
    MetadataResponse,
    QueryResponse,
)
from plugins.knowledge.memory.tools.waiting import WaitingWrite

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
_BATCH = {
    "operation_id": "batch_7d1f0a",
    "results_url": "/openspec/v1/knowledge/batch/batch_7d1f0a",
}
_WAITING = {
    "id": "appr_51b2c8",
    "operation": "create",
    "entry": _ENTRY["id"],
    "content": _ENTRY["content"],
    "requested_by": "person:ana",
    "requested_at": _WHEN,
    "state": "pending",
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
    BatchResponse: {**_BATCH, "status": "pending", "results": {"succeeded": 0, "failed": 0}},
    BatchReport: {
        **_BATCH,
        "status": "completed",
        "results": {
            "succeeded": 1,
            "failed": 1,
            "errors": [{"index": 1, "code": 400, "message": "entry.content: Field required"}],
            "pending": 0,
        },
        "operation": "create",
        "total": 2,
        "created_at": _WHEN,
        "completed_at": _WHEN,
        "offset": 0,
        "entries": [
            {"index": 0, "id": _ENTRY["id"], "status": "created"},
            {"index": 1, "id": "mem_3f0c5e", "status": "failed"},
        ],
    },
    WaitingWrite: _WAITING,
    ApprovalPage: {"approvals": [_WAITING], "total": 1, "offset": 0, "limit": 50},
    MetadataResponse: {
        "entry_id": _ENTRY["id"],
        "metadata": _METADATA,
        "source": _SOURCE,
        "version_history": [{"version": 1, "created_at": _WHEN, "created_by": "person:ana"}],
    },
}
"""By the model of the answer."""
