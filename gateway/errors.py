"""A few error classes, sorted by who must act.

``ConfigError`` is for the admin, ``NotFound`` and ``gateway.catalog.refusals`` for the caller,
``gateway.contract.ToolFailed`` for the model. Everything else is ours: it is logged with the
request id and hidden from the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a file that an admin edits.

    Attributes:
        file: the file as the admin knows it, or ``environment``.
        line: the line, from 1; 0 where there is none.
        key: the dotted key, or the item; may be empty.
        reason: what is wrong and what to write instead.
    """

    file: str
    line: int
    key: str
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.key, self.reason) if part)


class ConfigError(Exception):
    """The configuration is wrong; the admin must act. Carries every problem, not the first.

    Args:
        problems: what is wrong, in any order; kept sorted by file and line.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class PortalError(Exception):
    """An error that a caller sees as it is: its text holds nothing secret.

    Args:
        message: what is wrong and what to do.
        details: JSON values that help.

    Attributes:
        code: a short snake_case word that programs may compare.
        status: the HTTP status where the error answers a whole request.
        item: the item that it is about, such as ``knowledge/get_document``; empty where there is
            none that the caller may know.
    """

    item: str = ""
    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = dict(details or {})


class NotFound(PortalError):
    """There is no such item, as far as this caller may know."""

    code = "not_found"
    status = 404


def wire(code: str, message: str, details: Mapping[str, Any], request_id: str) -> dict[str, Any]:
    """The JSON object that REST and tool errors carry on the wire.

    Args:
        code: a short snake_case word.
        message: what is wrong and what to do.
        details: JSON values that help.
        request_id: the id under which the portal's log knows the request.
    """
    error = {"code": code, "message": message, "details": dict(details)}
    return {"error": error, "request_id": request_id}
