"""The batch endpoint, and where its results are (protocol, "Batch Operations Endpoint")."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from gateway.contract import Caller, Route
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import MAX_BATCH_BYTES, BatchRequest, Sent
from plugins.knowledge.memory.model.responses import BatchReport, BatchResponse

_BATCHES = "30 in 60s"
_RESULTS = "600 in 60s"
_TOOLS = {
    "create": "remember",
    "update": "update_memory",
    "upsert": "update_memory",
    "delete": "forget",
}
"""The tool that a caller must be allowed to use for an operation, beside the route's own."""


class Batch(BatchRequest):
    """Many writes, with an example of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "operation": "upsert",
                    "entries": [
                        {
                            "id": "garden-watering",
                            "entry": {"content": "The beds are watered at six."},
                        },
                        {
                            "id": "garden-harvest",
                            "entry": {
                                "content": "The beans are ripe in August.",
                                "metadata": {"tags": ["garden"]},
                            },
                            "options": {"layer": {"type": "semantic"}},
                        },
                    ],
                    "options": {"continue_on_error": True, "notify_on_completion": True},
                }
            ]
        }
    )


class BatchLook(Sent):
    """Which batch is asked for, and which of its entries."""

    operation_id: str = Field(min_length=1, max_length=200, description="The batch's id.")
    offset: int = Field(0, ge=0, description="The place of the first entry that is listed.")
    limit: int = Field(100, ge=1, le=1000, description="How many entries are listed at most.")


def batch_routes(memory: Memory, prefix: str) -> list[Route]:
    """The endpoints.

    Args:
        memory: what they write to.
        prefix: where the API is, for the address of results.
    """

    def placed(response: BatchResponse) -> BatchResponse:
        url = f"{prefix}/batch/{response.operation_id}"
        return response.model_copy(update={"results_url": url})

    async def batch(asked: Batch, caller: Caller) -> BatchResponse:
        tool = _TOOLS[asked.operation]
        if not memory.exchange().allows(tool):
            raise MemoryFailed(
                ErrorCode.FORBIDDEN, f"You may not {asked.operation} entries: it takes {tool}."
            )
        return placed(await memory.batches.submit(asked, caller))

    async def results(asked: BatchLook, caller: Caller) -> BatchResponse:
        found = await memory.batches.report(asked.operation_id, caller, asked.offset, asked.limit)
        return placed(found)

    return [
        Route(
            method="POST",
            path="/batch",
            run=batch,
            name="write_batch",
            tool="remember",
            params=Batch,
            response=BatchResponse,
            summary="Write many entries; the answer comes before they are written.",
            operation="batches",
            rate=_BATCHES,
            status=202,
            body=MAX_BATCH_BYTES,
        ),
        Route(
            method="GET",
            path="/batch/{operation_id}",
            run=results,
            name="get_batch",
            tool="remember",
            params=BatchLook,
            response=BatchReport,
            summary="How far a batch is, and what became of its entries.",
            operation="batch_results",
            rate=_RESULTS,
        ),
    ]
