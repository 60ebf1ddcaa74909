"""The protocol's errors: a number that programs compare, and a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gateway.contract import ToolFailed

M = TypeVar("M", bound=BaseModel)


class ErrorCode(IntEnum):
    """Why something was not done (protocol, "Error Codes")."""

    INVALID_REQUEST = 400
    UNAUTHORIZED = 401
    FORBIDDEN = 403
    NOT_FOUND = 404
    CONFLICT = 409
    RATE_LIMITED = 429
    INTERNAL_ERROR = 500
    NOT_IMPLEMENTED = 501
    SERVICE_UNAVAILABLE = 503
    EMBEDDING_FAILED = 1001
    STORAGE_FAILED = 1002
    QUERY_FAILED = 1003
    BATCH_FAILED = 1004
    GOVERNANCE_DENIED = 1005

    @property
    def status(self) -> int:
        """The HTTP status that goes with it."""
        return _STATUS.get(self, int(self))


_STATUS = {
    ErrorCode.EMBEDDING_FAILED: 422,
    ErrorCode.STORAGE_FAILED: 503,
    ErrorCode.QUERY_FAILED: 503,
    ErrorCode.BATCH_FAILED: 400,
    ErrorCode.GOVERNANCE_DENIED: 403,
}


class MemoryFailed(ToolFailed):
    """An operation that was refused, or did not work.

    Args:
        code: why.
        message: what is wrong and what to do.
        details: JSON values that help to mend it.
        on_page: the same for who has sent a form.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        details: Mapping[str, Any] | None = None,
        on_page: str = "",
    ) -> None:
        super().__init__(code.name.lower(), message, details, on_page)
        self.number = code


_SAID_BY_PYDANTIC = "Value error, "
"""What it puts before our own words."""
_WHOLE = frozenset({"entry", "validity", "metadata", "options", "filters", "layer"})
"""Parts of a request that tools have no argument for: they take what is in them."""
_OF_TOOLS = {"created_at": "written_at", "created_after": "since", "created_before": "until"}
"""What tools call fields of the protocol that have another name there."""


def _named(place: Sequence[str | int]) -> str:
    """What a tool calls the argument that stands at a place of a request."""
    names = [number for number, each in enumerate(place) if isinstance(each, str)]
    if not names or place[names[-1]] in _WHOLE:
        return "the arguments"
    name, *within = place[names[-1] :]
    return ".".join([_OF_TOOLS.get(str(name), str(name)), *map(str, within)])


def _in_own_words(said: str) -> str:
    """What is wrong, with the names that tools have for what it names."""
    for name, own in _OF_TOOLS.items():
        said = said.replace(name, own)
    for begins in ("Input", "String"):
        said = said.replace(f"{begins} should ", "must ")
    return said.removeprefix(_SAID_BY_PYDANTIC)


def validate(model: type[M], asked: dict[str, Any]) -> M:
    """The request that a tool's arguments stand for.

    Raises:
        MemoryFailed: what does not fit, and where.
    """
    try:
        return model.model_validate(asked)
    except ValidationError as error:
        told = [
            f"{_named(each['loc'])}: {_in_own_words(each['msg'])}"
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST, f"Invalid arguments. {'; '.join(told[:5])}"
        ) from None
