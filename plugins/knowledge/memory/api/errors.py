"""What the API says where something is not done (protocol, "Error Handling")."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Refusal
from plugins.knowledge.memory.model.errors import ErrorCode

_OUTAGES = frozenset({"deadline", "unavailable"})
_BY_STATUS = {code.value: code for code in ErrorCode if code < ErrorCode.EMBEDDING_FAILED}


class ErrorSaid(BaseModel):
    """Why it was not done: ``code`` for programs, ``message`` for people."""

    code: int = Field(description="A number of the protocol, such as 404 or 1005.")
    message: str
    details: Any = None


class ErrorResponse(BaseModel):
    """Every answer that is no success."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": {"code": 404, "message": "There is no such entry.", "details": {}},
                    "request_id": "9f2c0d3a4b5e6f70",
                    "timestamp": "2026-03-01T12:00:00Z",
                }
            ]
        }
    )

    error: ErrorSaid
    request_id: str
    timestamp: datetime


def failed(refusal: Refusal) -> tuple[int, ErrorResponse]:
    """The HTTP status, and the protocol's words for a refusal."""
    code, status = _number(refusal)
    said = ErrorSaid(code=code, message=refusal.message, details=dict(refusal.details))
    now = datetime.now(UTC)
    return status, ErrorResponse(error=said, request_id=refusal.request_id, timestamp=now)


def _number(refusal: Refusal) -> tuple[ErrorCode, int]:
    """The protocol's number, and the status; what it has no number for is a wrong request."""
    if own := ErrorCode.__members__.get(refusal.code.upper()):
        return own, own.status
    if refusal.code in _OUTAGES:
        return ErrorCode.SERVICE_UNAVAILABLE, 503
    return _BY_STATUS.get(refusal.status, ErrorCode.INVALID_REQUEST), refusal.status
